"""Lines over an axis: a score along a column, a rate against another, coverage by actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from macex.render.charts.axes import Axis, Categories, Dot, Frame, Key, Measure, keyed, labelled
from macex.render.charts.chart import (
    Chart,
    Drawing,
    Kind,
    Span,
    circle,
    element,
    line,
    number,
    rect,
)
from macex.render.values import shown


@dataclass(frozen=True)
class Line:
    """A line through points, with a name for the legend; over categories only the dots."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    name: str = ""
    kind: Kind = "after"


@dataclass(frozen=True)
class Curve(Chart):
    """Lines, `bounds` drawn across (a threshold), `goal` shaded beyond it, and dots.

    `stepped` lines keep a value up to the next point.

    >>> line = Line((20.0, 40.0, 60.0), (0.2, 0.4, 0.7))
    >>> print(Curve(Measure("age", 20.0, 60.0), Measure("score", 0.0, 1.0), (line,), (0.5,)))
    score from 0.2 at age 20 to 0.7 at 60, lowest 0.2, highest 0.7; threshold 0.5
    """

    x: Axis
    y: Measure
    lines: tuple[Line, ...]
    bounds: tuple[float, ...] = ()
    goal: Span | None = None
    dots: tuple[Dot, ...] = ()
    spans: tuple[Span, ...] = ()
    stepped: bool = False

    def told(self) -> str:
        """Where each line begins and ends, its extremes, the threshold and the dots."""
        said = [self._course(one) for one in self.lines if one.x]
        said += [f"threshold {self.y.said(bound)}" for bound in self.bounds]
        said += [
            f"{dot.text}: {self.y.said(dot.y)} at {self.x.said(dot.x)}"
            for dot in self.dots
            if dot.text
        ]
        return "; ".join(said)

    def drawn(self) -> Drawing:
        """The lines over shades and bounds, the dots in front."""
        frame = Frame(self.x, self.y, self.width, self.height, self._keys())
        parts = [frame.drawn(), *self._behind(frame)]
        parts += [part for one in self.lines for part in self._line(frame, one)]
        parts += labelled(frame, self.dots)
        return Drawing(self.width, self.height, "".join(parts))

    def _keys(self) -> tuple[Key, ...]:
        lines = [(f"mx-line-{one.kind}", one.name) for one in self.lines]
        return keyed(lines if len(lines) > 1 or not self.y.name else [])

    def _course(self, one: Line) -> str:
        known = [value for value in one.y if isfinite(value)] or [0.0]
        ends = f"from {shown(_short(one.y[0]))} at {self.x.name} {self.x.said(one.x[0])}"
        ends += f" to {shown(_short(one.y[-1]))} at {self.x.said(one.x[-1])}"
        lowest, highest = shown(_short(min(known))), shown(_short(max(known)))
        return f"{one.name or self.y.name} {ends}, lowest {lowest}, highest {highest}"

    def _behind(self, frame: Frame) -> list[str]:
        wide_, high = frame.right - frame.left, frame.bottom - frame.top
        drawn = []
        if self.goal is not None:
            top, bottom = frame.up(self.goal.high), frame.up(self.goal.low)
            drawn.append(rect(frame.left, top, wide_, bottom - top, "mx-goal"))
        for span in self.spans:
            left, right = frame.across(span.low), frame.across(span.high)
            drawn.append(rect(left, frame.top, max(2.0, right - left), high, "mx-stretch"))
        for bound in self.bounds:
            y = frame.up(bound)
            drawn.append(line(frame.left, y, frame.right, y, "mx-bound"))
        return drawn

    def _line(self, frame: Frame, one: Line) -> list[str]:
        if isinstance(self.x, Categories):
            return [
                circle(frame.across(x), frame.up(y), 3.5, f"mx-dot-{one.kind}", self.y.said(y))
                for x, y in zip(one.x, one.y, strict=True)
            ]
        drawn = []
        for piece in _pieces(one):
            placed = [(frame.across(x), frame.up(y)) for x, y in piece]
            if self.stepped:
                placed = _steps(placed)
            points = " ".join(f"{number(x)},{number(y)}" for x, y in placed)
            drawn.append(element("polyline", {"class": f"mx-line-{one.kind}", "points": points}))
        return drawn


def coverage(counts: Sequence[float], total: int, title: str = "") -> Curve:
    """Which share of `total` the first actions reach together, after each of them.

    >>> print(coverage([30, 45], 60))
    share reached from 0 at actions 0 to 0.75 at 2, lowest 0, highest 0.75
    """
    shares = [0.0, *(count / max(1, total) for count in counts)]
    places = tuple(float(at) for at in range(len(shares)))
    ticks = tuple((place, shown(place)) for place in places)
    x = Measure("actions", 0.0, max(1.0, places[-1]), ticks)
    lines = (Line(places, tuple(shares)),)
    return Curve(x, Measure.shares("share reached"), lines, stepped=True, title=title)


def _pieces(one: Line) -> list[list[tuple[float, float]]]:
    """The points of a line, cut where a value is missing."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(one.x, one.y, strict=True):
        if isfinite(y):
            pieces[-1].append((x, y))
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of a stair."""
    corners = points[:1]
    for x, y in points[1:]:
        corners += [(x, corners[-1][1]), (x, y)]
    return corners


def _short(value: float) -> float:
    return float(f"{value:.4g}")
