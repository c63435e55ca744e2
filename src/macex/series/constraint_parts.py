"""The parts of constraints on series in one form, from what callers write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from macex.errors import ConstraintError

Channel = str | int
Stretch = tuple[int, int]
Range = tuple[float | None, float | None, int | None, int | None]
TRUTHS = ("True", "False")  # which are numbers to Python
EVERY = "*"  # the key of what is said of all channels


def read_groups(given: Any) -> tuple[tuple[Channel, ...], ...]:
    """Sets of channels."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConstraintError(f"groups= takes a list of lists of channels, not {given!r}")
    return tuple(read_channels("groups", group) for group in given)


def read_channels(part: str, given: Any) -> tuple[Channel, ...]:
    """Channels by name or position, each once; one may stand alone."""
    if isinstance(given, (str, Integral)):
        given = (given,)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise ConstraintError(f"{part}= takes a list of channels, not {given!r}")
    return tuple(dict.fromkeys(read_channel(part, channel) for channel in given))


def read_channel(part: str, given: Any) -> Channel:
    """A channel by name or position."""
    if _whole([given]):
        return int(given)
    if isinstance(given, str):
        return str(given)
    raise ConstraintError(f"{part}= takes names or positions of channels, not {given!r}")


def read_times(given: Any) -> dict[Channel, tuple[Stretch, ...]]:
    """The stretches of each channel; what names no channel is of all."""
    if not isinstance(given, Mapping):
        given = {EVERY: given}
    found = {read_channel("fixed_times", c): _stretches(s) for c, s in given.items()}
    return {channel: stretches for channel, stretches in found.items() if stretches}


def read_directions(part: str, given: Any) -> dict[Channel, tuple[Stretch, ...]]:
    """Where channels keep to a direction; no stretches mean always."""
    if not isinstance(given, Mapping):
        given = dict.fromkeys(read_channels(part, given), ())
    return {read_channel(part, c): _stretches(spans, part) for c, spans in given.items()}


def _stretches(given: Any, part: str = "fixed_times") -> tuple[Stretch, ...]:
    pairs = [given] if isinstance(given, tuple) and len(given) == 2 and _whole(given) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ConstraintError(f"{part}= takes stretches (start, stop), not {given!r}")
    return tuple(dict.fromkeys(_stretch(part, pair) for pair in pairs))


def _stretch(part: str, pair: Any) -> Stretch:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not _whole(pair):
        raise ConstraintError(f"a stretch of {part}= is (start, stop), not {pair!r}")
    start, stop = map(int, pair)
    if not 0 <= start < stop:
        raise ConstraintError(
            f"the stretch ({start}, {stop}) of {part}= is empty: 0 <= start < stop must hold"
        )
    return start, stop


def read_ranges(given: Any) -> dict[Channel, tuple[Range, ...]]:
    """The ranges of each channel."""
    if not isinstance(given, Mapping):
        raise ConstraintError(f"ranges= maps channels to (low, high), not {given!r}")
    found: dict[Channel, tuple[Range, ...]] = {}
    for channel, each in given.items():
        listed = isinstance(each, (list, tuple)) and all(isinstance(r, (list, tuple)) for r in each)
        read = tuple(dict.fromkeys(map(_range, each if listed else [each])))
        if read:
            found[read_channel("ranges", channel)] = read
    return found


def _range(given: Any) -> Range:
    """A range (low, high), or (low, high, start, stop)."""
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 4):
        raise ConstraintError(
            f"a range of ranges= is (low, high) or (low, high, start, stop), not {given!r}"
        )
    low, high = map(_end, given[:2])
    if low is not None and high is not None and low > high:
        raise ConstraintError(f"the range ({low:g}, {high:g}) is empty: low <= high must hold")
    if len(given) == 2 or tuple(given[2:]) == (None, None):
        return low, high, None, None
    return low, high, *_stretch("ranges", tuple(given[2:]))


def _end(given: Any) -> float | None:
    """An end of a range; an infinite one, which TOML can say, is open."""
    if given is None:
        return None
    number: Any = given if isinstance(given, Real) and repr(given) not in TRUTHS else np.nan
    if np.isnan(number):
        raise ConstraintError(f"an end of ranges= is a number or None, not {given!r}")
    return float(number) if np.isfinite(number) else None


def _whole(numbers: Sequence[Any]) -> bool:
    return all(isinstance(one, Integral) and repr(one) not in TRUTHS for one in numbers)
