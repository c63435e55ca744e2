"""The axes of a chart: numbers, or categories in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log10

from macex.render.values import shown

STEPS = (1, 2, 2.5, 5, 10)
LEAST = 1e-12  # of its size: how far apart the ends of an axis are at least


def percent(value: float) -> str:
    """A share as the ticks of an axis say it.

    >>> percent(0.25)
    '25 %'
    """
    return f"{100 * value:.3g} %"


@dataclass(frozen=True)
class Measure:
    """Numbers from `low` to `high`. `ticks` are places with their texts; without any, round ones.

    `write` makes the text of a value that is not a plain number, such as a time.
    """

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    write: Callable[[float], str] = field(default=shown, repr=False, compare=False)

    @staticmethod
    def over(name: str, values: Sequence[float], room: float = 0.04) -> Measure:
        """An axis that holds all finite values, with room at both ends.

        >>> Measure.over("age", [20.0, 30.0], room=0.1)
        Measure(name='age', low=19.0, high=31.0, ticks=())
        """
        known = [float(value) for value in values if isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if high - low <= LEAST * max(1.0, abs(low), abs(high)):
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        space = room * (high - low)
        return Measure(name, low - space, high + space)

    @staticmethod
    def shares(name: str) -> Measure:
        """An axis of shares, in percent."""
        return Measure(name, 0.0, 1.0, tuple((at / 4, percent(at / 4)) for at in range(5)))

    def share(self, value: float) -> float:
        """Where a value lies: 0 is the axis's beginning, 1 its end; beyond is held to the ends."""
        span = self.high - self.low
        part = (value - self.low) / span if span > 0 else 0.5
        return min(1.0, max(0.0, part))

    def marks(self, most: int) -> list[tuple[float, str]]:
        """About `most` values with their texts.

        >>> Measure("age", 17.0, 90.0).marks(4)
        [(20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80')]
        """
        if self.ticks:
            return list(self.ticks[:: max(1, ceil(len(self.ticks) / max(1, most + 1)))])
        step = _step((self.high - self.low) / max(1, most))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        places = [round(at * step, 12) for at in range(first, last + 1)]
        return [(place, self.write(place)) for place in places]

    def said(self, value: float) -> str:
        """A value as text."""
        return self.write(float(value))

    def bin(self, at: int, count: int) -> str:
        """The ends of one bin of equal width, in words."""
        step = (self.high - self.low) / count
        ends = (self.write(float(f"{self.low + n * step:.4g}")) for n in (at, at + 1))
        return "from {} to {}".format(*ends)


@dataclass(frozen=True)
class Categories:
    """Categories side by side; a value is the place of one, counted from 0."""

    name: str
    texts: tuple[str, ...]

    def share(self, value: float) -> float:
        """Where the middle of a category lies, from 0 to 1."""
        return (value + 0.5) / max(1, len(self.texts))

    def marks(self, most: int) -> list[tuple[float, str]]:
        """Categories with their texts: all, or evenly chosen ones where there is no room."""
        step = max(1, ceil(len(self.texts) / max(1, most)))
        return [(float(at), self.texts[at]) for at in range(0, len(self.texts), step)]

    def said(self, value: float) -> str:
        """A category as text."""
        return self.texts[int(value)]

    def bin(self, at: int, count: int) -> str:
        """One of the categories, in words."""
        del count
        return f"at {self.texts[at]}"


Axis = Measure | Categories


def _step(least: float) -> float:
    """The round step that is at least so large."""
    power = 10.0 ** floor(log10(least)) if least > 0 and isfinite(least) else 1.0
    return next(step * power for step in STEPS if step * power >= least * (1 - 1e-9))
