"""What the engine makes of the training rows: a sample, what is learnt later, a tree model's cells.

The sample covers labels and categories. Every label that the model gives keeps its rows, up to an
equal share; every category that occurs is in at least one sampled row, as far as there is room. The
other rows are drawn at random with the seed. The schema is that of all rows: ranges, categories and
their frequencies.

How real rows look and how values are distributed is learnt when it is first needed, and then kept.
The cells of a tree model are read once and checked against the model itself.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.units import Ground
from macex.errors import OptionError
from macex.models.oracle import Oracle
from macex.models.quick import Quick
from macex.models.trees import cuts
from macex.schema import Array, Schema, special
from macex.schema.distributions import Distributions, distributions
from macex.stages.plausibility.distance import evenly
from macex.stages.plausibility.measure import Realness, learn_realness
from macex.stages.thresholds import CellGrid, Thresholds

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.engine.fitted import Fitted
    from macex.engine.options import Options


def covering(schema: Schema, codes: Array, label: Array, most: int, seed: int) -> Array:
    """Positions of at most `most` of the rows (T, d), in order.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"town": ["Ulm"] * 999 + ["Bonn"], "age": range(1000)})
    >>> schema = Schema.infer(data)
    >>> label = (data["age"] >= 990).to_numpy(int)
    >>> kept = covering(schema, schema.read(data).codes, label, 50, seed=0)
    >>> len(kept), int(label[kept].sum()), 999 in kept
    (50, 10, True)
    """
    draw = np.random.default_rng(seed % 2**32).permutation(len(codes))
    rank = np.empty(len(codes), np.int64)  # the turn of each row
    rank[draw] = np.arange(len(codes))
    rank[_one_of_each(schema, codes, draw)] -= len(codes)
    chosen = []
    for value, share in _shares(label, most).items():
        mine = np.flatnonzero(label == value)
        chosen.append(mine[np.argsort(rank[mine], kind="stable")[:share]])
    return np.sort(np.concatenate(chosen))


def _one_of_each(schema: Schema, codes: Array, draw: Array) -> Array:
    """For every category the first row drawn that has it."""
    found = [
        np.unique(codes[draw, place], return_index=True)[1]
        for place, column in enumerate(schema.columns)
        if column.discrete
    ]
    return draw[np.unique(np.concatenate([np.zeros(0, np.intp), *found]))]


def _shares(label: Array, most: int) -> dict[int, int]:
    """How many rows each label keeps: equal shares, what some cannot use going to the others.

    >>> _shares(np.array([0] * 90 + [1] * 8 + [2] * 2), 20)
    {2: 2, 1: 8, 0: 10}
    """
    values, counts = np.unique(label, return_counts=True)
    shares, left = {}, most
    for turn, at in enumerate(np.argsort(counts, kind="stable").tolist()):
        shares[int(values[at])] = share = min(int(counts[at]), left // (len(values) - turn))
        left -= share
    return shares


COUNTED = 50_000  # training rows, evenly spaced, whose values are counted at most


def realness_of(ground: Ground, oracle: Oracle | None = None) -> Realness:
    """Learnt from the columns that the model reads, or from all."""
    columns, unread = ground.schema.columns, oracle.unread(ground.schema) if oracle else []
    by_name = sorted(range(len(columns)), key=lambda place: columns[place].name)
    order = [place for place in by_name if columns[place].name not in unread]
    discrete = np.array([column.discrete for column in columns], dtype=bool)
    return learn_realness(ground.codes, discrete, np.array(order))


class Learning:
    """Learns from all columns while a model in another process is waited for."""

    def __init__(self, model: Any, ground: Ground, options: Options) -> None:
        self._ground = ground
        self._begun: Future[Realness] | None = None
        whole = options.plausibility == "learned" and options.sample is None
        if whole and hasattr(model, "prepared_for"):
            beside = ThreadPoolExecutor(1)
            self._begun = beside.submit(realness_of, ground)
            beside.shutdown(wait=False)

    def learnt(self, oracle: Oracle) -> dict[str, Any]:
        """What is known now; nothing where the model leaves columns out."""
        if self._begun is None or oracle.unread(self._ground.schema):
            return {}
        return {"realness": self._begun.result()}


def distributions_of(fitted: Fitted) -> Distributions | None:
    """The distributions of training; None where a private file does not know them."""
    if "distributions" not in fitted.learnt:
        fitted.learnt["distributions"] = None if fitted.ground.private else _counted(fitted)
    found: Distributions | None = fitted.learnt["distributions"]
    return found


def _counted(fitted: Fitted) -> Distributions:
    rows = evenly(np.arange(len(fitted.ground.codes)), COUNTED)
    codes = fitted.ground.codes[rows]
    decision = np.maximum(fitted.answers.decision[rows], 0)  # a bare score decides nothing
    return distributions(fitted.ground.schema, codes, decision, max(1, fitted.outlook.width))


SAMPLE = 256


def grid_of(
    model: Any, oracle: Oracle, ground: Ground, answers: Answers, options: Options
) -> CellGrid | None:
    """The cells that the model's splits make, if candidates are to be made of them."""
    choice = options.candidates
    if not isinstance(choice, Thresholds):
        return None
    trees = model if choice.trees is None else choice.trees
    trees = trees.original if isinstance(trees, Quick) else trees
    grid = CellGrid.of(ground.schema.columns, cuts(trees, ground.schema), choice.proof_rows)
    _check(grid, oracle, ground, answers)
    return grid


def _check(grid: CellGrid, oracle: Oracle, ground: Ground, answers: Answers) -> None:
    """Refuse cells within which the model's answers differ: it is not what was read."""
    at = np.unique(np.linspace(0, len(ground.codes) - 1, SAMPLE).astype(int))
    codes, said = ground.codes[at], answers.scores[at]
    if _same(oracle, ground, _moved(grid, codes, list(grid.cells)), said):
        return
    for column in grid.cells:
        moved = _moved(grid, codes, [column])
        if not _same(oracle, ground, moved, said):
            name = ground.schema.names[column]
            raise OptionError(
                f'candidates="thresholds": the model answers differently for values of {name!r} '
                "between which the trees have no split; something else than these trees answers"
            )


def _same(oracle: Oracle, ground: Ground, codes: Array, said: Array) -> bool:
    now = oracle(ground.schema.frame(codes), len(codes)).scores
    return bool(np.allclose(now, said, rtol=1e-4, atol=10 * oracle.outlook.unit))


def _moved(grid: CellGrid, codes: Array, columns: list[int]) -> Array:
    """Rows whose numbers are moved to an end of their cells: the first and the last in turn."""
    moved = codes.copy()
    for column in columns:
        cells, own = grid.cells[column], codes[:, column]
        if not len(cells.first):
            continue
        home = cells.home(own)
        inside = ~special(own) & (own >= cells.first[home]) & (own <= cells.last[home])
        end = np.where(np.arange(len(own)) % 2, cells.first[home], cells.last[home])
        moved[:, column] = np.where(inside, end, own)
    return moved
