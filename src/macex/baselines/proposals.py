"""What searches of rows share: rows of the wanted kind, seen values, and what proposals come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.ask.space import Space
from macex.ask.units import unit_codes
from macex.baselines.baseline import lawful
from macex.engine.batch import Outcome
from macex.schema import MISSING, Array, special
from macex.stages.arrays import distinct
from macex.stages.shapes import Pool, Task


class Judged(NamedTuple):
    """Proposals as they may be made, and what they come to."""

    at: Array  # (n,)
    codes: Array  # (n, U)
    fit: Array  # (n,) bool: the goal is reached with no more changes than allowed
    progress: Array  # (n,) minus infinity where the model was not asked

    @property
    def pool(self) -> Pool:
        """Those that are fit."""
        return Pool(self.at, self.codes, self.progress).take(np.flatnonzero(self.fit))


def rows_of(opened: Outcome, own: int) -> int:
    """The most rows that a query may cost: the caller's limit, else the method's `own`."""
    return own if opened.batch.question.max_rows is None else opened.batch.question.max_rows


def judged(task: Task, codes: Array, at: Array) -> Judged:
    """One model call for all proposals; values that may not be set are put back first."""
    rows = lawful(task, codes, at)
    verdict = task.judge(rows, at)
    changes = task.space.changed(rows, at).sum(axis=1)
    fit = verdict.reached & (changes > 0) & (changes <= task.max_changes[at])
    return Judged(at, rows, fit, verdict.progress)


def ranked(task: Task, pool: Pool) -> Pool:
    """Each row once, by query: those with the fewest changes first, of these the nearest."""
    pool = pool.take(distinct(pool.at, pool.codes))
    changes = task.space.changed(pool.codes, pool.at).sum(axis=1)
    return pool.take(np.lexsort((task.measure(pool.codes, pool.at), changes, pool.at)))


def nearest_first(task: Task, pool: Pool) -> Pool:
    """Each row once, by query, nearest first."""
    pool = pool.take(distinct(pool.at, pool.codes))
    return pool.take(np.lexsort((task.measure(pool.codes, pool.at), pool.at)))


def wanted_rows(opened: Outcome, query: int) -> Array:
    """The training rows that meet a query's goal, by unit, each once: (n, U)."""
    fitted, space = opened.fitted, opened.task.space
    rows = fitted.ground.codes[fitted.meeting(opened.goals, query)]
    return np.unique(unit_codes(space.units, rows), axis=0)


def ranges(space: Space) -> Array:
    """How far apart the lowest and highest value of each number are; 1 for others, (U,)."""
    wide = np.array([0.0 if unit.discrete else unit.high - unit.low for unit in space.units])
    return np.where(wide > 0, wide, 1.0)


def numbers(space: Space) -> Array:
    """Which units are numbers, (U,) bool."""
    return np.array([not unit.discrete for unit in space.units], dtype=bool)


def steps(space: Space, before: Array, after: Array) -> Array:
    """How far values are apart: numbers as a share of their range, others 1 (HEOM), (n, U)."""
    differs = before != after
    odd = special(before) | special(after) | ~numbers(space)
    with np.errstate(invalid="ignore"):
        return np.where(odd, differs, np.abs(after - before) / ranges(space))


def seen_values(space: Space, luck: Array) -> Array:
    """Values seen in training, as often as they were seen; `luck` (..., U) is chance."""
    found = np.empty(luck.shape)
    for place, unit in enumerate(space.units):
        share = np.cumsum(unit.counts) / max(1, unit.counts.sum())
        index = np.minimum(np.searchsorted(share, luck[..., place]), len(unit.seen) - 1)
        found[..., place] = unit.seen[index] if len(unit.seen) else MISSING
    return found


def snapped(space: Space, values: Array) -> Array:
    """Numbers (n, U) on their grids and in their ranges."""
    found = values.copy()
    for place, unit in enumerate(space.units):
        if not unit.discrete:
            found[:, place] = space.snap(place, values[:, place])
    return found


def given_back(task: Task, pool: Pool) -> Pool:
    """Changes taken back one after the other, smallest first, while the goal stays reached."""
    codes, progress = pool.codes.copy(), pool.progress.copy()
    size = steps(task.space, task.queries[pool.at], codes)
    order = np.argsort(size, axis=1, kind="stable")
    for turn in range(task.space.width):
        unit = order[:, turn]
        changed = task.space.changed(codes, pool.at)
        mine = np.flatnonzero(changed[np.arange(len(codes)), unit] & (changed.sum(axis=1) > 1))
        if not len(mine):
            continue
        rows = codes[mine]
        rows[np.arange(len(mine)), unit[mine]] = task.queries[pool.at[mine], unit[mine]]
        verdict = task.judge(rows, pool.at[mine])
        good = np.flatnonzero(verdict.reached)
        codes[mine[good]], progress[mine[good]] = rows[good], verdict.progress[good]
    return Pool(pool.at, codes, progress)
