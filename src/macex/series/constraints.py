"""What may change in a case: channels as for columns, and stretches of time that stay.

`SeriesConstraints` is a plain value. What it says of channels is what `Constraints` says of
columns; a channel may be named or given by its position. The parts are brought into one
form from what callers write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.errors import ConstraintError, closest

DIRECTIONS = ("increase", "decrease")
TIMED = ("fixed_times", *DIRECTIONS)  # parts that map channels to stretches


@dataclass(frozen=True, slots=True)
class SeriesConstraints:
    """What a counterfactual of a case may change.

    Parameters
    ----------
    fixed : channels that never change.
    only : the only channels that may change.
    groups : sets of channels that move together, taken from one case; each counts once.
    weights : channel -> how much a change of it weighs in the distance (1 by default).
    max_changes : the most channels an answer may change.
    fixed_times : stretches (start, stop) that stay as they are, in all channels; or a mapping
        from channel to its stretches. `stop` is the first time point after the stretch.
    ranges : channel -> (low, high) that a change may set, `None` leaves an end open; or
        (low, high, start, stop) for a stretch; or a list of these. `"*"` is every channel.
    increase, decrease : channels no value of which may become lower, or higher; or a mapping from
        channel to the stretches where that holds.

    >>> SeriesConstraints(fixed=["flow"], max_changes=3).merge(
    ...     SeriesConstraints(fixed_times=[(0, 10)], max_changes=2))
    SeriesConstraints(fixed=('flow',), max_changes=2, fixed_times={'*': ((0, 10),)})
    """

    fixed: tuple[Channel, ...] = ()
    only: tuple[Channel, ...] | None = None
    groups: tuple[tuple[Channel, ...], ...] = ()
    weights: Mapping[Channel, float] = field(default_factory=dict)
    max_changes: int | None = None
    fixed_times: Mapping[Channel, tuple[Stretch, ...]] = field(default_factory=dict)
    ranges: Mapping[Channel, tuple[Range, ...]] = field(default_factory=dict)
    increase: Mapping[Channel, tuple[Stretch, ...]] = field(default_factory=dict)
    decrease: Mapping[Channel, tuple[Stretch, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Bring every part into one form, so that equal constraints are equal values."""
        set_ = object.__setattr__
        set_(self, "fixed", read_channels("fixed", self.fixed))
        if self.only is not None:
            set_(self, "only", read_channels("only", self.only))
        set_(self, "groups", read_groups(self.groups))
        if not isinstance(self.weights, Mapping):
            raise ConstraintError(f"weights= maps channels to numbers, not {self.weights!r}")
        set_(self, "fixed_times", read_times(self.fixed_times))
        set_(self, "ranges", read_ranges(self.ranges))
        for part in DIRECTIONS:
            set_(self, part, read_directions(part, getattr(self, part)))
        weights = {str(channel): weight for channel, weight in self.weights.items()}
        Constraints(max_changes=self.max_changes, weights=weights)  # which checks the numbers

    def __repr__(self) -> str:
        """Only what was said."""
        empty = SeriesConstraints()
        said = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(empty, f.name)
        ]
        return f"SeriesConstraints({', '.join(said)})"

    def merge(self, other: SeriesConstraints) -> SeriesConstraints:
        """Both at once: a change must be allowed by each of them."""
        limits = [most for most in (self.max_changes, other.max_changes) if most is not None]
        only = self.only if other.only is None else other.only
        if self.only is not None and other.only is not None:
            only = tuple(channel for channel in self.only if channel in other.only)
        weights = dict(self.weights)
        for channel, weight in other.weights.items():
            weights[channel] = weights.get(channel, 1.0) * weight
        return SeriesConstraints(
            fixed=(*self.fixed, *other.fixed),
            only=only,
            groups=tuple(dict.fromkeys((*self.groups, *other.groups))),
            weights=weights,
            max_changes=min(limits, default=None),
            fixed_times=_both(self.fixed_times, other.fixed_times),
            ranges=_both(self.ranges, other.ranges),
            increase=_throughout(self.increase, other.increase),
            decrease=_throughout(self.decrease, other.decrease),
        )

    def to_dict(self) -> dict[str, Any]:
        """What was said, as plain JSON.

        >>> SeriesConstraints(fixed=["flow"], fixed_times=[(0, 10)]).to_dict()
        {'fixed': ['flow'], 'fixed_times': {'*': [[0, 10]]}}
        """
        empty, lists = SeriesConstraints(), {"fixed", "only"}
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        said = {name: part for name, part in said.items() if part != getattr(empty, name)}
        written: dict[str, Any] = {
            name: list(part) if name in lists else part for name, part in said.items()
        }
        if "groups" in said:
            written["groups"] = [list(group) for group in self.groups]
        if "weights" in said:
            written["weights"] = {c: float(weight) for c, weight in self.weights.items()}
        for part in {*TIMED, "ranges"} & set(said):
            spans = said[part].items()
            written[part] = {channel: [_written(one) for one in each] for channel, each in spans}
        return written

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> SeriesConstraints:
        """The constraints that `to_dict` wrote; an unknown part is an error."""
        known = [f.name for f in fields(cls)]
        for part in document:
            if part not in known:
                raise ConstraintError(f"there is no constraint {part!r}{closest(part, known)}")
        return cls(**document)

    def named(self, names: Sequence[str]) -> SeriesConstraints:
        """The same constraints with every channel by its name, or an error that says which."""

        def name(part: str, channel: Channel) -> str:
            if channel in names:
                return str(channel)
            if isinstance(channel, int) and -len(names) <= channel < len(names):
                return names[channel]
            raise ConstraintError(f"{part} names no channel {channel!r}{closest(channel, names)}")

        def timed(part: str) -> dict[Channel, Any]:
            found: dict[Channel, Any] = {}
            for c, said in getattr(self, part).items():
                one = {c if c == EVERY else name(part, c): said}
                found = (_throughout if part in DIRECTIONS else _both)(found, one)
            return found

        return replace(
            self,
            fixed=tuple(name("fixed", c) for c in self.fixed),
            only=None if self.only is None else tuple(name("only", c) for c in self.only),
            groups=tuple(tuple(name("groups", c) for c in group) for group in self.groups),
            weights={name("weights", c): w for c, w in self.weights.items()},
            fixed_times=timed("fixed_times"),
            ranges=timed("ranges"),
            increase=timed("increase"),
            decrease=timed("decrease"),
        )

    def of_channels(self) -> Constraints:
        """The constraints on channels, as constraints on columns with the names of the channels."""
        return Constraints(
            fixed=tuple(map(str, self.fixed)),
            only=None if self.only is None else tuple(map(str, self.only)),
            groups=tuple(tuple(map(str, group)) for group in self.groups),
            weights={str(channel): weight for channel, weight in self.weights.items()},
            max_changes=self.max_changes,
        )

    def stretches(self) -> Iterator[tuple[str, int, int]]:
        """Every stretch that is named, with the part that names it."""
        for part in TIMED:
            for each in getattr(self, part).values():
                yield from ((part, start, stop) for start, stop in each)
        for ranges in self.ranges.values():
            for _, _, start, stop in ranges:
                if start is not None and stop is not None:
                    yield "ranges", start, stop

    def parts(self) -> Iterator[tuple[str, SeriesConstraints]]:
        """Every single constraint in words, with the constraints that remain without it."""
        for channel in self.fixed:
            left = tuple(c for c in self.fixed if c != channel)
            yield f"fixed {channel!r}", replace(self, fixed=left)
        if self.only is not None:
            yield f"only {', '.join(map(repr, self.only))}", replace(self, only=None)
        for group in self.groups:
            rest = tuple(g for g in self.groups if g != group)
            yield f"group {'+'.join(map(str, group))}", replace(self, groups=rest)
        if self.max_changes is not None:
            yield f"max_changes {self.max_changes}", replace(self, max_changes=None)
        for channel, stretches in self.fixed_times.items():
            where = "" if channel == EVERY else f" of {channel!r}"
            times = {c: s for c, s in self.fixed_times.items() if c != channel}
            spans = ", ".join(f"{start} to {stop - 1}" for start, stop in stretches)
            yield f"fixed times {spans}{where}", replace(self, fixed_times=times)
        for part in ("ranges", *DIRECTIONS):
            for channel in getattr(self, part):
                others = {c: one for c, one in getattr(self, part).items() if c != channel}
                without: dict[str, Any] = {part: others}
                of = "of " if part == "ranges" else ""
                whose = "every channel" if channel == EVERY else repr(channel)
                yield f"{part} {of}{whose}", replace(self, **without)

    def on_values(self) -> SeriesConstraints:
        """What is said of values and times alone, not of whole channels."""
        kept: dict[str, Any] = {part: getattr(self, part) for part in (*TIMED, "ranges")}
        return SeriesConstraints(**kept)


def read_constraints(given: Any, names: Sequence[str]) -> SeriesConstraints:
    """Constraints from what a caller gave, with channels by name."""
    if given is None:
        return SeriesConstraints()
    if isinstance(given, Mapping):
        given = SeriesConstraints.from_dict(given)
    if not isinstance(given, SeriesConstraints):
        raise ConstraintError(
            f"constraints= takes SeriesConstraints(...), not {type(given).__name__}"
        )
    return given.named(names)


def _both(one: Mapping[Channel, Any], other: Mapping[Channel, Any]) -> dict[Channel, Any]:
    """All that either of them says of a channel."""
    return {c: (*one.get(c, ()), *other.get(c, ())) for c in (*one, *other)}


def _throughout(one: Mapping[Channel, Any], other: Mapping[Channel, Any]) -> dict[Channel, Any]:
    """The same, where no stretches mean always."""
    always = {c for part in (one, other) for c, stretches in part.items() if not stretches}
    return {c: () if c in always else each for c, each in _both(one, other).items()}


def _written(one: tuple[Any, ...]) -> list[Any]:
    """A stretch, or a range, without times that are not said."""
    return list(one[:2] if one[2:] == (None, None) else one)


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
