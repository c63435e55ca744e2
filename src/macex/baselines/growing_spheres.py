"""Growing Spheres (Laugel et al., 2018): rows around the query, in ever wider spheres.

A ball around the query is halved until no row in it reaches the goal; then layers around it grow
until one does. The nearest such row is taken, and its changes are taken back, smallest first, while
it stays on the other side. The publication is about numbers, here as shares of their ranges; a
category changes with a probability that grows with the radius, at most 1/2, to a value seen in
training.
"""

from __future__ import annotations

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.proposals import (
    Judged,
    given_back,
    judged,
    nearest_first,
    numbers,
    ranges,
    rows_of,
    seen_values,
    snapped,
    steps,
)
from macex.engine.batch import Outcome
from macex.schema import Array, special
from macex.stages.arrays import rank_within
from macex.stages.shapes import Pool, Task


class GrowingSpheres(Baseline):
    """Laugel et al.: layers of `layer` rows (fewer where rows are short), from a `radius` on.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> grown = GrowingSpheres(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> grown.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "growing spheres"
    layer = 200
    radius = 0.1
    max_rows = 4000

    def offer(self, opened: Outcome) -> Pool:
        """The nearest rows beyond the boundary, with the smallest changes taken back."""
        task = opened.task
        pools, open_ = [], open_queries(opened)
        count = int(np.clip(rows_of(opened, self.max_rows) // 12, 8, self.layer))
        low, wide = np.zeros(len(open_)), np.full(len(open_), self.radius)
        shrinking = open_.copy()
        turns = rows_of(opened, self.max_rows) // count - 1  # what is left takes changes back
        for turn in range(max(1, turns)):
            at = np.flatnonzero(open_)
            if not len(at) or task.judge.late:
                break
            tried = _layer(task, at, low, wide, turn, count)
            pools.append(tried.pool)
            hit = np.bincount(tried.at[tried.fit], minlength=len(open_)) > 0
            wide[shrinking & hit] /= 2
            low[open_ & ~hit] += wide[open_ & ~hit]
            open_ &= shrinking | ~hit
            open_ &= low <= _widest(task)
            shrinking &= hit
        near = _nearest(task, Pool.join(pools, task.space.width))
        return nearest_first(task, given_back(task, near))


def _widest(task: Task) -> float:
    """A radius within which every row of the ranges lies."""
    return float(np.sqrt(max(1, numbers(task.space).sum()))) + 1.0


def _layer(task: Task, at: Array, low: Array, wide: Array, turn: int, count: int) -> Judged:
    """Rows of the layer from `low` to `low + wide` around each query."""
    space, owner = task.space, np.repeat(at, count)
    own = task.queries[owner]
    movable = numbers(space) & space.changeable[owner] & ~special(own)
    aim = np.where(movable, _drawn(task, at, turn, count, "sphere aim", normal=True), 0.0)
    length = np.sqrt((aim**2).sum(axis=1, keepdims=True))
    luck = _drawn(task, at, turn, count, "sphere radius")
    power = np.maximum(1, movable.sum(axis=1, keepdims=True))
    inner, outer = low[owner][:, None], (low + wide)[owner][:, None]
    far = (inner**power + luck[:, :1] * (outer**power - inner**power)) ** (1 / power)
    moved = aim / np.where(length > 0, length, 1.0) * far * ranges(space)
    rows = np.where(movable, snapped(space, np.where(movable, own + moved, 0.0)), own)
    discrete = ~numbers(space) & space.changeable[owner]
    swapped = discrete & (_drawn(task, at, turn, count, "sphere swap") < np.minimum(outer, 0.5))
    other = seen_values(space, _drawn(task, at, turn, count, "sphere value"))
    return judged(task, np.where(swapped, other, rows), owner)


def _drawn(
    task: Task, at: Array, turn: int, count: int, stream: str, *, normal: bool = False
) -> Array:
    draw = task.draws.normal if normal else task.draws.uniform
    return draw(stream, turn * count, count)[at].reshape(-1, task.space.width)


def _nearest(task: Task, pool: Pool) -> Pool:
    """The nearest rows of each query by their steps, as many as are asked for."""
    size = steps(task.space, task.queries[pool.at], pool.codes)
    far = np.round(np.sqrt((size**2).sum(axis=1)), 9)
    return pool.take(np.flatnonzero(rank_within(pool.at, far, np.arange(len(far))) < task.count))
