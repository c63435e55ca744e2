"""The trees of an XGBoost classifier as pieces of at most 64 leaves, read from its JSON.

Every leaf of a piece but one has a bit. A split takes away the bits of the side that a row
does not go to, so what is left after all splits, in whatever order, is the bit of the row's leaf.
A tree with more leaves is several pieces: each is a branch of it, and adds nothing elsewhere.

A feature of the trees must come from one column. What categories become is read from the model's
own first step; what numbers become is known as moves that keep their order, so a threshold of a
feature is a cut between two codes. All is settled here, on the host; on a device
only codes are compared with cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from macex.errors import ModelError
from macex.models.first_steps import Move, steps_of
from macex.models.kinds.lightgbm import BoostedLightGBM
from macex.models.kinds.matrix import Matrix as BoostedMatrix
from macex.models.kinds.xgboost import BoostedXGBoost
from macex.models.prepared import PreparedNumbers, Rest, prepared
from macex.schema import MISSING, Array, Schema

MOST_LEAVES = 64
INSTEAD = "give DeviceExplainer a function of codes of your own instead"


class Tree(NamedTuple):
    """The nodes of a tree, the root first."""

    left: list[int]  # the node that a lower number goes to; below 0 for leaves
    right: list[int]
    feature: Array
    threshold: Array  # a lower number goes to the left
    default: Array  # bool: a missing one does
    value: Array  # what a leaf adds


class Piece(NamedTuple):
    """Splits (S,) with the bits on either side of them, and what the leaves add."""

    feature: Array
    threshold: Array  # a lower number goes to the left
    default: Array  # bool: a missing one does
    left: Array  # int64
    right: Array  # int64
    bits: int  # of all leaves
    values: Array  # (64,): of the leaf without a bit, or of elsewhere; then bit by bit


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of each class, one class for yes or no, and what makes scores of their sums.

    `seen` makes of features what splits compare: numbers of 32 bits, say. Sums are `odds`, of 32
    bits for `narrow` ones, or the shares of classes.
    """

    trees: list[list[Tree]]
    start: Array  # (classes,) float64: where the sums start
    width: int  # features
    seen: Callable[[Array], Array]
    sums: Literal["odds", "narrow odds", "shares"]

    @property
    def pieces(self) -> list[list[Piece]]:
        """The trees of each class in pieces."""
        return [[piece for tree in mine for piece in pieces_of(tree)] for mine in self.trees]


NONE = np.zeros(0, np.int64)
NOTHING = Piece(NONE, NONE, NONE, NONE, NONE, bits=0, values=np.zeros(MOST_LEAVES, np.float32))


def pieces_of(tree: Tree) -> Iterator[Piece]:
    """A tree with more leaves than bits is several pieces."""
    left, right = tree.left, tree.right
    order = _from_the_root(left, right)
    leaves = [1] * len(left)
    for node in reversed(order):
        if left[node] >= 0:
            leaves[node] = leaves[left[node]] + leaves[right[node]]
    heads = [0]
    while heads:
        head = heads.pop()
        if leaves[head] <= MOST_LEAVES - (head != 0):
            yield _piece(tree, order, head)
        else:
            heads += [left[head], right[head]]


def _piece(tree: Tree, order: list[int], head: int) -> Piece:
    """The branch of a tree below a node."""
    left, right = tree.left, tree.right
    below, values = [0] * len(left), np.zeros(MOST_LEAVES, tree.value.dtype)
    ends = [node for node in _from_the_root(left, right, head) if left[node] < 0]
    if head == 0:
        values[0] = tree.value[ends.pop()]
    for bit, leaf in enumerate(ends):
        below[leaf], values[1 + bit] = 1 << bit, tree.value[leaf]
    for node in reversed(order):
        if left[node] >= 0:
            below[node] = below[left[node]] | below[right[node]]
    splits = [node for node in order if left[node] >= 0 and below[node]]
    return Piece(
        tree.feature[splits].astype(np.int64),
        tree.threshold[splits],
        tree.default[splits],
        np.array([below[left[node]] for node in splits], dtype=np.int64),
        np.array([below[right[node]] for node in splits], dtype=np.int64),
        below[0],
        values,
    )


def _from_the_root(left: list[int], right: list[int], head: int = 0) -> list[int]:
    """The nodes below one, each after its parent."""
    found, pending = [], [head]
    while pending:
        node = pending.pop()
        found.append(node)
        if left[node] >= 0:
            pending += [right[node], left[node]]
    return found


CONSTANT = -1  # the owner of features that no column changes
Matrix = Callable[[Array], Array]  # codes (n, d) -> features (n, F), as splits see them
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
    seen: Callable[[Array], Array]  # what splits see of numbers

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
            return self.seen(values)


def _number(place: Array) -> Array:
    """Numbers by their place in the order of all numbers; the ends are infinite.

    >>> _number(np.array([-1, 0, 1])).tolist()
    [-0.0, 0.0, 5e-324]
    """
    last = np.array(np.inf).view(np.int64)
    place = np.clip(place, -last - 1, last)
    return np.where(place < 0, place ^ TOP, place).view(np.float64)


def inputs_of(model: Any, trees: Any, schema: Schema, codes: Array, forest: Forest) -> TreeInputs:
    """How codes become the features of a model's trees."""
    made_of = _looked_up(model, trees, schema, codes) if steps_of(model) else _bare(trees, schema)
    features, made = made_of
    width = forest.width

    def matrix(rows: Array) -> Array:
        return forest.seen(features(rows))

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
    return TreeInputs(schema, own, matrix, moves, owner, forest.seen)


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


def _bare(trees: Any, schema: Schema) -> tuple[Matrix, Made]:
    """The features of trees on a frame of numbers."""
    boosted = isinstance(trees, BoostedXGBoost | BoostedLightGBM)
    taken = trees.matrix if boosted else BoostedMatrix(width=len(schema.frame_columns))
    if taken is None or taken.categories or getattr(trees, "stored", ()):
        raise ModelError(f"the model takes categories; train on one-hot columns, or {INSTEAD}")
    labels = [taken.spelt(str(column.label)) for column in schema.frame_columns]
    order = labels if taken.names is None or schema.library == "numpy" else list(taken.names)

    def matrix(codes: Array) -> Array:
        return taken(schema.frame(codes)).astype(float)

    made: Made = {}
    for column, place in _numbers(schema):
        made[order.index(labels[place])] = column, ()
    return matrix, made


def _looked_up(model: Any, trees: Any, schema: Schema, codes: Array) -> tuple[Matrix, Made]:
    """The features that the first step of a pipeline makes."""
    step, *between, _ = steps_of(model)
    if between:
        names = ", ".join(type(one).__name__ for one in between)
        raise ModelError(
            f"there is {names} between the first step of the pipeline and its trees; put all into "
            "one ColumnTransformer"
        )
    sparse = hasattr(step.transform(schema.frame(codes[:1])), "toarray")
    if sparse and isinstance(trees, BoostedXGBoost):
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

    def matrix(rows: Array) -> Array:
        features = step.transform(schema.frame(rows))
        return np.asarray(features.toarray() if sparse else features, dtype=float)

    return matrix, made


def _numbers(schema: Schema) -> list[tuple[int, int]]:
    """The columns of numbers, each with its place in the frame."""
    places = range(len(schema.columns)) if schema.folding is None else schema.folding.places
    return [
        (at, place)
        for at, place in enumerate(places)
        if isinstance(place, int) and not schema.columns[at].discrete
    ]
