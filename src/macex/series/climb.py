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
    known = given_back(task, _smallest(task, pool))
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
    """Examples of at most `most` (Q,) changes that add to the changes already made in `codes`.

    It goes twice as deep as from the query, where few levels say more than many.
    """
    here = np.where(open_[:, None], codes, task.queries)
    changed = here != task.queries
    free = task.space.changeable & ~changed & open_[:, None]
    bounds = replace(task.space.bounds, max_changes=most - changed.sum(axis=1))
    space = replace(task.space, queries=here, changeable=free, bounds=bounds)
    real = every.real & free[:, every.unit] & (bounds.max_changes > 0)[:, None]
    base = np.where(open_ & np.isfinite(progress), progress, task.base)
    part = replace(task, space=space, base=base)
    deeper = replace(method, deepest=2 * method.deepest)
    return deeper(part, replace(every, real=real, allowed=real)).pool


def _smallest(task: Task, pool: Pool) -> Pool:
    """The example with the fewest changes of every query."""
    size = task.space.changed(pool.codes, pool.at).sum(axis=1)
    rank = rank_within(pool.at, size, -pool.progress, np.arange(len(pool)))
    return pool.take(np.flatnonzero(rank == 0))


def given_back(task: Task, pool: Pool) -> Pool:
    """Examples without the changes they do not need, at most two model calls a round.

    A round undoes each change alone, then those that are missed least together, as many as hold.
    """
    codes, progress = pool.codes.copy(), pool.progress.copy()
    open_ = np.ones(len(pool), bool)
    while open_.any():
        changed = task.space.changed(codes, pool.at)
        example, unit = np.nonzero(changed & (open_ & (changed.sum(axis=1) > 1))[:, None])
        if not len(example):
            break
        alone = task.judge(_undone(task, pool.at, codes, example, unit), pool.at[example])
        good = np.flatnonzero(alone.reached)
        turn = rank_within(example[good], -alone.progress[good], unit[good])
        spare = turn < changed.sum(axis=1)[example[good]] - 1
        good, turn = good[spare], turn[spare]
        rows = np.stack([codes[example[one]] for one in good]) if len(good) else codes[:0]
        for line, one in enumerate(good):
            mine = good[(example[good] == example[one]) & (turn <= turn[line])]
            rows[line, unit[mine]] = task.queries[pool.at[example[one]], unit[mine]]
        open_ = np.zeros(len(pool), bool)
        if not len(good):
            break
        together = task.judge(rows[turn > 0], pool.at[example[good[turn > 0]]])
        holds, worth = turn == 0, alone.progress[good]
        holds[turn > 0], worth[turn > 0] = together.reached, together.progress
        held = np.flatnonzero(holds)
        best = held[rank_within(example[good[held]], -turn[held]) == 0]
        codes[example[good[best]]], progress[example[good[best]]] = rows[best], worth[best]
        open_[example[good[best]]] = True
    return Pool(pool.at, codes, progress)


def _halved(task: Task, pool: Pool) -> Pool:
    """Examples without the half of their changes that are missed least, each alone."""
    codes = pool.codes.copy()
    example, unit = np.nonzero(task.space.changed(codes, pool.at))
    verdict = task.judge(_undone(task, pool.at, codes, example, unit), pool.at[example])
    gone = rank_within(example, -verdict.progress, unit) < (np.bincount(example) // 2)[example]
    codes[example[gone], unit[gone]] = task.queries[pool.at[example[gone]], unit[gone]]
    return Pool(pool.at, codes, pool.progress)


def _undone(task: Task, at: Array, codes: Array, example: Array, unit: Array) -> Array:
    """Examples with one change undone each."""
    rows = codes[example]
    rows[np.arange(len(example)), unit] = task.queries[at[example], unit]
    return rows
