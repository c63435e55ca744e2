"""The last resort: the nearest training rows that meet the goal, made as sparse as possible.

Each neighbour is laid over the query as far as the constraints allow. From those that still reach
the goal two ways lead to a sparse example: taking over one value after the other, the best first,
until the goal is reached; and taking changes back from the whole neighbour. Both are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.search.reduction import halved, stripped
from macex.stages.shapes import Pool, Task


@dataclass(frozen=True, slots=True)
class NearestRow:
    """Start from rows known to reach the goal; strip them in at most `rounds` model calls.

    Where the caller limits the rows, only the `few` nearest are asked about, and they are made
    sparse before others are grown: an answer with a change too many is better than none.
    """

    rounds: int = 40
    few: int = 5

    def __call__(self, task: Task, near: Array, real: Array, gain: Array) -> Pool:
        """Valid examples from the neighbours `near` (Q, K, U), `real` (Q, K).

        `gain` (Q, U) is what is known of how much a change of each unit helps.
        """
        if task.judge.capped:
            near, real = near[:, : self.few], real[:, : self.few]
        codes, at = self._projected(task, near, real)
        if not len(at):
            return Pool.empty(task.space.width)
        verdict = task.judge(codes, at)
        changes = task.space.changed(codes, at).sum(axis=1)
        good = np.flatnonzero(verdict.reached & (changes > 0))
        distance = task.measure(codes[good], at[good])
        best = good[rank_within(at[good], changes[good], distance) < 2]
        pool = Pool(at[best], codes[best], verdict.progress[best])
        if task.judge.capped:
            pool = stripped(task, _shortened(task, pool, gain), self.rounds)
        pool = Pool.join([pool, self._grown(task, pool)], task.space.width)
        pool = stripped(task, pool, self.rounds)
        few = task.space.changed(pool.codes, pool.at).sum(axis=1) <= task.max_changes[pool.at]
        return pool.take(np.flatnonzero(few))

    def _projected(self, task: Task, near: Array, real: Array) -> tuple[Array, Array]:
        """The neighbours with every value that may not be set put back to the query's own."""
        at, place = np.nonzero(real)
        rows = near[at, place]
        for unit in range(task.space.width):
            ok = task.space.admits_one(at, unit, rows[:, unit]) & task.space.changeable[at, unit]
            rows[:, unit] = np.where(ok, rows[:, unit], task.queries[at, unit])
        return rows, at

    def _grown(self, task: Task, pool: Pool) -> Pool:
        """Start from the query and take over the neighbour's best value, one a round."""
        codes, progress = task.queries[pool.at], np.full(len(pool), -np.inf)
        reached = np.zeros(len(pool), bool)
        for _ in range(self.rounds):
            missing = (codes != pool.codes) & ~reached[:, None]
            example, unit = np.nonzero(missing)
            if not len(example) or task.judge.late:
                break
            rows = codes[example]
            rows[np.arange(len(example)), unit] = pool.codes[example, unit]
            verdict = task.judge(rows, pool.at[example])
            order = rank_within(example, ~verdict.reached, -verdict.progress, unit)
            best = np.flatnonzero(order == 0)
            codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
            reached[example[best]] = verdict.reached[best]
        return Pool(pool.at, codes, progress).take(np.flatnonzero(reached))


def _shortened(task: Task, pool: Pool, gain: Array) -> Pool:
    """Every example with as few of its changes as it needs, those that gain most made first."""
    changed = task.space.changed(pool.codes, pool.at)
    order = np.argsort(np.where(changed, -gain[pool.at], np.inf), axis=1, kind="stable")
    turn, steps = np.argsort(order, axis=1)[:, None], np.arange(changed.shape[1])[:, None]
    paths = np.where(turn <= steps, pool.codes[:, None], task.queries[pool.at][:, None])
    return halved(task, pool, paths, changed.sum(axis=1))
