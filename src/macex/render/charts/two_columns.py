"""Charts over two columns: rows as points, or a score as a map."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import isfinite

from macex.render.charts.axes import Axis, Categories, Dot, Frame, keyed, labelled, placed
from macex.render.charts.chart import Chart, Drawing, circle, element, line, number
from macex.render.values import score_text

FAINTEST, FULLEST = 0.06, 0.7


@dataclass(frozen=True)
class Point:
    """A row: where it lies, to which of the groups it belongs, what it says, where it leads.

    `key` is written as `data-key`, for a page that lets points be chosen.
    """

    x: float
    y: float
    group: int = 0
    text: str = ""
    href: str = ""
    key: str = ""


@dataclass(frozen=True)
class Scatter(Chart):
    """Points coloured by group, `dots` in front of them, `arrows` between dots by their places.

    >>> from macex.render.charts.axes import Measure
    >>> ages, hours = Measure("age", 20.0, 60.0), Measure("hours", 0.0, 80.0)
    >>> points = (Point(30.0, 40.0), Point(50.0, 60.0, group=1))
    >>> print(Scatter(ages, hours, points, ("no", "yes"), (Dot(30.0, 40.0, "the query"),)))
    2 points by age and hours: 1 no, 1 yes; the query at 30, 40
    """

    x: Axis
    y: Axis
    points: tuple[Point, ...]
    groups: tuple[str, ...] = ()
    dots: tuple[Dot, ...] = ()
    arrows: tuple[tuple[int, int], ...] = ()
    height: float = field(default=340.0, kw_only=True)

    def told(self) -> str:
        """How many points there are of each group, and where the dots lie."""
        counts = Counter(point.group for point in self.points)
        several = f"{len(self.points)} point{'s' * (len(self.points) != 1)}"
        said = f"{several} by {self.x.name} and {self.y.name}" if self.points else ""
        if self.groups and self.points:
            said += ": " + ", ".join(f"{counts[at]} {name}" for at, name in enumerate(self.groups))
        return "; ".join([*([said] if said else []), *placed(self.dots, self.x, self.y)])

    def drawn(self) -> Drawing:
        """The points, then arrows and dots in front."""
        keys = keyed([(f"mx-dot-{at % 6}", name) for at, name in enumerate(self.groups)])
        frame = Frame(self.x, self.y, self.width, self.height, keys)
        parts = [frame.drawn(), *(self._point(frame, point) for point in self.points)]
        for start, end in self.arrows:
            parts.append(_arrow(frame, self.dots[start], self.dots[end]))
        parts += labelled(frame, self.dots)
        active = any(point.href for point in self.points)
        return Drawing(self.width, self.height, "".join(parts), active)

    def _point(self, frame: Frame, point: Point) -> str:
        kind = f"mx-dot-{point.group % 6}"
        place = frame.across(point.x), frame.up(point.y)
        if not point.href:
            return circle(*place, 3.2, kind, point.text, point.key or None)
        where = {"href": point.href, "data-key": point.key or None, "aria-label": point.text}
        return element("a", where, circle(*place, 3.2, kind, point.text))


def _arrow(frame: Frame, start: Dot, end: Dot) -> str:
    """A line from one dot to the edge of another, with a head."""
    x1, y1, x2, y2 = frame.across(start.x), frame.up(start.y), frame.across(end.x), frame.up(end.y)
    long = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if long < 14:
        return ""
    ux, uy = (x2 - x1) / long, (y2 - y1) / long
    tip = x2 - 6 * ux, y2 - 6 * uy
    back = tip[0] - 8 * ux, tip[1] - 8 * uy
    corners = [tip, (back[0] - 4 * uy, back[1] + 4 * ux), (back[0] + 4 * uy, back[1] - 4 * ux)]
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    head = element("polygon", {"class": "mx-head", "points": points})
    return line(x1 + 6 * ux, y1 + 6 * uy, *back, "mx-line-before") + head


@dataclass(frozen=True)
class HeatMap(Chart):
    """A cell for each pair of values: `scores[i][j]` at the i-th value of `x`, j-th of `y`.

    `at` are these values. Cells that reach the goal (`low` to `high`) have one colour and the
    others another, the fuller the farther from the goal's bound. `points` are rows, drawn small.

    >>> from macex.render.charts.axes import Measure
    >>> ages, hours = Measure("age", 20.0, 60.0), Measure("hours", 0.0, 80.0)
    >>> scores = ((0.1, 0.4), (0.3, 0.8))
    >>> at = ((30.0, 50.0), (20.0, 60.0))
    >>> print(HeatMap(ages, hours, scores, at, low=0.5))
    score by age and hours from 0.10 to 0.80; 1 of 4 cells reach the goal
    """

    x: Axis
    y: Axis
    scores: tuple[tuple[float, ...], ...]
    at: tuple[tuple[float, ...], tuple[float, ...]]
    name: str = "score"
    low: float = -float("inf")
    high: float = float("inf")
    dots: tuple[Dot, ...] = ()
    points: tuple[Point, ...] = ()
    height: float = field(default=360.0, kw_only=True)

    def told(self) -> str:
        """The extremes of the score, how many cells reach the goal, and where the dots are."""
        known = self._known
        if not known:
            return f"no {self.name} is known"
        ends = f"from {score_text(min(known))} to {score_text(max(known))}"
        said = [f"{self.name} by {self.x.name} and {self.y.name} {ends}"]
        if self._bounded:
            reached = sum(self.low <= score <= self.high for score in known)
            said.append(f"{reached} of {len(known)} cells reach the goal")
        return "; ".join([*said, *placed(self.dots, self.x, self.y)])

    def drawn(self) -> Drawing:
        """The cells, the points, and the dots in front."""
        keys = [("mx-heat-yes", "reaches the goal"), ("mx-heat-no", "does not")]
        frame = Frame(
            self.x, self.y, self.width, self.height, tuple(keys * self._bounded), grid=False
        )
        parts = [*self._cells(frame), frame.drawn()]
        parts += [
            circle(frame.across(point.x), frame.up(point.y), 1.6, "mx-dust", point.text)
            for point in self.points
        ]
        parts += labelled(frame, self.dots)
        return Drawing(self.width, self.height, "".join(parts))

    @property
    def _bounded(self) -> bool:
        return bool(self._bounds)

    def _cells(self, frame: Frame) -> list[str]:
        columns = _borders(self.x, [frame.across(x) for x in self.at[0]], frame.left, frame.right)
        rows = _borders(self.y, [frame.up(y) for y in self.at[1]], frame.bottom, frame.top)
        drawn = []
        for i, scores in enumerate(self.scores):
            for j, score in enumerate(scores):
                if isfinite(score):
                    box = columns[i], rows[j + 1], columns[i + 1], rows[j]
                    drawn.append(self._cell(box, score))
        return drawn

    def _cell(self, box: tuple[float, float, float, float], score: float) -> str:
        left, top, right, bottom = box
        reached = self.low <= score <= self.high
        return element(
            "rect",
            {
                "class": "mx-heat-yes" if reached or not self._bounded else "mx-heat-no",
                "x": number(left),
                "y": number(top),
                "width": number(right - left),
                "height": number(bottom - top),
                "fill-opacity": number(self._strength(score)),
            },
        )

    @cached_property
    def _known(self) -> list[float]:
        return [score for line in self.scores for score in line if isfinite(score)]

    @cached_property
    def _bounds(self) -> list[float]:
        return [bound for bound in (self.low, self.high) if isfinite(bound)]

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """How far from the bound the nearest and the farthest score are, without bounds from 0."""
        sizes = [self._size(score) for score in self._known]
        return min(sizes), max(sizes)

    def _size(self, score: float) -> float:
        return min((abs(score - bound) for bound in self._bounds), default=score)

    def _strength(self, score: float) -> float:
        """How full a cell's colour is: faint at the bound, full at the farthest score."""
        low, high = self._reach
        low = 0.0 if self._bounds else low
        part = (self._size(score) - low) / (high - low) if high > low else 0.5
        return FAINTEST + (FULLEST - FAINTEST) * part


def _borders(axis: Axis, middles: list[float], first: float, last: float) -> list[float]:
    """Where the cells around given middles begin and end; categories share the room evenly."""
    if isinstance(axis, Categories):
        return [first + (last - first) * at / len(middles) for at in range(len(middles) + 1)]
    return [first, *((one + other) / 2 for one, other in pairwise(middles)), last]
