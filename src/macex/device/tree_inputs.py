"""What the trees of a model are given for codes: which column makes each feature, and of what.

A feature must come from one column. What categories become is asked of the model's own first step;
what numbers become is known as moves that keep their order, so a threshold of a feature, 32 bits
wide, is a cut between two codes. All is settled here, on the host; on a device only codes are
compared with cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.device.forest import INSTEAD
from macex.errors import ModelError
from macex.models.first_steps import Move, steps_of
from macex.models.kinds.xgboost import BoostedXGBoost
from macex.models.prepared import PreparedNumbers, Rest, prepared
from macex.schema import MISSING, Array, Schema

CONSTANT = -1  # the owner of features that no column changes
Matrix = Callable[[Array], Array]  # codes (n, d) -> features (n, F), float32, as the model has them
Made = dict[int, tuple[int, tuple[Move, ...]]]  # features of numbers: the column, its moves
TOP = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class TreeInputs:
    """The features that trees see, by column of the schema."""

    schema: Schema
    own: Array  # (1, d) codes of a training row
    matrix: Matrix
    moves: dict[int, tuple[Move, ...]]  # of features that are moved numbers
    owner: Array  # (F,) the column that makes each feature

    def of_categories(self, column: int, features: Array) -> Array:
        """The features for each category of a column and, last, for a missing one."""
        return _lines(self.schema, self.own, self.matrix, column)[:, features]

    def of_numbers(self, codes: Array, features: Array) -> Array:
        """The features for some numbers of their column."""
        values = np.where(codes == MISSING, np.nan, codes)
        return np.stack([self._moved(values, feature) for feature in features], axis=1)

    def cuts(self, feature: int, thresholds: Array) -> Array:
        """For each threshold the lowest number that is not below it once it is a feature."""
        low = np.full(len(thresholds), -TOP)
        high = np.full(len(thresholds), TOP)
        while (high - 1 > low).any():
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            below = self._moved(_number(middle), feature) < thresholds
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return _number(high)

    def _moved(self, values: Array, feature: int) -> Array:
        with np.errstate(over="ignore"):
            for move, by in self.moves[feature]:
                values = move(values, by)
            return values.astype(np.float32)


def _number(place: Array) -> Array:
    """Numbers by their place in the order of all numbers; the ends are infinite.

    >>> _number(np.array([-1, 0, 1])).tolist()
    [-0.0, 0.0, 5e-324]
    """
    last = np.array(np.inf).view(np.int64)
    place = np.clip(place, -last - 1, last)
    return np.where(place < 0, place ^ TOP, place).view(np.float64)


def inputs_of(
    model: Any, boosted: BoostedXGBoost, schema: Schema, codes: Array, width: int
) -> TreeInputs:
    """How codes become the features of a model's trees."""
    matrix, made = _looked_up(model, schema, codes) if steps_of(model) else _bare(boosted, schema)
    own = codes[:1]
    first = matrix(own)[0]
    if len(first) != width:
        raise ModelError(
            f"the trees have {width} features, but {len(first)} are made of the explainer's columns"
        )
    owner = np.full(width, CONSTANT)
    owner[list(made)] = [column for column, _ in made.values()]
    for at, column in enumerate(schema.columns):
        if column.discrete:
            lines = _lines(schema, own, matrix, at)
            varies = ~((lines == first) | (np.isnan(lines) & np.isnan(first))).all(axis=0)
            for feature in np.flatnonzero(varies & (owner != CONSTANT)):
                other = schema.columns[owner[feature]].name
                raise ModelError(
                    f"feature {feature} of the trees is made of both {other!r} and "
                    f"{column.name!r}: {INSTEAD}"
                )
            owner[varies] = at
    moves = {feature: moves for feature, (_, moves) in made.items()}
    return TreeInputs(schema, own, matrix, moves, owner)


def _lines(schema: Schema, own: Array, matrix: Matrix, column: int) -> Array:
    """What becomes of a row with each category of a column in turn and, last, a missing one."""
    about = schema.columns[column]
    rows = np.repeat(own, len(about.table) + 1, axis=0)
    rows[:-1, column] = np.arange(len(about.table))
    if about.missing:
        rows[-1, column] = MISSING
    try:
        return matrix(rows)
    except Exception as error:
        raise ModelError(
            f"the model cannot be asked about every category of {about.name!r}: {error}; "
            "leave out categories that no training row has"
        ) from error


def _bare(boosted: BoostedXGBoost, schema: Schema) -> tuple[Matrix, Made]:
    """The features of a booster on a frame of numbers."""
    taken = boosted.matrix
    if taken is None or taken.categories:
        raise ModelError(f"the model takes categories; train on one-hot columns, or {INSTEAD}")
    labels = [str(column.label) for column in schema.frame_columns]
    order = labels if taken.names is None or schema.library == "numpy" else list(taken.names)

    def matrix(codes: Array) -> Array:
        return taken(schema.frame(codes)).astype(np.float32)

    made: Made = {}
    for column, place in _numbers(schema):
        made[order.index(labels[place])] = column, ()
    return matrix, made


def _looked_up(model: Any, schema: Schema, codes: Array) -> tuple[Matrix, Made]:
    """The features that the first step of a pipeline makes."""
    step, *between, _ = steps_of(model)
    if between:
        names = ", ".join(type(one).__name__ for one in between)
        raise ModelError(
            f"there is {names} between the first step of the pipeline and its trees; put all into "
            "one ColumnTransformer"
        )
    if hasattr(step.transform(schema.frame(codes[:1])), "toarray"):
        raise ModelError(
            f"{type(step).__name__}, the first step of the pipeline, makes a sparse matrix, whose "
            "zeros are missing values to XGBoost: set sparse_output=False or sparse_threshold=0 "
            "and train again"
        )
    found = prepared(model, schema, codes)
    parts = () if found is None else found.parts
    if found is None or any(isinstance(part, Rest) for part in parts):
        raise ModelError(
            f"it is not known what {type(step).__name__}, the first step of the pipeline, does to "
            "every column by itself: use one-hot or ordinal encoders, scalers and imputers on "
            f"columns of float64 or integers, or {INSTEAD}"
        )
    columns = {place: column for column, place in _numbers(schema)}
    made: Made = {}
    for part in parts:
        if isinstance(part, PreparedNumbers):
            for at, (place, feature) in enumerate(zip(part.columns, part.outputs, strict=True)):
                if place in columns:
                    moves = tuple((move, by[at]) for move, by in part.moves)
                    made[int(feature)] = columns[place], moves
    return lambda rows: np.asarray(step.transform(schema.frame(rows)), dtype=np.float32), made


def _numbers(schema: Schema) -> list[tuple[int, int]]:
    """The columns of numbers, each with its place in the frame."""
    places = range(len(schema.columns)) if schema.folding is None else schema.folding.places
    return [
        (at, place)
        for at, place in enumerate(places)
        if isinstance(place, int) and not schema.columns[at].discrete
    ]
