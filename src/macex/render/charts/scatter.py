"""Points over two axes, some pointed out, with arrows from one to another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from macex.render.charts.axes import Axis
from macex.render.charts.chart import Chart, Drawing
from macex.render.charts.frame import Frame, keyed
from macex.render.charts.labels import Dot, labelled, placed
from macex.render.charts.svg import circle, element, line, number


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
