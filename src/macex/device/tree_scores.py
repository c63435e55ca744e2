"""A classifier of trees as a function of codes: its trees as tables of bits, added up by torch.

A column is in one of finitely many states for the trees: a category, or a number between two cuts.
What each state takes away from the leaves of a piece is worked out beforehand, for several columns
at once where that stays small. Then the leaf of a row is found by a lookup for each table and by
what all of them leave.

On a GPU `torch.compile` makes one kernel of the sums, which is several times quicker than step by
step: what the tables leave of a row's leaves is an entry for every row and tree, and need not go
through memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.device.arrays import ArrayPlace, on_host, place_named
from macex.device.forest import CONSTANT, INSTEAD, NOTHING, Forest, Piece, TreeInputs, inputs_of
from macex.device.tree_readers import read_forest
from macex.errors import ModelError, needed
from macex.models.first_steps import steps_of
from macex.models.kinds import adapted
from macex.models.kinds.xgboost import of_estimator
from macex.models.quick import Quick
from macex.schema import MISSING, Array

if TYPE_CHECKING:
    from macex.explainer import Explainer


CLOSE = 1e-6
CHECKED = 2000
CELLS_ON_HOST = 1 << 20  # rows times pieces that are worked on at a time
CELLS_ON_GPU = 1 << 27


class TreeScores:
    """A classifier of trees as a function of codes, on a torch device.

    The trees are turned into tables and looked up by torch: neither their library nor the host is
    asked. Features and splits are exact. Leaves are added in 64 bits and in another order, so the
    last bits of a score may differ. That scores are the explainer's is checked on training rows.

    Parameters
    ----------
    explainer : whose columns the codes are of.
    model : an `XGBClassifier`, an `LGBMClassifier`, a `Booster` of either, or one of scikit-learn's
        trees, forests and boosting; or a pipeline of one step and one of these. The explainer's
        own without it.
    device : "cpu", "cuda" or "cuda:1"; the GPU if there is one without it.
    compiled : have torch compile the sums for a GPU: it takes some ten seconds, and pays for
        hundreds of thousands of rows.
    """

    def __init__(
        self,
        explainer: Explainer,
        model: Any = None,
        device: str | None = None,
        *,
        compiled: bool = True,
    ) -> None:
        self._torch = needed("torch", "torch")
        if device is None:
            device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._place = place_named(device)
        self.device = self._place.device
        fitted = explainer.engine.fitted
        if model is None:
            model = getattr(fitted.oracle.ask, "__self__", fitted.oracle.ask)
        model = model.original if isinstance(model, Quick) else model
        trees = _trees_in(model)
        forest = read_forest(trees)
        codes = fitted.ground.codes
        inputs = inputs_of(model, trees, explainer.schema, codes, forest)
        self._sums = forest.sums
        self._start = self._place.array(forest.start)
        columns = explainer.schema.columns
        gaps = any(column.missing for column in columns)
        self._batches = [
            placed(batch, len(columns), self._place, gaps=gaps)
            for batch in batches_of(forest, inputs)
        ]
        some = codes[:: max(1, -(-len(codes) // CHECKED))]
        self._leaf_sums = leaf_sums
        if compiled and self.device.type == "cuda":
            self._compile(some)
        self._check(explainer, some)

    def _compile(self, codes: Array) -> None:
        """Have torch compile the sums; where it has no compiler, all stays as it is."""
        self._leaf_sums = self._torch.compile(leaf_sums, dynamic=True)
        try:
            self(codes)
        except Exception:  # noqa: BLE001 - whatever a compiler lacks, torch does without one
            self._leaf_sums = leaf_sums

    def __call__(self, codes: Any) -> Any:
        """The scores of rows of codes (n, d): of the second class (n,), or of many (n, classes)."""
        torch = self._torch
        codes = torch.as_tensor(codes, dtype=torch.float64, device=self.device)
        with torch.inference_mode():
            total = self._start.repeat(len(codes), 1)
            most = CELLS_ON_GPU if self.device.type == "cuda" else CELLS_ON_HOST
            for batch in self._batches:
                step = max(1, most // batch.values.shape[1])
                for start in range(0, len(codes), step):
                    some = slice(start, start + step)
                    lines = lines_of(codes[some], batch)
                    sums = self._leaf_sums(batch.masks, lines, batch.values, total.shape[1])
                    total[some] += sums
            many = total.shape[1] > 1
            if self._sums == "shares":
                return total if many else total[:, 0]
            odds = total.to(torch.float32) if self._sums == "narrow odds" else total
            return torch.softmax(odds, dim=1) if many else torch.sigmoid(odds[:, 0])

    def _check(self, explainer: Explainer, codes: Array) -> None:
        """Raise unless the explainer's own model scores some training rows the same."""
        oracle = explainer.engine.fitted.oracle.own
        told = oracle(explainer.schema.frame(codes), len(codes)).scores
        made = on_host(self(codes)).astype(float)
        if made.ndim == 1:
            made = np.stack([1.0 - made, made], axis=1)
        if made.shape != told.shape:
            raise ModelError(
                f"the trees tell {made.shape[1]} classes apart, the explainer's model "
                f"{told.shape[1]}: is it another model?"
            )
        apart = np.abs(made - told).max()
        if not apart <= CLOSE:
            raise ModelError(
                f"the trees and the explainer's own model score training rows by up to {apart:.2g} "
                f"apart: is it another model? If not, {INSTEAD}"
            )


def _trees_in(model: Any) -> Any:
    """The model of trees that a model is, or the last step of its pipeline."""
    steps = steps_of(model)
    last = steps[-1] if steps else getattr(model, "best_estimator_", model)
    last = of_estimator(last) if hasattr(last, "get_booster") else last
    return adapted(last)


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
    values: Array  # (190, P): what the leaf with bit b adds in line 127 + b, without 0


def batches_of(forest: Forest, inputs: TreeInputs) -> Iterator[Batch]:
    """All pieces in batches."""
    pieces_of_classes = forest.pieces
    each = max(1, MOST_PIECES // len(pieces_of_classes))
    rounds = list(zip_longest(*pieces_of_classes, fillvalue=NOTHING))
    for first in range(0, len(rounds), each):
        by_class = zip(*rounds[first : first + each], strict=True)
        pieces = [piece for mine in by_class for piece in mine]
        leaves = np.stack([piece.values for piece in pieces], axis=1)
        values = np.zeros((LINES, len(pieces)), leaves.dtype)
        values[[0, *range(FIRST, LINES)]] = leaves
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


MANTISSA = 23  # bits of a number of 32 that are behind its exponent


class Placed(NamedTuple):
    """A batch of trees on a device.

    The states of columns (n, d), which are codes but for numbers and blanks, times `strides` are
    the lines (n, tables) that a row is in.
    """

    cuts: list[tuple[int, Any]]  # of the columns of numbers that matter
    blanks: Any  # (d,) the state of a missing value; None where there is none
    strides: Any  # (d, tables) float64
    masks: list[Any]  # of each table (lines, P)
    values: Any  # (190, P)


def placed(batch: Batch, width: int, place: ArrayPlace, *, gaps: bool) -> Placed:
    """A batch on a device, for codes of a number of columns, with or without missing values."""
    strides, blanks, cuts = np.zeros((width, len(batch.tables))), np.zeros(width), []
    for at, table in enumerate(batch.tables):
        lines = 1
        for states in table.columns:
            strides[states.column, at] = lines
            lines *= len(states.masks)
            blanks[states.column] = len(states.masks) - 1
            if states.cuts is not None:
                cuts.append((states.column, place.array(states.cuts)))
    return Placed(
        cuts,
        place.array(blanks) if gaps else None,
        place.array(strides),
        [place.array(table.masks) for table in batch.tables],
        place.array(batch.values),
    )


def lines_of(codes: Any, batch: Placed) -> Any:
    """Which line of each table rows of codes (n, d) are in, (n, tables)."""
    torch = needed("torch", "torch")
    states = codes.clone() if batch.cuts else codes
    for column, cuts in batch.cuts:
        states[:, column] = torch.searchsorted(cuts, codes[:, column].contiguous(), right=True)
    if batch.blanks is not None:
        states = torch.where(codes <= MISSING, batch.blanks, states)
    return (states @ batch.strides).to(torch.int64)


def leaf_sums(masks: Sequence[Any], lines: Any, values: Any, classes: int) -> Any:
    """What the leaves of rows add to each class, (n, classes).

    All `masks` (lines, P) together leave one bit b of each piece, or none; what its leaf adds is in
    line 127 + b of `values`, or in the first.
    """
    torch = needed("torch", "torch")
    left = masks[0][lines[:, 0]]
    for at, table in enumerate(masks[1:], start=1):
        left = left & table[lines[:, at]]
    exponent = left.to(torch.float32).view(torch.int32) >> MANTISSA
    leaves = values.gather(0, exponent.to(torch.int64))
    return leaves.view(len(leaves), classes, -1).sum(dim=2, dtype=torch.float64)
