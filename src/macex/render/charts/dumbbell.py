"""Changes in context: before and after, over how the training rows are spread."""

from __future__ import annotations

from dataclasses import dataclass, field

from macex.render.charts.axes import Axis, Categories
from macex.render.charts.chart import Chart, Drawing
from macex.render.charts.svg import circle, element, line, number, rect, shortened, text, wide

HEAD, HIGH, FOOT = 16.0, 44.0, 20.0  # a column's name, its bars, what stands under them
LEAST_ROOM = 46.0  # for a category whose name is written


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
