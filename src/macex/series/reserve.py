"""Neighbors in reserve: they are not searched, but may give the channels that a search found.

A search over many neighbors is dear. Which few channels suffice is known after it, so that one row
tells whether another neighbor's do as well. Some of those are farther from the edge.
"""

from __future__ import annotations

import numpy as np

from macex.schema import Array
from macex.series.climb import SMALL
from macex.series.outcome import SeriesOutcome
from macex.series.search import by_unit
from macex.stages.arrays import rank_within
from macex.stages.shapes import Pool, Task

SETS = 3  # of channels, the smallest, that an answer is sought with


def reserved(outcome: SeriesOutcome, pool: Pool) -> Pool:
    """Examples that take the channels of some in the pool from a neighbor in reserve."""
    task, choice = outcome.task, outcome.fitted.options.candidates
    first, last = choice.count(outcome.offered.shape[2]), outcome.offered.shape[1]
    if first == last or outcome.judge.late:
        return Pool.empty(task.space.width)
    at, sets = _smallest(task, pool)
    whose, units = np.repeat(at, last - first), np.repeat(sets, last - first, axis=0)
    rank = np.tile(np.arange(first, last), len(at))  # of the neighbor that all are taken from
    differs = by_unit(task.space, outcome.offered[whose, rank][:, None])[:, :, 0]
    some = np.flatnonzero((differs | ~units).all(axis=1))
    codes = np.where(units, rank[:, None] + 1.0, task.queries[whose])[some]
    verdict = task.judge(codes, whose[some])
    good = np.flatnonzero(verdict.reached)
    return Pool(whose[some[good]], codes[good], verdict.progress[good])


def _smallest(task: Task, pool: Pool) -> tuple[Array, Array]:
    """The smallest sets of few units that suffice, (S, U) bool, and whose they are (S,)."""
    changed = task.space.changed(pool.codes, pool.at)
    few = changed.sum(axis=1) <= SMALL
    sets = np.unique(np.column_stack([pool.at[few], changed[few]]), axis=0)
    at, units = sets[:, 0].astype(np.intp), sets[:, 1:].astype(bool)
    chosen = rank_within(at, units.sum(axis=1), np.arange(len(at))) < SETS * task.count
    return at[chosen], units[chosen]
