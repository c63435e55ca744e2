"""What may change in a case: channels as for columns, and stretches of time that stay.

`SeriesConstraints` is a plain value. What it says of channels is what `Constraints` says of
columns; a channel may be named or given by its position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.errors import ConstraintError, closest
from macex.schema import Array

Channel = str | int
Stretch = tuple[int, int]
EVERY = "*"  # the key of stretches that are fixed in all channels


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

    def __post_init__(self) -> None:
        """Bring every part into one form, so that equal constraints are equal values."""
        set_ = object.__setattr__
        set_(self, "fixed", _channels("fixed", self.fixed))
        if self.only is not None:
            set_(self, "only", _channels("only", self.only))
        set_(self, "groups", _groups(self.groups))
        if not isinstance(self.weights, Mapping):
            raise ConstraintError(f"weights= maps channels to numbers, not {self.weights!r}")
        set_(self, "fixed_times", _times(self.fixed_times))
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
        times = {
            channel: (*self.fixed_times.get(channel, ()), *other.fixed_times.get(channel, ()))
            for channel in (*self.fixed_times, *other.fixed_times)
        }
        weights = dict(self.weights)
        for channel, weight in other.weights.items():
            weights[channel] = weights.get(channel, 1.0) * weight
        return SeriesConstraints(
            fixed=(*self.fixed, *other.fixed),
            only=only,
            groups=tuple(dict.fromkeys((*self.groups, *other.groups))),
            weights=weights,
            max_changes=min(limits, default=None),
            fixed_times=times,
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
        if "fixed_times" in said:
            times = self.fixed_times.items()
            written["fixed_times"] = {c: [list(one) for one in spans] for c, spans in times}
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

        return replace(
            self,
            fixed=tuple(name("fixed", c) for c in self.fixed),
            only=None if self.only is None else tuple(name("only", c) for c in self.only),
            groups=tuple(tuple(name("groups", c) for c in group) for group in self.groups),
            weights={name("weights", c): w for c, w in self.weights.items()},
            fixed_times={
                c if c == EVERY else name("fixed_times", c): stretches
                for c, stretches in self.fixed_times.items()
            },
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

    def frozen(self, names: Sequence[str], length: int) -> Array | None:
        """Which time points stay as they are, (channels, time) bool; None where all may change."""
        if not self.fixed_times:
            return None
        mask = np.zeros((len(names), length), bool)
        for channel, stretches in self.fixed_times.items():
            for start, stop in stretches:
                place: Any = slice(None) if channel == EVERY else names.index(str(channel))
                mask[place, start:stop] = True
        return mask

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


def _groups(given: Any) -> tuple[tuple[Channel, ...], ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConstraintError(f"groups= takes a list of lists of channels, not {given!r}")
    return tuple(_channels("groups", group) for group in given)


def _channels(part: str, given: Any) -> tuple[Channel, ...]:
    if isinstance(given, (str, Integral)):
        given = (given,)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise ConstraintError(f"{part}= takes a list of channels, not {given!r}")
    return tuple(dict.fromkeys(_channel(part, channel) for channel in given))


def _channel(part: str, given: Any) -> Channel:
    if _whole([given]):
        return int(given)
    if isinstance(given, str):
        return str(given)
    raise ConstraintError(f"{part}= takes names or positions of channels, not {given!r}")


def _times(given: Any) -> dict[Channel, tuple[Stretch, ...]]:
    if not isinstance(given, Mapping):
        given = {EVERY: given}
    found = {_channel("fixed_times", c): _stretches(s) for c, s in given.items()}
    return {channel: stretches for channel, stretches in found.items() if stretches}


def _stretches(given: Any) -> tuple[Stretch, ...]:
    pairs = [given] if isinstance(given, tuple) and len(given) == 2 and _whole(given) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ConstraintError(f"fixed_times= takes stretches (start, stop), not {given!r}")
    found = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not _whole(pair):
            raise ConstraintError(f"a fixed stretch is (start, stop), not {pair!r}")
        start, stop = map(int, pair)
        if not 0 <= start < stop:
            raise ConstraintError(
                f"the fixed stretch ({start}, {stop}) is empty: 0 <= start < stop must hold"
            )
        found.append((start, stop))
    return tuple(dict.fromkeys(found))


def _whole(numbers: Sequence[Any]) -> bool:
    return all(isinstance(one, Integral) and repr(one) not in ("True", "False") for one in numbers)
