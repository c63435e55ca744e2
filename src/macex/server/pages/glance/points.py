"""The rows as points: over two columns, or in the plane where they lie widest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.errors import SchemaError
from macex.explainer.trials.grids import grid
from macex.render.charts import Axis, Categories, Measure, Point, Scatter
from macex.render.speech import Speech
from macex.schema import Array, Column, Rows
from macex.schema.columns import special
from macex.server.projects.project import Project
from macex.stages.plausibility.distance import evenly

DOTS = 400
LEVELS = 12  # categories of a column that the plane knows apart
JITTER = 0.3  # by which points of a category are spread


@dataclass(frozen=True)
class Scattered:
    """The picture, and how many of the rows it shows."""

    chart: Scatter
    shown: int
    rows: int


def scattered(project: Project, names: tuple[str, str], address: str, speech: Speech) -> Scattered:
    """Some rows over two columns; over the plane of a projection where no columns are named.

    `address` is that of the list of rows, to which a row's own is added.
    """
    explainer, table = project.explainer(), project.table
    places = evenly(np.arange(len(table)), DOTS)
    rows = explainer.schema.read(table.frame(places))
    if any(names) and not all(names):
        names = ("", "")
    x, y, left, up = _sides(rows, names, speech) if all(names) else _plane(rows)
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
    chart = Scatter(x, y, points, labels, title="Rows by the model's decision")
    return Scattered(chart, len(points), len(table))


def _called(project: Project, place: int, speech: Speech) -> str:
    label = project.table.predictions.label(place)
    return f"Row {place}" + ("" if label is None else f", {speech.plain(label)}")


def _sides(rows: Rows, names: tuple[str, str], speech: Speech) -> tuple[Axis, Axis, Array, Array]:
    made = []
    for turn, name in enumerate(names):
        at = rows.schema.position(name)
        made.append(_side(rows.schema.columns[at], rows.codes[:, at], turn, speech))
    (x, left), (y, up) = made
    return x, y, left, up


def _side(column: Column, codes: Array, turn: int, speech: Speech) -> tuple[Axis, Array]:
    """The axis of a column, and where values lie on it; NaN where they do not."""
    made = grid(column, float(column.seen[0]) if len(column.seen) else 0.0, 2, speech)
    if made is None:
        raise SchemaError(f"column {column.name!r} has one value only: choose another")
    if isinstance(made.axis, Categories):
        spread = np.random.default_rng(turn).uniform(-JITTER, JITTER, len(codes))
        known = [made.place(float(code)) for code in codes]
        return made.axis, np.array([np.nan if at is None else at for at in known]) + spread
    placed = np.where(special(codes), np.nan, codes)
    if isinstance(made.axis, Measure) and made.axis.ticks:
        return made.axis, placed
    return Measure.over(made.axis.name, placed.tolist()), placed


def _plane(rows: Rows) -> tuple[Axis, Axis, Array, Array]:
    """The two directions in which the rows differ most, categories as flags of equal weight."""
    parts = [_features(column, rows.codes[:, at]) for at, column in enumerate(rows.schema.columns)]
    features = np.column_stack([part for part in parts if part.size] or [np.zeros((len(rows), 1))])
    features = features - features.mean(axis=0)
    left, sizes, _ = np.linalg.svd(features, full_matrices=False)
    flat = np.zeros((len(rows), 2))
    wide = min(2, len(sizes))
    flat[:, :wide] = left[:, :wide] * sizes[:wide]
    flat *= np.where(np.abs(flat).max(axis=0) == flat.max(axis=0), 1.0, -1.0)
    x, y = (Measure.over(f"direction {turn + 1}", flat[:, turn].tolist()) for turn in range(2))
    return x, y, flat[:, 0], flat[:, 1]


def _features(column: Column, codes: Array) -> Array:
    known = ~special(codes)
    if column.discrete:
        common = column.seen[np.argsort(-column.counts, kind="stable")[:LEVELS]]
        return (codes[:, None] == common) / np.sqrt(2)
    if not known.any() or not codes[known].std():
        return np.zeros((len(codes), 0))
    scaled = np.where(known, (codes - codes[known].mean()) / codes[known].std(), 0.0)
    return np.clip(scaled, -4, 4)[:, None]
