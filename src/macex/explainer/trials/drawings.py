"""Curves and maps as charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macex.ask.answers import Needed
from macex.explainer.trials.curves import Curves
from macex.explainer.trials.grids import AxisGrid
from macex.explainer.trials.maps import Map
from macex.render.charts import Curve, Dot, HeatMap, Line, Measure, Point, Span
from macex.render.charts.chart import Kind
from macex.schema import Array

WIDE, HIGH = 560.0, 190.0


def score_axis(name: str, scores: Sequence[Array], enough: Needed, *, probable: bool) -> Measure:
    """The axis of a score: from 0 to 1 for probabilities, else over all that is shown."""
    if probable:
        return Measure(name, 0.0, 1.0)
    bounds = [bound for bound in (enough.low, enough.high) if np.isfinite(bound)]
    return Measure.over(name, [*np.concatenate([*scores, np.zeros(0)]).tolist(), *bounds])


def curve_chart(found: Curves, letters: Sequence[str], of: str, *, probable: bool) -> Curve:
    """The curves of a column, with the threshold, and where each variant is now."""
    name = f"score of {of}" if of else "score"
    several = len(letters) > 1
    names = [f"variant {letter.upper()}" if several else "this row" for letter in letters]
    kinds: tuple[Kind, ...] = ("after", "before")
    y = score_axis(name, [*found.lines, found.average], found.enough, probable=probable)
    lines = [
        Line(_places(found.grid), tuple(line.tolist()), said, kind)
        for line, said, kind in zip(found.lines, names, kinds, strict=False)
    ]
    if len(found.average):
        average = tuple(found.average.tolist())
        said = f"average of {found.averaged} training rows"
        lines.append(Line(_places(found.grid), average, said, "other"))
    dots = [
        Dot(at, _between(found.grid, line, at), names[turn] if several else "", kinds[turn])
        for turn, (at, line) in enumerate(zip(found.places, found.lines, strict=True))
        if at is not None
    ]
    enough = found.enough
    bounds = tuple(bound for bound in (enough.low, enough.high) if np.isfinite(bound))
    column = found.grid.axis.name
    return Curve(
        found.grid.axis,
        y,
        tuple(lines),
        bounds,
        _goal(enough, y),
        tuple(dots),
        title=f"Score over {column}",
        width=WIDE,
        height=HIGH,
    )


def map_chart(found: Map, of: str) -> HeatMap:
    """The map of two columns."""
    kinds: dict[str, Kind] = {"row": "before", "answer": "after", "nearest": "other"}
    dots = [Dot(one.x, one.y, one.text, kinds[one.kind]) for one in found.points]
    return HeatMap(
        found.x.axis,
        found.y.axis,
        tuple(map(tuple, found.scores.T.tolist())),
        (_places(found.x), _places(found.y)),
        name=f"score of {of}" if of else "score",
        low=found.enough.low,
        high=found.enough.high,
        dots=tuple(dots),
        points=tuple(Point(x, y) for x, y in found.rows.tolist()),
        title=f"Score over {found.x.axis.name} and {found.y.axis.name}",
    )


def _places(grid: AxisGrid) -> tuple[float, ...]:
    """Where the codes of a grid lie on its axis."""
    if grid.column.discrete:
        return tuple(map(float, range(len(grid.codes))))
    return tuple(grid.codes.tolist())


def _between(grid: AxisGrid, line: Array, at: float) -> float:
    """The score at a place between the points of a line."""
    return float(np.interp(at, _places(grid), line))


def _goal(enough: Needed, y: Measure) -> Span | None:
    if not enough.bounded:
        return None
    return Span(max(enough.low, y.low), min(enough.high, y.high), "goal")
