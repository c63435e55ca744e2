"""Wachter, Mittelstadt, Russell (2018): the nearest row by descent, for numbers.

The squared miss of the goal, weighed ever more while it is missed, plus the distance over the
median absolute deviation. Any model is asked; gradients are finite differences, which cost a row a
number at every step. Where a model is flat, as trees are, they know no way.
"""

from __future__ import annotations

from macex.baselines.baseline import Baseline
from macex.baselines.descent import Descent, deviations
from macex.baselines.proposals import nearest_first
from macex.engine.batch import Outcome
from macex.stages.shapes import Pool


class Wachter(Baseline):
    """Wachter et al.: the goal is missed by log odds, not by a probability that is flat far off.

    Categories stay as they are: a table without numbers has no answers.

    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> chance = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> near = Wachter(chance, data, classes=("no", "yes"))
    >>> near.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "wachter"
    max_rows = 2000

    def offer(self, opened: Outcome) -> Pool:
        """The nearest row on the way that reaches the goal."""
        return nearest_first(opened.task, Descent(deviations(opened))(opened, self.max_rows))
