"""Gradient descent on a score, with or without its gradients, for all queries in step.

Minimised is `weight * miss**2 + sparse * |z| + square * z**2 + pull * (z - aim)**2`, where z are
the changes of numbers in units of their scales and `miss` is how far the goal is missed. The
model's part of the gradient comes from finite differences, one row a number, unless a `slope` is
handed in; the absolute values are treated by soft thresholds (ISTA), so that numbers that do not
help stay where they are. The weight grows while the goal is missed and falls while it is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from macex.baselines.baseline import open_queries
from macex.baselines.proposals import judged, numbers, rows_of, snapped
from macex.engine.batch import Outcome
from macex.schema import Array, special
from macex.stages.shapes import Pool, Task

RATE = 0.1  # the length of a step
STEP = 0.1  # of finite differences, in scales
MARGIN = 0.05  # how far beyond the goal the descent aims
MOST = 6.0  # log odds beyond which a model is as sure as can be
UP, DOWN = 1.3, 0.8  # how the weight of the goal changes
MOST_STEPS = 100
LONGEST = 0.5  # that one step moves a number, in scales
Slope = Callable[[Task, Array, Array, Array], Array]
"""(task, rows (q, U), their queries, what is free) -> how progress grows with each number."""


@dataclass(frozen=True)
class Descent:
    """What is minimised, and from where."""

    scale: Array  # (U,) of numbers
    sparse: float = 1.0
    square: float = 0.0
    pull: float = 0.0
    aim: Array | None = None  # (Q, U) rows that z is pulled to
    slope: Slope | None = None  # gradients of the model, where it has them

    def __call__(self, opened: Outcome, own_rows: int) -> Pool:
        """All rows on the way that reach their goals; categories stay as they are."""
        task = opened.task
        own = task.queries
        free = numbers(task.space) & task.space.changeable & ~special(own)
        change, weight = np.zeros(own.shape), np.ones(len(own))
        open_ = open_queries(opened) & free.any(axis=1)
        pools: list[Pool] = []
        for _ in range(min(MOST_STEPS, max(1, rows_of(opened, own_rows) // 2))):
            at = np.flatnonzero(open_ & ~task.judge.ran_out)
            if not len(at) or task.judge.late:
                break
            rows = snapped(task.space, np.where(free, own + change * self.scale, own)[at])
            rows = np.where(free[at], rows, own[at])
            here = judged(task, rows, at)
            pools.append(here.pool)
            if self.slope is None:
                slope = self._differences(task, rows, at, free, here.progress)
            else:
                slope = self.slope(task, rows, at, free) * self.scale
            change[at] = self._moved(own, change, at, weight, here.progress, slope)
            weight[at] *= np.where(here.fit, DOWN, UP)
        return Pool.join(pools, task.space.width)

    def _differences(
        self, task: Task, rows: Array, at: Array, free: Array, progress: Array
    ) -> Array:
        """How progress grows with each number, (q, U), by finite differences."""
        place, unit = np.nonzero(free[at])
        moved, line = rows[place], np.arange(len(place))
        grid = np.array([unit.step for unit in task.space.units])
        size = np.maximum(STEP * self.scale, grid)[unit]
        for way in (1.0, -1.0):  # the other way where there is no room
            stuck = moved[line, unit] == rows[place, unit]
            moved[line[stuck], unit[stuck]] += way * size[stuck]
            moved = snapped(task.space, moved)
        gone = (moved[line, unit] - rows[place, unit]) / self.scale[unit]
        verdict = task.judge(moved, at[place])
        known = np.isfinite(verdict.progress) & (gone != 0) & np.isfinite(progress[place])
        slope = np.zeros(rows.shape)
        gain = np.clip(verdict.progress, -MOST, MOST) - np.clip(progress[place], -MOST, MOST)
        slope[place[known], unit[known]] = gain[known] / gone[known]
        return slope

    def _moved(
        self, own: Array, change: Array, at: Array, weight: Array, progress: Array, slope: Array
    ) -> Array:
        """The changes after one step."""
        miss = np.clip(MARGIN - np.where(np.isfinite(progress), progress, -MOST), 0.0, MOST)
        down = -2 * (weight[at] * miss)[:, None] * slope + 2 * self.square * change[at]
        if self.aim is not None:
            down += 2 * self.pull * (change[at] - (self.aim[at] - own[at]) / self.scale)
        moved = change[at] - np.clip(RATE * down, -LONGEST, LONGEST)
        found: Array = np.sign(moved) * np.maximum(np.abs(moved) - RATE * self.sparse, 0.0)
        return np.round(np.where(np.isfinite(found), found, 0.0), 9)


def deviations(opened: Outcome) -> Array:
    """The median absolute deviation of each number; where it is 0, the standard one, or 1."""
    ground, found = opened.fitted.ground, []
    for unit in opened.task.space.units:
        values = ground.codes[:, unit.members[0]]
        values = values[~special(values)]
        if unit.discrete or not len(values):
            found.append(1.0)
            continue
        spread = float(np.median(np.abs(values - np.median(values))))
        found.append(spread or float(values.std()) or 1.0)
    return np.array(found)
