"""Taking back changes that an example does not need."""

from __future__ import annotations

import numpy as np

from macex.schema import Array
from macex.stages.arrays import including, rank_within
from macex.stages.shapes import Pool, Task


def without_idle(task: Task, pool: Pool) -> Pool:
    """Of the examples whose changed units include all of another's only those that need them."""
    changed = task.space.changed(pool.codes, pool.at)
    holds = including(changed, pool.at, changed, pool.at, proper=True)
    return Pool.join([pool.take(~holds), needed(task, pool.take(holds))], task.space.width)


def needed(task: Task, pool: Pool) -> Pool:
    """The examples none of whose changes can be taken back alone, as far as that can be asked."""
    if not len(pool):
        return pool
    example, unit = np.nonzero(task.space.changed(pool.codes, pool.at))
    rows, at = pool.codes[example], pool.at[example]
    rows[np.arange(len(at)), unit] = task.queries[at, unit]
    without = task.judge(rows, at)
    unknown = np.isneginf(without.progress) & task.judge.ran_out[at]
    return pool.take(np.setdiff1d(np.arange(len(pool)), example[without.reached | unknown]))


def halved(task: Task, ends: Pool, paths: Array, length: Array) -> Pool:
    """The shortest beginnings of paths (n, steps, U) that reach the goal, found by halving.

    A path has `length` (n,) steps, of which the first is known to be too few. It is known to reach
    the goal at its end where that has progress; it is asked about elsewhere, and given up if not.
    """
    low, high = np.ones_like(length), length.copy()
    codes, progress = ends.codes.copy(), ends.progress.copy()
    unknown = np.isneginf(progress)
    step = np.where(unknown, length, (1 + length) // 2)
    open_ = np.flatnonzero((length > 1) & (unknown | (length > 2)))
    while len(open_) and not task.judge.late:
        tried = paths[open_, step[open_] - 1]
        verdict = task.judge(tried, ends.at[open_])
        good, bad = open_[verdict.reached], open_[~verdict.reached]
        codes[good], progress[good] = tried[verdict.reached], verdict.progress[verdict.reached]
        high[good], low[bad] = step[good], step[bad]
        step = (low + high) // 2
        open_ = np.flatnonzero(np.isfinite(progress) & (high - low > 1))
    return Pool(ends.at, codes, progress).take(np.flatnonzero(np.isfinite(progress)))


def stripped(task: Task, pool: Pool, rounds: int = 40) -> Pool:
    """Every example without changes it can do without, in at most `rounds` model calls.

    Changes are taken back in large blocks first; what stays at the end is needed, one by one.
    """
    codes, progress = pool.codes.copy(), pool.progress.copy()
    size = np.maximum(task.space.changed(codes, pool.at).sum(axis=1) // 2, 1)  # (E,) per block
    for _ in range(rounds):
        if task.judge.late:
            break
        rows, example = _undone(task, codes, pool.at, size)
        if not len(example):
            break
        verdict = task.judge(rows, pool.at[example])
        good = np.flatnonzero(verdict.reached)
        best = good[rank_within(example[good], -verdict.progress[good], good) == 0]
        codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
        stuck = np.setdiff1d(np.arange(len(pool)), example[best])
        size[stuck] //= 2
    return Pool(pool.at, codes, progress)


def _undone(task: Task, codes: Array, at: Array, size: Array) -> tuple[Array, Array]:
    """Every example with each block of `size` of its changes undone, one block a row."""
    rows, example = [np.zeros((0, codes.shape[1]))], []
    changed = task.space.changed(codes, at)
    for place, most in enumerate(size):
        units = np.flatnonzero(changed[place])
        width = min(int(most), len(units) // 2)
        if width < 1:
            continue
        for start in range(0, len(units), width):
            row = codes[place].copy()
            block = units[start : start + width]
            if len(block) < len(units):
                row[block] = task.queries[at[place], block]
                rows.append(row[None])
                example.append(place)
    return np.concatenate(rows), np.array(example, dtype=np.intp)
