"""Bars, one under the other, with their texts; a second series beside or behind the first."""

from __future__ import annotations

from dataclasses import dataclass

from macex.render.charts.axes import Categories, Measure, percent
from macex.render.charts.chart import Chart, Drawing, Span
from macex.render.charts.frame import Frame, keyed
from macex.render.charts.svg import line, rect, text
from macex.render.values import shown

THICK = 30.0  # pixels for each bar with its room


@dataclass(frozen=True)
class Bar:
    """A bar: how long, what stands at its end, another value beside it, and an interval.

    The value is drawn from zero, or from `start`.
    """

    name: str
    value: float
    text: str = ""
    beside: float | None = None
    interval: tuple[float, float] | None = None
    start: float = 0.0


@dataclass(frozen=True)
class Bars(Chart):
    """A bar for each thing. `series` names the values and those beside them.

    Values that are `shares` are said in percent.

    >>> print(Bars((Bar("hours", 12), Bar("job", 5)), "rows"))
    rows: hours 12, job 5
    """

    bars: tuple[Bar, ...]
    of: str = ""
    series: tuple[str, ...] = ()
    behind: bool = False  # the second series is drawn behind the first, not under it
    bounds: tuple[float, ...] = ()
    goal: Span | None = None
    shares: bool = False

    def told(self) -> str:
        """Every bar by name and value, and what is beside it."""
        said = [self._said(bar) for bar in self.bars]
        head = self.of or ", ".join(self.series)
        return (f"{head}: " if head else "") + (", ".join(said) or "nothing")

    def drawn(self) -> Drawing:
        """The bars from zero, in both directions."""
        ends = [bar.value for bar in self.bars] + [bar.start for bar in self.bars]
        ends += [bar.beside for bar in self.bars if bar.beside is not None]
        ends += [end for bar in self.bars if bar.interval for end in bar.interval]
        x = Measure.over(self.of, [*ends, *self.bounds, 0.0], 0.0)
        room = 0.12 * (x.high - x.low) if any(bar.text for bar in self.bars) else 0.0
        low = x.low - (room if x.low < 0 else 0.0)
        x = Measure(self.of, low, x.high + room, write=self._number)
        keys = [(f"mx-bar-{at}", name) for at, name in enumerate(self.series)]
        high = 56 + THICK * max(1, len(self.bars)) + (17 if keys else 0)
        names = Categories("", tuple(bar.name for bar in reversed(self.bars)))
        frame = Frame(x, names, self.width, high, keyed(keys))
        parts = [self._behind(frame), frame.drawn()]
        for place, bar in enumerate(reversed(self.bars)):
            parts += self._bar(frame, bar, frame.up(float(place)))
        zero = frame.across(max(0.0, x.low))
        parts.append(line(zero, frame.top, zero, frame.bottom, "mx-axis"))
        return Drawing(self.width, high, "".join(parts))

    def _behind(self, frame: Frame) -> str:
        high, drawn = frame.bottom - frame.top, []
        if self.goal is not None:
            left, right = frame.across(self.goal.low), frame.across(self.goal.high)
            drawn.append(rect(left, frame.top, right - left, high, "mx-goal"))
        for bound in self.bounds:
            x = frame.across(bound)
            drawn.append(line(x, frame.top, x, frame.bottom, "mx-bound"))
        return "".join(drawn)

    def _bar(self, frame: Frame, bar: Bar, middle: float) -> list[str]:
        split = bar.beside is not None and not self.behind
        half = 8.0 if not split else 4.5
        y = middle - (0.0 if not split else 5.0)
        told = self._said(bar)
        drawn = []
        if bar.beside is not None:
            under = middle + 5.0 if split else middle
            drawn.append(_from(frame, 0.0, bar.beside, under, half, "mx-bar-1", told))
        drawn.append(_from(frame, bar.start, bar.value, y, half, "mx-bar-0", told))
        ends = [bar.start, bar.value]
        if bar.interval is not None:
            low, high = (frame.across(end) for end in bar.interval)
            drawn.append(line(low, y, high, y, "mx-line-before"))
            drawn += [line(x, y - 4, x, y + 4, "mx-line-before") for x in (low, high)]
            ends += bar.interval
        if split and bar.beside is not None:
            ends.append(bar.beside)  # a text at the end of the first bar would lie on the second
        far = max(ends) if bar.value >= bar.start else min(ends)
        way = 1 if bar.value >= bar.start else -1
        place = frame.across(far) + 6 * way
        drawn.append(text(place, middle + 4, bar.text, None if way > 0 else "end"))
        return drawn

    def _number(self, value: float) -> str:
        return percent(value) if self.shares else shown(float(value))

    def _said(self, bar: Bar) -> str:
        said = f"{bar.name} {bar.text or self._number(bar.value)}"
        if bar.beside is None:
            return said
        return f"{said} ({(*self.series, '', '')[1]} {self._number(bar.beside)})".replace("( ", "(")


def _from(
    frame: Frame, start: float, value: float, y: float, half: float, kind: str, told: str
) -> str:
    low, high = sorted((frame.across(start), frame.across(value)))
    return rect(low, y - half, max(1.0, high - low), 2 * half, kind, told)
