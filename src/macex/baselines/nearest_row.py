"""The nearest training row that the model decides as wanted: what every method should beat."""

from __future__ import annotations

import numpy as np

from macex.baselines.baseline import Baseline, lawful, open_queries
from macex.baselines.proposals import judged, nearest_first, rows_of, wanted_rows
from macex.engine.batch import Outcome
from macex.schema import Array
from macex.stages.arrays import distinct
from macex.stages.shapes import Pool


class NearestTrainingRow(Baseline):
    """The nearest training rows that meet the goal, by the explainer's distance.

    What may not change is put back, and a row counts if it reaches the goal all the same; so the
    `tried` nearest are asked about.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": [40, 42, 47, 60], "debt": [1, 2, 2, 1]})
    >>> model = lambda rows: (rows["hours"] > 44) * 1.0
    >>> near = NearestTrainingRow(model, data, classes=("no", "yes"))
    >>> [change[:3] for change in near.explain(data.iloc[[1]])[0].counterfactuals[0].changes]
    [('hours', 42, 47)]
    """

    name = "nearest row"
    tried = 20
    max_rows = 100

    def offer(self, opened: Outcome) -> Pool:
        """The nearest first."""
        task, count = opened.task, max(self.tried, opened.task.count)
        count = min(count, rows_of(opened, self.max_rows))
        parts = [
            self._near(opened, int(query), count) for query in np.flatnonzero(open_queries(opened))
        ]
        if not parts:
            return Pool.empty(task.space.width)
        at, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
        return nearest_first(task, judged(task, codes, at).pool)

    def _near(self, opened: Outcome, query: int, count: int) -> tuple[Array, Array]:
        task = opened.task
        rows = wanted_rows(opened, query)
        at = np.full(len(rows), query)
        rows = lawful(task, rows, at)
        rows = rows[distinct(at, rows)]
        at = at[: len(rows)]
        order = np.argsort(task.measure(rows, at), kind="stable")[:count]
        return at[order], rows[order]
