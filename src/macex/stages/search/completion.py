"""Completing a level that was cut to its beam, where candidates stand for every value.

Trees are cheap to ask, and a level that was scored whole is a proof. So a query that the beam did
not help has all its combinations scored, as long as they are not too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.search.combinations import Level, Singles, combinations
from macex.stages.shapes import Candidates, Pool, Task

BATCH_ROWS = 400_000  # rows in memory at a time


def paid(task: Task, rest: Candidates, complete: Array) -> tuple[Candidates, Array]:
    """What completes the single changes, and for whom, where the caller's limit pays for all of it.

    A part of it would prove nothing, and its rows are worth more for pairs.
    """
    if not task.judge.capped:
        return rest, complete
    at, entry = np.nonzero(rest.real)
    short = np.zeros(len(complete), bool)
    short[at[~task.judge.affordable(at, lambda: rest.turns(at, entry))]] = True
    return replace(rest, real=rest.real & ~short[:, None]), complete & ~short


def to_complete(
    task: Task, singles: Singles, pools: list[Pool], queries: Array, size: int
) -> Array:
    """The queries without an example of `size` changes or fewer whose level is small enough."""
    if task.prefer != "fewest" or task.grid is None or singles.candidates.whole is None:
        return queries[:0]
    found = Pool.join(pools, task.space.width)
    small = task.space.changed(found.codes, found.at).sum(axis=1) <= size
    lost = ~np.isin(queries, found.at[small])
    lost &= singles.candidates.whole[queries] & ~task.judge.finished[queries]
    queries = queries[lost]
    return queries[_rows(singles, queries, size, task.space.width) <= task.grid.proof_rows]


def batches(singles: Singles, queries: Array, size: int, width: int) -> Iterator[Array]:
    """The queries in parts whose combinations fit into memory."""
    rows = np.cumsum(_rows(singles, queries, size, width))
    part = (rows / BATCH_ROWS).astype(int)
    for number in np.unique(part):
        yield queries[part == number]


def _rows(singles: Singles, queries: Array, size: int, width: int) -> Array:
    return combinations(singles, queries, width, size)


def worth_keeping(level: Level, most: int) -> Level:
    """The rows that reach their goals, and for each query the best few of the others."""
    rank = rank_within(level.at, level.reached, -level.progress, np.arange(len(level.at)))
    keep = np.flatnonzero(level.reached | (rank < most))
    return Level(*(part[keep] for part in level))


def joined(first: Level, then: Level) -> Level:
    """The rows of both."""
    if not len(then.at):
        return first
    return Level(*(np.concatenate(pair) for pair in zip(first, then, strict=True)))
