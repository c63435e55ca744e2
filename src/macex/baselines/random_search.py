"""Random changes: one column, then two, and so on; what a search must beat to be one.

The number of changed columns grows as in DiCE's random sampling (Mothilal et al., 2020); the
columns and their values, which were seen in training, are drawn.
"""

from __future__ import annotations

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.proposals import judged, ranked, rows_of, seen_values
from macex.engine.batch import Outcome
from macex.schema import Array
from macex.stages.shapes import Pool, Task


class RandomSearch(Baseline):
    """A share of the rows for one change, for two and so on up to `most_changes`.

    A query stops at the first number of changes with enough answers; the nearest are returned.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> drawn = RandomSearch(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> drawn.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:2]
    ('hours', 40)
    """

    name = "random"
    most_changes = 5
    max_rows = 1000

    def offer(self, opened: Outcome) -> Pool:
        """Those with the fewest changes first."""
        task, pools = opened.task, []
        at = np.flatnonzero(open_queries(opened))
        sizes = min(self.most_changes, task.space.width)
        each = max(1, rows_of(opened, self.max_rows) // sizes)
        found = np.zeros(len(task.queries), int)
        for size in range(1, sizes + 1):
            if not len(at) or task.judge.late:
                break
            pools.append(judged(task, _drawn(task, at, size, each), np.repeat(at, each)).pool)
            found += np.bincount(pools[-1].at, minlength=len(found))
            at = at[found[at] < task.count]
        return ranked(task, Pool.join(pools, task.space.width))


def _drawn(task: Task, at: Array, size: int, count: int) -> Array:
    """Rows (Q * count, U) with `size` changed columns of those that may change."""
    free = task.space.changeable[at][:, None]
    luck = np.where(free, task.draws.uniform("random column", size * count, count)[at], 2.0)
    first = np.argsort(np.argsort(luck, axis=2, kind="stable"), axis=2) < size
    values = seen_values(task.space, task.draws.uniform("random value", size * count, count)[at])
    rows = np.where(first & free, values, task.queries[at][:, None])
    return rows.reshape(-1, task.space.width)
