"""The rows as points: over two columns, or in the plane where they lie widest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from macex.errors import SchemaError
from macex.explainer.curves import grid
from macex.render.charts import Axis, Categories, Dot, Measure, Point, Scatter
from macex.render.charts.chart import Kind
from macex.render.speech import Speech
from macex.schema import Array, Column, Rows
from macex.schema.columns import special
from macex.server.projects.project import Project
from macex.stages.plausibility.distance import evenly

DOTS = 400
LEVELS = 12  # categories of a column that the plane knows apart
JITTER = 0.3  # by which points of a category are spread
Told = tuple[str, Kind, Array]  # a row to point out: what it is called, how it is drawn, its codes
Placing = Callable[[Array], Array]  # where codes of rows lie on an axis; NaN where they do not


@dataclass(frozen=True)
class Scattered:
    """The picture, and how many of the rows it shows."""

    chart: Scatter
    shown: int
    rows: int


def scattered(
    project: Project,
    names: tuple[str, str],
    address: str,
    speech: Speech,
    told: Sequence[Told] = (),
) -> Scattered:
    """Some rows over two columns; over the plane of a projection where no columns are named.

    `address` is that of the list of rows, to which a row's own is added. The rows `told` are
    pointed out, with an arrow from the first to each of the others.
    """
    explainer, table = project.explainer(), project.table
    places = evenly(np.arange(len(table)), DOTS)
    rows = explainer.schema.read(table.frame(places))
    if any(names) and not all(names):
        names = ("", "")
    (x, across), (y, above) = _sides(rows, names, speech) if all(names) else _plane(rows)
    left, up = _spread(x, across(rows.codes), 0), _spread(y, above(rows.codes), 1)
    here = np.isfinite(left) & np.isfinite(up)
    classes = explainer.classes
    labels = tuple(speech.plain(label) for label in classes or ())
    points = tuple(
        Point(
            float(left[at]),
            float(up[at]),
            int(max(0, table.predictions.decision[place])) if classes else 0,
            _called(project, place, speech),
            f"{address}/rows/{place}",
            str(place),
        )
        for at, place in zip(np.flatnonzero(here).tolist(), places[here].tolist(), strict=True)
    )
    dots = [
        Dot(float(across(codes[None])[0]), float(above(codes[None])[0]), text, kind)
        for text, kind, codes in told
    ]
    placed = tuple(dot for dot in dots if np.isfinite([dot.x, dot.y]).all())
    ways = tuple((0, at) for at in range(1, len(placed))) if dots[:1] == list(placed[:1]) else ()
    title = "Rows by the model's decision"
    chart = Scatter(x, y, points, labels, placed, ways, title=title)
    return Scattered(chart, len(points), len(table))


def _called(project: Project, place: int, speech: Speech) -> str:
    label = project.table.predictions.label(place)
    return f"Row {place}" + ("" if label is None else f", {speech.plain(label)}")


def _sides(
    rows: Rows, names: tuple[str, str], speech: Speech
) -> tuple[tuple[Axis, Placing], tuple[Axis, Placing]]:
    first, second = (_side(rows, rows.schema.position(name), speech) for name in names)
    return first, second


def _side(rows: Rows, at: int, speech: Speech) -> tuple[Axis, Placing]:
    """The axis of a column, and where values lie on it."""
    column = rows.schema.columns[at]
    made = grid(column, float(column.seen[0]) if len(column.seen) else 0.0, 2, speech)
    if made is None:
        raise SchemaError(f"column {column.name!r} has one value only: choose another")
    if isinstance(made.axis, Categories):

        def category(codes: Array) -> Array:
            known = [made.place(float(code)) for code in codes[:, at]]
            return np.array([np.nan if place is None else place for place in known])

        return made.axis, category

    def placing(codes: Array) -> Array:
        return np.where(special(codes[:, at]), np.nan, codes[:, at])

    if isinstance(made.axis, Measure) and made.axis.ticks:
        return made.axis, placing
    return Measure.over(made.axis.name, placing(rows.codes).tolist()), placing


def _spread(axis: Axis, places: Array, turn: int) -> Array:
    """Points of one category lie beside each other, not on each other."""
    if not isinstance(axis, Categories):
        return places
    return places + np.random.default_rng(turn).uniform(-JITTER, JITTER, len(places))


def _plane(rows: Rows) -> tuple[tuple[Axis, Placing], tuple[Axis, Placing]]:
    """The two directions in which the rows differ most, categories as flags of equal weight."""
    features = _features(rows, rows.codes)
    middle = features.mean(axis=0)
    _, _, ways = np.linalg.svd(features - middle, full_matrices=False)
    ways = np.vstack([ways[:2], np.zeros((2, ways.shape[1]))])[:2]
    flat = (features - middle) @ ways.T
    ways *= np.where(np.abs(flat).max(axis=0) == flat.max(axis=0), 1.0, -1.0)[:, None]

    def along(way: Array) -> Placing:
        return lambda codes: (_features(rows, codes) - middle) @ way

    made = []
    for turn, way in enumerate(ways):
        placing = along(way)
        axis = Measure.over(f"direction {turn + 1}", placing(rows.codes).tolist())
        made.append((axis, placing))
    return made[0], made[1]


def _features(rows: Rows, codes: Array) -> Array:
    """Rows of codes as numbers, scaled as the rows of the picture are."""
    columns = enumerate(rows.schema.columns)
    parts = [_scaled(column, rows.codes[:, at], codes[:, at]) for at, column in columns]
    return np.column_stack([part for part in parts if part.size] or [np.zeros((len(codes), 1))])


def _scaled(column: Column, scale: Array, codes: Array) -> Array:
    if column.discrete:
        common = column.seen[np.argsort(-column.counts, kind="stable")[:LEVELS]]
        return (codes[:, None] == common) / np.sqrt(2)
    known = scale[~special(scale)]
    if not len(known) or not known.std():
        return np.zeros((len(codes), 0))
    scaled = np.where(special(codes), 0.0, (codes - known.mean()) / known.std())
    return np.clip(scaled, -4, 4)[:, None]
