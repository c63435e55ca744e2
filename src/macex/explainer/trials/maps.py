"""The score over two columns at once, with the rows there are, the row itself, and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macex.ask.answers import Needed
from macex.errors import SchemaError
from macex.explainer.trials.aims import Aim
from macex.explainer.trials.grids import AxisGrid, grid
from macex.schema import Array
from macex.schema.columns import special
from macex.stages.plausibility.distance import evenly

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
