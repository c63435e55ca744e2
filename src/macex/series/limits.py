"""What the values of a case may become: those that stay, ranges, and directions.

A value that is taken from another case is brought into its range. Where it would still go the wrong
way, the case keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.schema import Array
from macex.series.constraints import EVERY, SeriesConstraints

MOST = 2**62  # whole numbers are not limited beyond


class ValueLimit(NamedTuple):
    """What kept a stretch from being as in the other case; None where nothing of the kind did."""

    low: float | None = None
    high: float | None = None
    direction: str | None = None  # "up" or "down": the only way that values may go


@dataclass(frozen=True, eq=False)
class CaseLimits:
    """The limits of one case, each part (channels, time)."""

    frozen: Array  # bool: values that stay
    low: Array  # in the type of samples, or in whole numbers
    high: Array
    up: Array  # bool: values that may not become lower
    down: Array  # bool: values that may not become higher

    def kept(self, own: Array, other: Array, channel: Array) -> Array:
        """What channels (m, time) become that were to become `other`."""
        low, high = self.low[channel], self.high[channel]
        made = np.minimum(np.maximum(other, low), high)
        wrong = self.frozen[channel] | (low > high)
        wrong |= (self.up[channel] & ~(made >= own)) | (self.down[channel] & ~(made <= own))
        if made.dtype.kind == "f":
            wrong |= np.isnan(made) & ((low > -np.inf) | (high < np.inf))
        return np.where(wrong, own, made).astype(own.dtype)

    def at(self, channel: int, time: int, own: float, other: float) -> float:
        """The same for one value."""
        one = CaseLimits(*(part[channel, time, None, None] for part in self._parts()))
        return float(one.kept(np.array([[own]]), np.array([[other]]), np.zeros(1, int))[0, 0])

    def parts(self, channel: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The parts of a stretch that may change, each with the same limits throughout."""
        said = np.stack([part[channel, start:stop].astype(float) for part in self._parts()])
        edges = np.flatnonzero((said[:, 1:] != said[:, :-1]).any(axis=0)) + 1
        for first, last in zip([0, *edges], [*edges, stop - start], strict=True):
            if not said[0, first]:
                yield start + int(first), start + int(last)

    def bound(self, channel: int, at: int, aimed: Array, own: Array) -> ValueLimit | None:
        """What of the limits at a time point values that were to become `aimed` run into."""
        low, high = self.low[channel, at], self.high[channel, at]
        made = np.clip(aimed, low, high)
        up = self.up[channel, at] and bool((made < own).any())
        down = self.down[channel, at] and bool((made > own).any())
        found = ValueLimit(
            float(low) if (aimed < low).any() else None,
            float(high) if (aimed > high).any() else None,
            "up" if up else "down" if down else None,
        )
        return None if found == ValueLimit() else found

    def _parts(self) -> tuple[Array, ...]:
        return self.frozen, self.low, self.high, self.up, self.down


def limits_of(
    given: SeriesConstraints, names: Sequence[str], length: int, kind: np.dtype[Any]
) -> CaseLimits | None:
    """The limits of a case of so many time points and samples of a type; None without any."""
    if not (given.fixed_times or given.ranges or given.increase or given.decrease):
        return None
    shape, (least, most) = (len(names), length), _span(kind)
    frozen, up, down = np.zeros((3, *shape), bool)
    low, high = np.full(shape, least), np.full(shape, most)
    for part, mask in (("fixed_times", frozen), ("increase", up), ("decrease", down)):
        for channel, stretches in getattr(given, part).items():
            for start, stop in stretches or [(0, length)]:
                mask[_place(names, channel), start:stop] = True
    for channel, ranges in given.ranges.items():
        for lowest, highest, start, stop in ranges:
            place = _place(names, channel), slice(start, stop)
            low[place] = np.maximum(low[place], least if lowest is None else _up(lowest, kind))
            high[place] = np.minimum(high[place], most if highest is None else -_up(-highest, kind))
    return CaseLimits(frozen, low, high, up, down)


def _place(names: Sequence[str], channel: object) -> Any:
    return slice(None) if channel == EVERY else names.index(str(channel))


def _span(kind: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a type."""
    if kind.kind == "f":
        return kind.type(-np.inf), kind.type(np.inf)
    if kind.kind == "b":
        return 0, 1
    return max(np.iinfo(kind).min, -MOST), min(np.iinfo(kind).max, MOST)


def _up(end: float, kind: np.dtype[Any]) -> Any:
    """The least number of a type that is not below `end`."""
    if kind.kind != "f":
        return int(np.clip(np.ceil(end), -MOST, MOST))
    near = kind.type(end)
    return near if float(near) >= end else np.nextafter(near, kind.type(np.inf))
