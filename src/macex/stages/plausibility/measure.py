"""How real a row looks, and the share of training rows that look less real.

Trees learn to tell training rows from copies in which one to three cells were swapped. A row in
which a total does not fit its factors, or two categories exclude each other, looks swapped to them,
however near its neighbours are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.schema import Array
from macex.stages.plausibility.inputs import Inputs, learn_inputs
from macex.stages.plausibility.swaps import swapped
from macex.stages.plausibility.trees import Sample, Trees, fit_trees

ROWS = 4500  # that are learnt from
COPIES = 3  # of each
FOLDS = 3
LEAST = 6  # training rows to compare with
COMPARED = 2000  # the most


@dataclass(frozen=True)
class Realness:
    """Trees that say how real a row looks: the higher, the more."""

    order: Array  # (d,) the columns by name, the order in which trees know them
    inputs: Inputs
    trees: Trees
    rows: Array  # the training rows that were learnt from
    unseen: Array  # (rows,) how real each looks to trees that have not learnt from it

    def __call__(self, codes: Array) -> Array:
        """How real rows of codes (n, d) look, (n,)."""
        return self.trees(self.inputs(codes[:, self.order]))

    def of_training(self, rows: Array, codes: Array) -> Array:
        """How real training rows look, given as positions (n,) and codes (n, d).

        A row that was learnt from is judged by the trees that have not learnt from it.
        """
        real = self(codes)
        if not len(self.rows):
            return real
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        learnt = self.rows[place] == rows
        real[learnt] = self.unseen[place[learnt]]
        return real


@dataclass(frozen=True)
class Compared:
    """How real rows look among some training rows; `usual` is how real these look, sorted."""

    realness: Realness
    usual: Array  # (R,)

    def share(self, codes: Array) -> Array:
        """The share of the training rows that look no more real than each row of codes (n, d).

        NaN where there are too few training rows.
        """
        if len(self.usual) < LEAST:
            return np.full(len(codes), np.nan)
        return np.searchsorted(self.usual, self.realness(codes), side="right") / len(self.usual)


def learn_realness(codes: Array, discrete: Array, order: Array) -> Realness:
    """Learn from training rows (T, d); `order` are the columns by name.

    The rows are dealt into three folds, and trees are fitted to each two of them, so that every
    row can be judged by trees that do not know it.
    """
    draw = np.random.default_rng(0)
    rows = np.sort(draw.permutation(len(codes))[:ROWS])
    source, discrete = codes[:, order], discrete[order]
    known = source[rows]
    copies = [swapped(known, source, draw) for _ in range(COPIES)]
    inputs = learn_inputs(known, copies[0][0], discrete)
    fold = draw.permutation(len(rows)) % FOLDS
    bins = [inputs(known), *(inputs(copy) for copy, _ in copies)]
    differs = [np.ones(len(rows), bool), *(one for _, one in copies)]
    parts = []
    for aside in range(FOLDS):
        learnt, left = (_sample(bins, differs, who) for who in (fold != aside, fold == aside))
        parts.append(fit_trees(learnt, left, inputs.sizes, inputs.unordered, draw))
    unseen = np.zeros(len(rows))
    for aside, trees in enumerate(parts):
        unseen[fold == aside] = trees(bins[0][:, fold == aside])
    return Realness(order, inputs, Trees.join(parts), rows, unseen)


def _sample(bins: list[Array], differs: list[Array], who: Array) -> Sample:
    """Real rows and their copies; both kinds weigh as much."""
    parts = [part[:, who & some] for part, some in zip(bins, differs, strict=True)]
    real = np.repeat(np.arange(len(parts)) == 0, [part.shape[1] for part in parts]).astype(float)
    share = real.sum() / max(1.0, (1 - real).sum())
    return Sample(np.concatenate(parts, axis=1), real, np.where(real > 0, 1.0, share))
