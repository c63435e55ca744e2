"""Searching on from somewhere else than the query.

With hundreds of channels few levels of a search can be scored, and what a channel is worth alone
says little once others are changed. So a query without an answer goes on from its nearest miss: the
same search, with the miss in the place of the query. And an example with many channels is cut back
to the half it needs most, from where the search looks for fewer channels than were given up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macex.models.judge import Judge
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.nearest_row import NearestRow
from macex.stages.shapes import Candidates, Pool, Task

CLIMBS = 12  # how often a search goes on from a miss
SMALL = 4  # an example with as many channels, or fewer, is left as it is


def climbed(
    method: Exhaustive, task: Task, judge: Judge, every: Candidates, open_: Array
) -> list[Pool]:
    """Examples found by going on from the nearest misses, again and again."""
    pools: list[Pool] = []
    last = np.full(len(open_), -np.inf)
    for _ in range(CLIMBS):
        open_ = open_ & ~judge.finished & ~judge.ran_out & (judge.miss_progress > last)
        if not open_.any():
            break
        last = judge.miss_progress.copy()
        most = task.space.bounds.max_changes
        pools.append(_from(method, task, every, open_, judge.miss_codes, last, most))
        open_ = open_ & ~np.isin(np.arange(len(open_)), pools[-1].at)
    return pools


def regrown(
    method: Exhaustive, task: Task, judge: Judge, every: Candidates, pool: Pool
) -> list[Pool]:
    """The smallest example of every query without needless channels, and still smaller ones."""
    known = NearestRow().stripped(task, _smallest(task, pool))
    size = task.space.changed(known.codes, known.at).sum(axis=1)
    large = known.take(np.flatnonzero((size > SMALL) & ~judge.finished[known.at]))
    if not len(large):
        return [known]
    open_ = np.isin(np.arange(len(task.queries)), large.at)
    most = np.zeros(len(open_), int)
    most[known.at] = size - 1
    half = _halved(task, large)
    codes, progress = task.queries.copy(), task.base.copy()
    codes[half.at], progress[half.at] = half.codes, half.progress
    return [known, _from(method, task, every, open_, codes, progress, most)]


def _from(
    method: Exhaustive,
    task: Task,
    every: Candidates,
    open_: Array,
    codes: Array,
    progress: Array,
    most: Array,
) -> Pool:
    """Examples of at most `most` (Q,) changes that add to the changes already made in `codes`."""
    here = np.where(open_[:, None], codes, task.queries)
    changed = here != task.queries
    free = task.space.changeable & ~changed & open_[:, None]
    bounds = replace(task.space.bounds, max_changes=most - changed.sum(axis=1))
    space = replace(task.space, queries=here, changeable=free, bounds=bounds)
    real = every.real & free[:, every.unit] & (bounds.max_changes > 0)[:, None]
    part = replace(task, space=space, base=np.where(open_, progress, task.base))
    return method(part, replace(every, real=real, allowed=real)).pool


def _smallest(task: Task, pool: Pool) -> Pool:
    """The example with the fewest changes of every query."""
    size = task.space.changed(pool.codes, pool.at).sum(axis=1)
    rank = rank_within(pool.at, size, -pool.progress, np.arange(len(pool)))
    return pool.take(np.flatnonzero(rank == 0))


def _halved(task: Task, pool: Pool) -> Pool:
    """Examples without half of their changes, those taken back first that are missed least."""
    codes, progress = pool.codes.copy(), pool.progress.copy()
    size = task.space.changed(codes, pool.at).sum(axis=1)
    target = (size + 1) // 2
    while (size > target).any():
        changed = task.space.changed(codes, pool.at) & (size > target)[:, None]
        example, unit = np.nonzero(changed)
        rows = codes[example]
        rows[np.arange(len(example)), unit] = task.queries[pool.at[example], unit]
        verdict = task.judge(rows, pool.at[example])
        rank = rank_within(example, -verdict.progress, unit)
        gone = rank < np.maximum(1, np.minimum(size // 6, size - target))[example]
        codes[example[gone], unit[gone]] = task.queries[pool.at[example[gone]], unit[gone]]
        first = rank == 0
        progress[example[first]] = verdict.progress[first]
        size = task.space.changed(codes, pool.at).sum(axis=1)
    return Pool(pool.at, codes, progress)
