"""Charts of bars: a bar for each thing, a histogram, and changes over a histogram (`Dumbbell`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from macex.render.charts.axes import Axis, Categories, Frame, Measure, keyed, percent
from macex.render.charts.chart import (
    Chart,
    Drawing,
    Mark,
    Span,
    circle,
    element,
    line,
    number,
    rect,
    shortened,
    text,
    wide,
)
from macex.render.values import shown

THICK = 30.0  # pixels for each bar with its room
HEAD, HIGH, FOOT = 16.0, 44.0, 20.0  # a column's name, its bars, what stands under them
LEAST_ROOM = 46.0  # for a category whose name is written


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


@dataclass(frozen=True)
class Layer:
    """Some of the rows: how many fall into each bin. Layers stand on top of each other."""

    name: str
    counts: tuple[float, ...]


@dataclass(frozen=True)
class Histogram(Chart):
    """Bars of equal width from one end of `x` to the other, or one for each category.

    >>> ages = Measure("age", 20.0, 60.0)
    >>> chart = Histogram(ages, (Layer("", (4, 9, 2, 1)),), marks=(Mark(33.0, "now"),), title="Age")
    >>> print(chart)
    Age. 16 rows by age, most of them from 30 to 40; now: 33
    """

    x: Axis
    layers: tuple[Layer, ...]
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()
    of: str = "rows"

    def told(self) -> str:
        """The number of rows, where most are, and what is pointed out."""
        sums = self._sums
        total, most = sum(sums), max(range(len(sums)), key=sums.__getitem__, default=0)
        said = f"{shown(float(total))} {self.of} by {self.x.name}"
        if total:
            said += f", most of them {self.x.bin(most, len(sums))}"
        pointed = [f"{mark.text}: {self.x.said(mark.at)}" for mark in self.marks if mark.text]
        ranges = [
            f"{span.text}: {self.x.said(span.low)} to {self.x.said(span.high)}"
            for span in self.spans
            if span.text
        ]
        return "; ".join([said, *pointed, *ranges])

    def drawn(self) -> Drawing:
        """The bars between the shaded part and the marks."""
        keys = [(f"mx-bar-{at % 6}", layer.name) for at, layer in enumerate(self.layers)]
        highest = max([*self._sums, 1.0])
        frame = Frame(
            self.x,
            Measure(self.of, 0.0, 1.08 * highest),
            self.width,
            self.height,
            keyed(keys if len(self.layers) > 1 else []),
        )
        parts = [frame.drawn(), *self._shades(frame), *self._bars(frame), *self._marks(frame)]
        return Drawing(self.width, self.height, "".join(parts))

    @property
    def _sums(self) -> list[float]:
        return [float(sum(counts)) for counts in zip(*(_of(self.layers)), strict=True)]

    def _shades(self, frame: Frame) -> list[str]:
        return [
            rect(left, frame.top, max(2.0, right - left), frame.bottom - frame.top, "mx-goal")
            for left, right in (
                (frame.across(span.low), frame.across(span.high)) for span in self.spans
            )
        ]

    def _bars(self, frame: Frame) -> list[str]:
        count = max(1, len(self._sums))
        step, gap = (frame.right - frame.left) / count, 1.0 if count > 12 else 2.0
        below, drawn = [0.0] * count, []
        for order, layer in enumerate(self.layers):
            for at, value in enumerate(layer.counts):
                top, bottom = frame.up(below[at] + value), frame.up(below[at])
                below[at] += value
                if value:
                    name = layer.name or self.x.name
                    told = f"{name} {self.x.bin(at, count)}: {shown(float(value))}"
                    where = frame.left + at * step + gap / 2, top, step - gap, bottom - top
                    drawn.append(rect(*where, f"mx-bar-{order % 6}", told))
        return drawn

    def _marks(self, frame: Frame) -> list[str]:
        drawn = []
        for order, mark in enumerate(self.marks):
            x = frame.across(mark.at)
            drawn.append(line(x, frame.top, x, frame.bottom, f"mx-line-{mark.kind}"))
            drawn.append(circle(x, frame.top, 4.0, f"mx-mark-{mark.kind}", mark.text))
            y = frame.top + 4 + 14 * order
            said = f"{mark.text} {self.x.said(mark.at)}".strip()
            fits = x + 8 + wide(said) < frame.right
            drawn.append(text(x + (8 if fits else -8), y, said, None if fits else "end", "mx-told"))
        return drawn


def _of(layers: Sequence[Layer]) -> list[tuple[float, ...]]:
    return [layer.counts for layer in layers] or [()]


@dataclass(frozen=True)
class Way:
    """A changed column: where its values lie before and after, and the values of training rows.

    `counts` are of bins of equal width between the axis's ends, or of categories. `interval` is
    the range in which the answer holds, or without `exact` from which values were tested that all
    hold. A value that lies nowhere (a missing one) is None.
    """

    x: Axis
    counts: tuple[float, ...]
    places: tuple[float | None, float | None]
    texts: tuple[str, str]
    interval: tuple[float, float] | None = None
    exact: bool = True
    share: str = ""  # what is said of the new value, e.g. how many rows have it


@dataclass(frozen=True)
class Dumbbell(Chart):
    """A line for each changed column: an open dot, an arrow and a full dot over a histogram.

    >>> from macex.render.charts.axes import Measure
    >>> way = Way(Measure("hours", 0.0, 80.0), (1, 8, 3, 1), (20.0, 45.0), ("20", "45"), (42, 60))
    >>> print(Dumbbell((way,), of="accepted rows"))
    hours from 20 to 45, which holds from 42 to 60; most of the accepted rows from 20 to 40
    """

    ways: tuple[Way, ...]
    of: str = "training rows"
    named: bool = True  # whether columns' names stand above their lines
    width: float = field(default=400.0, kw_only=True)

    def told(self) -> str:
        """Every change in words, with where most rows are."""
        return ". ".join(self._said(way) for way in self.ways) or "no change"

    def drawn(self) -> Drawing:
        """The lines one under the other."""
        each = HEAD * self.named + HIGH + FOOT
        parts = [self._way(way, at * each) for at, way in enumerate(self.ways)]
        return Drawing(self.width, max(1, len(self.ways)) * each, "".join(parts))

    def _said(self, way: Way) -> str:
        said = f"{way.x.name} from {way.texts[0]} to {way.texts[1]}"
        if way.interval is not None and way.interval[0] != way.interval[1]:
            low, high = (way.x.said(end) for end in way.interval)
            said += f", which {'holds' if way.exact else 'was tested'} from {low} to {high}"
        if way.share:
            said += f" ({way.share})"
        if not any(way.counts):
            return said
        most = max(range(len(way.counts)), key=way.counts.__getitem__)
        return f"{said}; most of the {self.of} {way.x.bin(most, len(way.counts))}"

    def _way(self, way: Way, top: float) -> str:
        left, right = 8.0, self.width - 8.0
        parts = []
        if self.named:
            name = shortened(way.x.name, right - left)
            parts.append(text(left, top + 12, name, kind="mx-axis-name"))
            top += HEAD
        floor = top + HIGH
        parts.append(line(left, floor, right, floor, "mx-axis"))
        parts += _bars(way, left, right, top + 4, floor)
        parts += _ends(way, left, right, floor + 14)
        if way.interval is not None:
            low, high = (left + way.x.share(end) * (right - left) for end in way.interval)
            known = "holds" if way.exact else "tested"
            parts.append(rect(low, floor - 3, max(2.0, high - low), 6.0, "mx-holds", known))
        return "".join([*parts, *_dots(way, left, right, floor)])


def _bars(way: Way, left: float, right: float, top: float, floor: float) -> list[str]:
    most, count = max([*way.counts, 1.0]), max(1, len(way.counts))
    step = (right - left) / count
    gap = min(1.0, step / 8)
    drawn = []
    for at, value in enumerate(way.counts):
        high = (floor - top) * value / most
        if value:
            high = max(1.0, high)
            start, end = left + at * step, left + (at + 1) * step - gap
            drawn.append(f"M{number(start)} {number(floor)}V{number(floor - high)}")
            drawn.append(f"H{number(end)}V{number(floor)}")
    return [element("path", {"class": "mx-behind", "d": "".join(drawn)})] if drawn else []


def _ends(way: Way, left: float, right: float, y: float) -> list[str]:
    """What stands under the line: the ends of a measure, or the two categories meant."""
    if not isinstance(way.x, Categories):
        marks = way.x.marks(5)
        inside = [(left + way.x.share(value) * (right - left), said) for value, said in marks]
        return [
            text(min(max(x, left + wide(said) / 2), right - wide(said) / 2), y, said, "middle")
            for x, said in _apart(inside)
        ]
    room = (right - left) / max(1, len(way.x.texts))
    meant = [at for at in reversed(way.places) if at is not None]
    others = range(len(way.x.texts)) if room > LEAST_ROOM else ()
    drawn = []
    for at in dict.fromkeys([*meant, *map(float, others)]):
        said = shortened(way.x.said(at), max(room - 4, 110.0 if room <= LEAST_ROOM else 0.0))
        x, half = left + way.x.share(at) * (right - left), wide(said) / 2
        drawn.append((min(max(x, left + half), right - half), said))
    return [text(x, y, said, "middle") for x, said in _apart(drawn)]


def _apart(placed: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Texts that do not lie on each other; who comes first has the place."""
    kept: list[tuple[float, str]] = []
    for x, said in placed:
        if all(abs(x - at) > (wide(said) + wide(other)) / 2 + 6 for at, other in kept):
            kept.append((x, said))
    return kept


def _dots(way: Way, left: float, right: float, y: float) -> list[str]:
    places = [None if at is None else left + way.x.share(at) * (right - left) for at in way.places]
    drawn = []
    if places[0] is not None and places[1] is not None:
        drawn.append(line(places[0], y, places[1], y, "mx-way"))
    for x, kind, said in zip(places, ("before", "after"), way.texts, strict=True):
        if x is not None:
            drawn.append(circle(x, y, 4.5, f"mx-mark-{kind}", said))
    return drawn
