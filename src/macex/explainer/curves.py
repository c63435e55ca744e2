"""How the score goes over the values of a column, or of two at once, and the charts of that.

A curve shows one column, all else as it is; a map shows two, with the rows there are, the row
itself, and its answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macex.ask.answers import Needed
from macex.errors import SchemaError
from macex.explainer.variants import Aim
from macex.render.charts import Curve, Dot, HeatMap, Line, Measure, Point, Span
from macex.render.charts.axes import Axis, Categories
from macex.render.charts.chart import Kind
from macex.render.speech import Speech
from macex.schema import Array, Column
from macex.schema.columns import special
from macex.stages.plausibility.distance import evenly

POINTS = 41
AVERAGED = 40  # training rows whose mean is the average


@dataclass(frozen=True)
class Curves:
    """The score over the values of a column: of each variant, and the average of training rows.

    `places` are where the variants are now, None where their value is not on the axis.
    """

    grid: AxisGrid
    lines: tuple[Array, ...]
    places: tuple[float | None, ...]
    average: Array
    averaged: int
    enough: Needed


def curves(aim: Aim, name: str, variants: Sequence[Array]) -> Curves:
    """The curves of a column for variants of the row, given as codes.

    Each variant is one call to the model, the average another; while the column itself changes
    the lines are known already.
    """
    at = aim.rows.schema.position(name)
    made = grid(aim.rows.schema.columns[at], float(aim.rows.codes[0, at]), POINTS, aim.speech)
    if made is None:
        raise SchemaError(f"column {name!r} has one value only: there is no curve")
    average, averaged = _average(aim, made, at)
    return Curves(
        made,
        tuple(_line(aim, made, at, codes) for codes in variants),
        tuple(made.place(float(codes[at])) for codes in variants),
        average,
        averaged,
        aim.said.enough,
    )


def _line(aim: Aim, made: AxisGrid, at: int, codes: Array) -> Array:
    full = np.repeat(codes[None], len(made.codes), axis=0)
    full[:, at] = made.codes
    full = aim.followed(full)
    return aim.known(("line", aim.rows.codes.tobytes(), full.tobytes()), lambda: aim.scores(full))


def _average(aim: Aim, made: AxisGrid, at: int) -> tuple[Array, int]:
    ground = aim.explainer.engine.fitted.ground
    if ground.private:
        return np.zeros(0), 0
    sample = evenly(np.arange(len(ground.codes)), AVERAGED)

    def asked() -> Array:
        full = np.repeat(ground.codes[sample], len(made.codes), axis=0)
        full[:, at] = np.tile(made.codes, len(sample))
        score = aim.training_scores(full, np.repeat(sample, len(made.codes)))
        return score.reshape(len(sample), -1).mean(axis=0)

    return aim.known(("average", at, made.codes.tobytes()), asked), len(sample)


MOST_CATEGORIES = 24  # the most frequent ones, of columns that have more
TIMES = 5  # dates along an axis


@dataclass(frozen=True)
class AxisGrid:
    """Codes of a column in their order, and the axis they lie on."""

    column: Column
    codes: Array
    axis: Axis

    def place(self, code: float) -> float | None:
        """Where a code lies on the axis; None where it is not on it."""
        if not self.column.discrete:
            return None if special(np.array([code]))[0] else float(code)
        at = np.flatnonzero(self.codes == code)
        return float(at[0]) if len(at) else None


def grid(column: Column, own: float, points: int, speech: Speech) -> AxisGrid | None:
    """The values of a column and a row's own; None where there are fewer than two."""
    known = [] if special(np.array([own]))[0] else [own]
    if column.discrete:
        common = column.seen[np.argsort(-column.counts, kind="stable")[:MOST_CATEGORIES]]
        codes = np.unique([*common.tolist(), *known])
    else:
        low, high = min([column.low, *known]), max([column.high, *known])
        codes = np.unique(column.held(np.linspace(low, high, points)))
    if len(codes) < 2:
        return None
    return AxisGrid(column, codes, _axis(column, codes, speech))


def _axis(column: Column, codes: Array, speech: Speech) -> Axis:
    name = speech.name(column.name)
    if column.discrete:
        texts = (speech.value(column.name, column.value(code)) for code in codes.tolist())
        return Categories(name, tuple(texts))
    low, high = float(codes[0]), float(codes[-1])
    if column.kind != "datetime":
        return Measure(name, low, high)
    dates = column.held(np.linspace(low, high, TIMES)).tolist()
    texts = (speech.value(column.name, column.value(code)) for code in dates)
    return Measure(name, low, high, tuple(zip(dates, texts, strict=True)))


SIDE = 21  # values along each side
DOTS = 250  # training rows that show where data are


@dataclass(frozen=True)
class MapPoint:
    """A row on the map."""

    x: float
    y: float
    text: str
    kind: str


@dataclass(frozen=True)
class Map:
    """Scores (values of y, values of x); `rows` (n, 2) are training rows, `points` rows to see."""

    x: AxisGrid
    y: AxisGrid
    scores: Array
    rows: Array
    points: tuple[MapPoint, ...]
    enough: Needed


def score_map(
    aim: Aim, names: tuple[str, str], base: Array, shown: Sequence[tuple[str, str, Array]]
) -> Map:
    """The map of two columns around a variant of the row, by one call to the model.

    `shown` are rows of codes to point out, each with what it is called and its kind.
    """
    schema = aim.rows.schema
    across, up = (schema.position(name) for name in names)
    if across == up:
        raise SchemaError("a map needs two different columns")
    x, y = _side(aim, across), _side(aim, up)
    full = np.repeat(base[None], len(x.codes) * len(y.codes), axis=0)
    full[:, across] = np.tile(x.codes, len(y.codes))
    full[:, up] = np.repeat(y.codes, len(x.codes))
    full = aim.followed(full)
    key = ("map", aim.rows.codes.tobytes(), full.tobytes())
    scores = aim.known(key, lambda: aim.scores(full)).reshape(len(y.codes), -1)
    points = [_point(x, y, across, up, one) for one in shown]
    kept = tuple(point for point in points if point is not None)
    return Map(x, y, scores, _rows(aim, x, y, across, up), kept, aim.said.enough)


def _side(aim: Aim, at: int) -> AxisGrid:
    column = aim.rows.schema.columns[at]
    made = grid(column, float(aim.rows.codes[0, at]), SIDE, aim.speech)
    if made is None:
        raise SchemaError(f"column {column.name!r} has one value only: there is no map of it")
    return made


def _point(
    x: AxisGrid, y: AxisGrid, across: int, up: int, one: tuple[str, str, Array]
) -> MapPoint | None:
    text, kind, codes = one
    places = x.place(float(codes[across])), y.place(float(codes[up]))
    if places[0] is None or places[1] is None:
        return None
    return MapPoint(places[0], places[1], text, kind)


def _rows(aim: Aim, x: AxisGrid, y: AxisGrid, across: int, up: int) -> Array:
    """Some training rows by their places on the map, (n, 2)."""
    ground = aim.explainer.engine.fitted.ground
    if ground.private:
        return np.zeros((0, 2))
    both = ground.codes[:, [across, up]]
    both = both[evenly(np.flatnonzero(~special(both).any(axis=1)), DOTS)]
    places = [(x.place(float(a)), y.place(float(b))) for a, b in both]
    known = [place for place in places if None not in place]
    return np.array(known, dtype=float).reshape(-1, 2)


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
