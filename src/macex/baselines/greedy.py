"""Greedy replacement by columns of a distractor (Ates et al., CoMTE, 2021), for tables.

A distractor is a training row that the model decides as wanted. Its columns are taken over one by
one, each time the one that gains most, until the goal is reached; then columns that turn out not
to be needed are given back. The distractor that needs fewest columns wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, lawful, open_queries
from macex.engine.batch import Outcome
from macex.errors import require_counts
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.shapes import Pool, Task

MOST_ROWS = 20_000


class Greedy(Baseline):
    """Ates et al.: `distractors` nearest goal rows, greedy replacement of columns, pruning.

    Takes the parameters of `Explainer` that concern the model, the rows and what may change.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> greedy = Greedy(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> greedy.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "greedy"
    max_rows = MOST_ROWS

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        distractors: int = 5,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.distractors = distractors
        require_counts(self, "distractors")
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """One example per distractor, those with the fewest changes first."""
        task, wanted = opened.task, open_queries(opened)
        near = self.fitted.near(task.space, opened.goals, wanted)
        count = max(self.distractors, task.count)
        at, place = np.nonzero(near.real[:, :count] & wanted[:, None])
        pool = _replaced(task, lawful(task, near.values[at, place], at), at)
        pool = _pruned(task, pool)
        changes = task.space.changed(pool.codes, pool.at).sum(axis=1)
        distance = task.measure(pool.codes, pool.at)
        return pool.take(np.lexsort((distance, changes, pool.at)))


def _replaced(task: Task, distractors: Array, at: Array) -> Pool:
    """Take over the column that gains most, in all examples at once, until the goal is reached."""
    codes, progress = task.queries[at], np.full(len(at), -np.inf)
    reached = np.zeros(len(at), bool)
    for _ in range(task.space.width):
        example, unit = np.nonzero((codes != distractors) & ~reached[:, None])
        if not len(example):
            break
        rows = codes[example]
        rows[np.arange(len(example)), unit] = distractors[example, unit]
        verdict = task.judge(rows, at[example])
        best = np.flatnonzero(rank_within(example, -verdict.progress, unit) == 0)
        codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
        reached[example[best]] = verdict.reached[best]
    return Pool(at, codes, progress).take(np.flatnonzero(reached))


def _pruned(task: Task, pool: Pool) -> Pool:
    """Give back, one a round, the change whose loss leaves most of the goal's score."""
    codes, progress = pool.codes.copy(), pool.progress.copy()
    for _ in range(task.space.width):
        changed = task.space.changed(codes, pool.at)
        example, unit = np.nonzero(changed & (changed.sum(axis=1) > 1)[:, None])
        rows = codes[example]
        rows[np.arange(len(example)), unit] = task.queries[pool.at[example], unit]
        verdict = task.judge(rows, pool.at[example])
        good = np.flatnonzero(verdict.reached)
        if not len(good):
            break
        best = good[rank_within(example[good], -verdict.progress[good], unit[good]) == 0]
        codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
    return Pool(pool.at, codes, progress)
