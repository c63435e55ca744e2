"""treecf, branch and bound over a forest: the least distance.

The program gets the forest itself and asks the parent nothing. A category that changes costs 1, a
number its step over the column's scale.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

MARGIN = 1e-6  # of the raw score


class Program:
    """A forest of XGBoost's as treecf has it."""

    def __init__(self, ask: Any, options: dict[str, Any]) -> None:
        import treecf  # noqa: F401 - fail now if it is not there

        del ask, options

    def open(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Take the forest, and which inputs make up a column: (name, inputs, step)."""
        from treecf import Explainer, Grid, OneHot, Range

        forest, low, high, scale = arrays
        document = json.loads(forest.tobytes())
        names = [f"f{at}" for at in range(len(low))]
        document["learner"]["feature_names"] = names
        words = [[names[at] for at in inputs] for _, inputs, step in head["groups"] if step is None]
        numbers = [(inputs[0], step) for _, inputs, step in head["groups"] if step is not None]
        self.explainer = Explainer(
            document,
            constraints=[
                *(OneHot(tuple(group)) for group in words if len(group) > 1),
                *(Range(names[at], float(low[at]), float(high[at])) for at, _ in numbers),
            ],
            weights={name: 0.5 for group in words for name in group},  # two inputs change
            normalizers=np.asarray(scale, dtype=float),
            value_policy={names[at]: Grid(step) for at, step in numbers if step},
        )

    def explain(self, head: dict[str, Any], arrays: list[Any]) -> tuple[Any, Any]:
        """The nearest row of the wanted class, and whether that is proved."""
        from treecf import Target

        target = (
            Target.raw(op=">=", value=MARGIN)
            if head["want"]
            else Target.raw(op="<=", value=-MARGIN)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the flag says what was not proved
            found = self.explainer.explain(
                arrays[0].astype(float),
                target,
                backend="exact",
                time_budget_s=head["seconds"],
                node_budget=10**9,
                seed=head["seed"],
            )
        row = getattr(found, "x_cf", None)
        if row is None:
            return np.zeros((0, len(arrays[0]))), np.array([float(found.proof == "certified")])
        return np.asarray(row, dtype=float)[None], np.array([float(found.proof == "optimal")])
