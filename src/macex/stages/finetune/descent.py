"""Gradientless descent (the paper's Algorithm 4).

Every round draws, for each of K = floor(log2(R / r)) radii 2^-k R, one point around the present
one, with a normal draw for every changed number; columns are scaled to [0, 1] by their training
range, and points are clipped to it and put on the grid before they are scored. The nearest point
that reaches the goal becomes the present one if it is nearer. As printed, the present point moves
to the best of every round, nearer or not, and the best of all rounds is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import OptionError, require_counts, require_pair
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.shapes import Pool, Task


@dataclass(frozen=True, slots=True)
class GradientlessDescent:
    """The paper's fine-tuning: `rounds` is T, `radius` is (r, R).

    >>> GradientlessDescent().radii.tolist()[:3], len(GradientlessDescent().radii)
    ([0.125, 0.0625, 0.03125], 8)
    """

    rounds: int = 20
    radius: tuple[float, float] = (0.0005, 0.25)

    def __post_init__(self) -> None:
        require_counts(self, "rounds")
        low, high = require_pair("GradientlessDescent(radius=)", self.radius)
        if not 0 < low < high:
            raise OptionError(
                f"GradientlessDescent(radius=) must be (small, large), not {self.radius!r}"
            )

    @property
    def radii(self) -> Array:
        """The radii of a round: r_k = 2^-k R for k = 1 .. floor(log2(R / r))."""
        low, high = self.radius
        steps = np.arange(1, int(np.floor(np.log2(high / low))) + 1)
        return np.asarray(high * 2.0**-steps)

    def __call__(self, task: Task, pool: Pool) -> Pool:
        """The pool with every example moved toward its query."""
        codes, progress = pool.codes.copy(), pool.progress.copy()
        moving = task.space.moved_numbers(pool.codes, pool.at)  # C of Algorithm 4
        who = np.flatnonzero(moving.any(axis=1))
        if not len(who):
            return pool
        draws = task.draws.of(pool.at[who], pool.codes[who])
        for turn in range(self.rounds):
            if task.judge.late:
                break
            noise = draws.normal("descent", turn * len(self.radii), len(self.radii))
            rows = self._around(task, codes[who], moving[who], noise)
            example = np.repeat(who, len(self.radii))
            fresh = _lawful(task, rows, pool.at[example], moving[example])
            verdict = task.judge(rows[fresh], pool.at[example[fresh]])
            self._move(task, rows[fresh], example[fresh], verdict, codes, progress, pool.at)
        return Pool(pool.at, codes, progress)

    def _around(self, task: Task, codes: Array, moving: Array, noise: Array) -> Array:
        """One point per radius around each row, flattened to (rows * K, U)."""
        points = np.repeat(codes[:, None], len(self.radii), axis=1)  # (E, K, U)
        for place in np.flatnonzero(moving.any(axis=0)):
            unit = task.space.units[place]
            width = (unit.high - unit.low) or 1.0
            step = noise[:, :, place] * self.radii[None, :] * width
            moved = task.space.snap(int(place), points[:, :, place] + step)
            points[:, :, place] = np.where(moving[:, None, place], moved, points[:, :, place])
        return points.reshape(-1, codes.shape[1])

    def _move(
        self,
        task: Task,
        rows: Array,
        example: Array,
        verdict: Any,
        codes: Array,
        progress: Array,
        at: Array,
    ) -> None:
        good = np.flatnonzero(verdict.reached)
        if not len(good):
            return
        owner = example[good]
        distance = task.measure(rows[good], at[owner])
        better = distance < task.measure(codes[owner], at[owner]) - 1e-12
        good, owner, distance = good[better], owner[better], distance[better]
        best = rank_within(owner, distance, np.arange(len(good))) == 0
        codes[owner[best]] = rows[good[best]]
        progress[owner[best]] = verdict.progress[good[best]]


def _lawful(task: Task, rows: Array, at: Array, moving: Array) -> Array:
    """Rows whose moved numbers stay changes that may be made."""
    ok = np.ones(len(rows), bool)
    for place in np.flatnonzero(moving.any(axis=0)):
        fits = task.space.admits_one(at, int(place), rows[:, place])
        ok &= fits | ~moving[:, place]
    return ok
