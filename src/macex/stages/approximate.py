"""Nearest rows among more training rows than can all be compared.

Up to about 200,000 rows that meet a goal every row is compared. Beyond, `faiss_indexes` proposes
rows; their distances are then found exactly, and ties broken by the order of the training rows, as
in `neighbors`. How many of the true nearest rows are found that way, the recall, is measured once
on rows of the training data, and more rows are looked at until it suffices.

Rows that may be compared on some columns only need no index of their own. Those that agree in all
compared columns are held once, which often leaves few enough to look at all of them. Else the
lists of all columns are asked with weights of 0 for the others; graphs cannot be asked so, and all
rows are compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.schema import Array, row_keys
from macex.stages.arrays import first_of_each
from macex.stages.faiss_indexes import Graphs, Lists, faiss
from macex.stages.features import Features
from macex.stages.neighbors import NeighborIndex, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

EXACT = 200_000  # rows that are all compared
FEW = 1000  # the same, where an index was asked for by name
ENOUGH = 0.998  # the recall that is aimed at, on the sample
LABELS, QUERIES = 4, 50  # the sample: labels, and rows for each
BLOCK = 4_000_000  # bins of proposed rows held at once
WIDEST = 4096  # rows proposed to a query at most

KINDS: dict[str, type[Lists | Graphs]] = {"ivf": Lists, "hnsw": Graphs}


class ManyRows(NamedTuple):
    """Many training rows made ready to be searched on some columns."""

    match: Array  # (d,) bool: the columns that are compared
    among: Any  # the rows, as the finder wants them


@dataclass
class Approximate:
    """The neighbour index of very many rows; `recall` is that of all columns, on the sample."""

    index: NeighborIndex
    features: Features
    finder: Lists | Graphs
    limit: int = EXACT
    recall: float = 1.0

    @property
    def text(self) -> str:
        """What is searched, in words."""
        kind = next(name for name, known in KINDS.items() if isinstance(self.finder, known))
        return f"{kind} index of {len(self.index.distinct):,} rows, recall {self.recall:.3f}"

    def side(self, rows: Array, match: Array) -> Side | ManyRows:
        """Distinct training rows, in order, ready for `nearest`."""
        if len(rows) > self.limit:
            rows = self.apart(rows, match)
        if len(rows) <= self.limit:
            return self.index.side(rows, match)
        allowed = np.zeros(len(self.index.distinct), bool)
        allowed[np.searchsorted(self.index.distinct, rows)] = True
        among = self.finder.among(allowed, match)
        return self.index.side(rows, match) if among is None else ManyRows(match, among)

    def apart(self, rows: Array, match: Array) -> Array:
        """The first rows of those that agree in all compared columns."""
        if match.all():
            return rows
        _, first = np.unique(row_keys(self.index.binned[rows][:, match]), return_index=True)
        return rows[np.sort(first)]

    def nearest(self, binned: Array, side: Side | ManyRows, count: int) -> tuple[Array, Array]:
        """The nearest rows to each query (Q, d), and which of them are real.

        Rows that agree with the query, or with a nearer row, in all compared columns are passed
        over.
        """
        if isinstance(side, Side):
            return self.index.nearest(binned, side, count)
        found = np.zeros((len(binned), count), np.intp)
        real = np.zeros((len(binned), count), bool)
        width, todo = 2 * count, np.arange(len(binned))
        while len(todo):
            step = max(1, BLOCK // (width * binned.shape[1]))
            for start in range(0, len(todo), step):
                part = todo[start : start + step]
                found[part], real[part] = self._ranked(binned[part], side, width, count)
            todo = todo[~real[todo].all(axis=1)]
            if width >= min(WIDEST, len(self.index.distinct)):
                break
            width *= 4
        return found, real

    def _ranked(
        self, binned: Array, crowd: ManyRows, width: int, count: int
    ) -> tuple[Array, Array]:
        """The nearest of `width` proposed rows, ties in the order of the training rows."""
        hits = np.sort(self.finder.hits(binned, crowd.match, crowd.among, width), axis=1)
        rows = self.index.distinct[hits]
        others = self.index.binned[rows]  # (query, hit, d)
        gaps = self.features.gaps(binned, others, crowd.match)
        order = np.argsort(np.where(hits < 0, np.inf, gaps), axis=1, kind="stable")
        keys = np.take_along_axis(row_keys(others[:, :, crowd.match]), order, axis=1)
        fresh = first_of_each(keys) & (keys != row_keys(binned[:, crowd.match])[:, None])
        fresh &= np.take_along_axis(hits, order, axis=1) >= 0
        rank = np.cumsum(fresh, axis=1) - 1
        line, place = np.nonzero(fresh & (rank < count))
        found = np.zeros((len(binned), count), np.intp)
        real = np.zeros((len(binned), count), bool)
        found[line, rank[line, place]] = rows[line, order[line, place]]
        real[line, rank[line, place]] = True
        return found, real


def approximate(
    index: NeighborIndex, kind: str, seed: int, count: int, kept: Mapping[str, Array] | None = None
) -> Approximate | None:
    """The index for as many rows as there are; None where all of them are compared.

    `kind` is `"auto"`, `"exact"`, `"ivf"` or `"hnsw"`, `count` how many neighbours are sought,
    `kept` what `arrays_of` gave, so that nothing is learnt again.
    """
    if kind == "exact" or (kind == "auto" and not _installed(_largest_goal(index))):
        return None
    features = Features.of(index)
    binned, group = index.binned[index.distinct], index.group[index.distinct]
    of = KINDS["ivf" if kind == "auto" else kind]
    limit = EXACT if kind == "auto" else FEW
    if kept:
        finder = of.read(features, binned, group, dict(kept))
        return Approximate(index, features, finder, limit, float(kept["recall"][0]))
    made = Approximate(index, features, of.built(features, binned, group, seed), limit)
    _tune(made, count)
    return made


def arrays_of(made: Approximate) -> dict[str, Array]:
    """What `approximate` needs to make the same index again."""
    return {**made.finder.arrays(), "recall": np.array([made.recall])}


def _largest_goal(index: NeighborIndex) -> int:
    """How many rows a goal has at most: one label, or any other than a row's own."""
    counts = np.unique(index.group[index.distinct], return_counts=True)[1]
    return int(max(counts.max(), counts.sum() - counts.min()))


def _installed(rows: int) -> bool:
    """Whether an index is needed, and can be had; a warning where it cannot."""
    if rows <= EXACT:
        return False
    try:
        faiss()
    except ImportError:
        warnings.warn(
            f"every one of {rows:,} rows is compared to find neighbours, which takes long: "
            "pip install macex[ann] finds them by an index",
            stacklevel=2,
        )
        return False
    return True


def _tune(made: Approximate, count: int) -> None:
    """Look at more rows until most of the true nearest ones are found."""
    sample = _sample(made, count)
    made.recall = recall(made, sample, count)
    while made.recall < ENOUGH and made.finder.look < made.finder.most:
        made.finder.look *= 2
        made.recall = recall(made, sample, count)


class RecallSample(NamedTuple):
    """Queries, the goal rows they are compared with, and how far the last true neighbour is."""

    binned: Array  # (q, d)
    side: Side | ManyRows
    edge: Array  # (q,)
    there: int  # how many true neighbours there are for all of them


def recall(made: Approximate, sample: list[RecallSample], count: int) -> float:
    """How many rows no farther than the last true neighbour are found, of those there are."""
    shares = []
    for binned, side, edge, there in sample:
        rows, real = made.nearest(binned, side, count)
        gaps = made.features.gaps(binned, made.index.binned[rows], side.match)
        shares.append((real & (gaps <= edge[:, None])).sum() / max(1, there))
    return float(np.mean(shares)) if shares else 1.0


def _sample(made: Approximate, count: int) -> list[RecallSample]:
    """Rows of other labels for the largest labels; rows of all where there is one label."""
    index, rows = made.index, made.index.distinct
    labels, sizes = np.unique(index.group[rows], return_counts=True)
    found = []
    for label in labels[np.argsort(-sizes, kind="stable")][:LABELS]:
        goal = rows[index.group[rows] == label]
        if len(goal) <= made.limit:
            continue
        others = rows if len(labels) == 1 else rows[index.group[rows] != label]
        asked = others[np.linspace(0, len(others) - 1, QUERIES).astype(int)]
        found.append(sampled(made, index.binned[asked], goal, count))
    return found


def sampled(
    made: Approximate, binned: Array, rows: Array, count: int, match: Array | None = None
) -> RecallSample:
    """Queries (q, d), and what is to be found for them among rows that meet a goal."""
    match = np.ones(binned.shape[1], bool) if match is None else match
    side, rows = made.side(rows, match), made.apart(rows, match)
    gaps = np.full((len(binned), count), np.inf)
    for start in range(0, len(rows), EXACT):
        part = made.index.side(rows[start : start + EXACT], match)
        found, real = made.index.nearest(binned, part, count)
        near = made.features.gaps(binned, made.index.binned[found], match)
        both = np.concatenate([gaps, np.where(real, near, np.inf)], axis=1)
        gaps = np.sort(both, axis=1)[:, :count]
    return RecallSample(binned, side, gaps[:, -1], int(np.isfinite(gaps).sum()))
