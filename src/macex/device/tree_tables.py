"""Trees as tables of bits: a line for every state of some columns, an entry for every piece.

A column is in one of finitely many states for the trees: a category, or a number between two cuts.
What each state takes away from the leaves of a piece is worked out beforehand, for several columns
at once where that stays small. Then the leaf of a row is found by a lookup for each table and by
what all of them leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from macex.device.forest import NOTHING, Forest, Piece
from macex.device.tree_inputs import CONSTANT, TreeInputs
from macex.schema import MISSING, Array

MOST_PIECES = 128  # of one batch
MOST_CELLS = 1 << 21  # of one table
FIRST = 127  # the exponent of 1 in numbers of 32 bits
LINES = FIRST + 63


class States(NamedTuple):
    """The states of a column: categories, or numbers between cuts; the last is a missing value."""

    column: int
    cuts: Array | None  # float64, of numbers
    masks: Array  # (states, P) int64


class TreeTable(NamedTuple):
    """Columns together: states s[0], s[1], ... are in line s[0] + sizes[0] * (s[1] + ...)."""

    columns: tuple[States, ...]
    masks: Array  # (lines, P) int64


class Batch(NamedTuple):
    """Some pieces of every class, class by class, as many of each."""

    tables: list[TreeTable]
    values: Array  # (190, P) float32: what the leaf with bit b adds in line 127 + b, without 0


def batches_of(forest: Forest, inputs: TreeInputs) -> Iterator[Batch]:
    """All pieces in batches."""
    each = max(1, MOST_PIECES // len(forest.pieces))
    rounds = list(zip_longest(*forest.pieces, fillvalue=NOTHING))
    for first in range(0, len(rounds), each):
        by_class = zip(*rounds[first : first + each], strict=True)
        pieces = [piece for mine in by_class for piece in mine]
        values = np.zeros((LINES, len(pieces)), np.float32)
        values[[0, *range(FIRST, LINES)]] = np.stack([piece.values for piece in pieces], axis=1)
        yield Batch(_tables(pieces, inputs), values)


def _tables(pieces: list[Piece], inputs: TreeInputs) -> list[TreeTable]:
    """The columns that matter to some pieces, put into as few tables as they fit in."""
    used = np.unique(np.concatenate([piece.feature for piece in pieces]))
    fixed = used[inputs.owner[used] == CONSTANT]
    masks = _masks(inputs.matrix(inputs.own)[:, fixed], fixed, pieces)
    start = masks & np.array([piece.bits for piece in pieces], dtype=np.int64)
    owners = np.setdiff1d(inputs.owner[used], [CONSTANT])
    columns = [_states(int(at), used[inputs.owner[used] == at], pieces, inputs) for at in owners]
    tables = [TreeTable((), start)]
    for column in sorted(columns, key=lambda states: -len(states.masks)):
        size = column.masks.size
        fits = (at for at, table in enumerate(tables) if len(table.masks) * size <= MOST_CELLS)
        at = next(fits, None)
        if at is None:
            tables.append(TreeTable((column,), column.masks))
        else:
            tables[at] = _joined(tables[at], column)
    return tables


def _joined(table: TreeTable, column: States) -> TreeTable:
    masks = column.masks[:, None] & table.masks[None]
    return TreeTable((*table.columns, column), masks.reshape(-1, masks.shape[2]))


def _states(column: int, features: Array, pieces: list[Piece], inputs: TreeInputs) -> States:
    """The states of a column for the features that are made of it."""
    if inputs.schema.columns[column].discrete:
        values = inputs.of_categories(column, features)
        return States(column, None, _masks(values, features, pieces))
    found = [
        inputs.cuts(feature, np.unique(np.concatenate([_thresholds(p, feature) for p in pieces])))
        for feature in features.tolist()
    ]
    cuts = np.unique(np.concatenate(found))
    lowest = np.concatenate([[-np.inf], cuts, [MISSING]])
    return States(column, cuts, _masks(inputs.of_numbers(lowest, features), features, pieces))


def _thresholds(piece: Piece, feature: int) -> Array:
    return piece.threshold[piece.feature == feature]


def _masks(values: Array, features: Array, pieces: list[Piece]) -> Array:
    """The bits (n, P) that the splits of some sorted features leave, for values (n, F) of them."""
    masks = np.full((len(values), len(pieces)), -1)
    for at, piece in enumerate(pieces):
        mine = np.flatnonzero(np.isin(piece.feature, features))
        value = values[:, np.searchsorted(features, piece.feature[mine])]
        to_left = np.where(np.isnan(value), piece.default[mine], value < piece.threshold[mine])
        left = np.where(to_left, ~piece.right[mine], ~piece.left[mine])
        masks[:, at] = np.bitwise_and.reduce(left, axis=1)
    return masks
