"""Counterfactuals guided by prototypes (Van Looveren, Klaise, 2021), for numbers.

Wachter's descent with an elastic net and a pull to a prototype: the nearest training row that meets
the goal, as their k-d trees find it, or the mean of all such rows. Gradients of the model are
finite differences, as in the publication for models that have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.descent import Descent, deviations
from macex.baselines.proposals import nearest_first, wanted_rows
from macex.engine.batch import Outcome
from macex.errors import OptionError, closest
from macex.schema import Array, special
from macex.stages.shapes import Pool

KINDS = ("nearest", "mean")
SPARSE = 0.1  # the publication's weight of absolute changes, beside 1 for squares
PULL = 1.0


class Prototypes(Baseline):
    """Van Looveren, Klaise: `prototype` is "nearest" (their k-d tree) or "mean" (of the class).

    Categories stay as they are: a table without numbers has no answers.

    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> chance = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> near = Prototypes(chance, data, classes=("no", "yes"))
    >>> near.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    max_rows = 2000

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        prototype: str = "nearest",
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        if prototype not in KINDS:
            raise OptionError(
                f"Prototypes(prototype={prototype!r}): there is no such prototype"
                f"{closest(str(prototype), KINDS)}"
            )
        self.prototype, self.name = prototype, f"prototypes {prototype}"
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
        """The nearest row on the way that reaches the goal."""
        scale = deviations(opened)
        aim = opened.task.queries.copy()
        for query in np.flatnonzero(open_queries(opened)):
            aim[query] = self._aim(opened, int(query), scale)
        descent = Descent(scale, sparse=SPARSE, square=1.0, pull=PULL, aim=aim)
        return nearest_first(opened.task, descent(opened, self.max_rows))

    def _aim(self, opened: Outcome, query: int, scale: Array) -> Array:
        """The prototype's numbers; the query's own where it has none."""
        task = opened.task
        own, rows = task.queries[query], wanted_rows(opened, query)
        number = np.array([not unit.discrete for unit in task.space.units]) & ~special(own)
        rows = rows[~special(rows[:, number]).any(axis=1)]
        if not len(rows):
            return own
        if self.prototype == "mean":
            return np.where(number, rows.mean(axis=0), own)
        far = np.where(number, np.abs(rows - own) / scale, rows != own).sum(axis=1)
        return np.where(number, rows[np.argmin(np.round(far, 9))], own)
