"""OCEAN (Parmentier and Vidal, 2021) by constraint programming: the fewest changed columns.

The program gets the forest itself and asks the parent nothing. A one-hot column is one column, a
number may take any value within its range.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Program:
    """A forest of XGBoost's as OCEAN has it."""

    def __init__(self, ask: Any, options: dict[str, Any]) -> None:
        import ocean  # noqa: F401 - fail now if it is not there

        del ask, options

    def open(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Take the forest, and which inputs make up a column: (name, inputs, step)."""
        import xgboost
        from ocean import ConstraintProgrammingExplainer

        booster = xgboost.Booster(model_file=bytearray(arrays[0].tobytes()))
        names = [""] * booster.num_features()
        for name, inputs, step in head["groups"]:
            for code, at in enumerate(inputs):
                names[at] = f"{name} {code}" if step is None else name
        booster.feature_names = names
        self.order = [at for _, inputs, _ in head["groups"] for at in inputs]
        mapper = mapped(head["groups"], *arrays[1:])
        self.explainer = ConstraintProgrammingExplainer(booster, mapper=mapper)

    def explain(self, head: dict[str, Any], arrays: list[Any]) -> tuple[Any, Any]:
        """A row of the wanted class with the fewest changes, and whether that is proved."""
        query = arrays[0].astype(float)
        found = self.explainer.explain(
            query[self.order],
            y=head["want"],
            norm=0,
            max_time=head["seconds"],
            num_workers=1,
            random_seed=head["seed"] % 2**31,
        )
        if found is None:
            raise RuntimeError(f"no row: {self.explainer.get_solving_status()}")
        row = np.empty(len(query))
        row[self.order] = found.to_numpy()
        proved = self.explainer.get_solving_status() == "OPTIMAL"
        return row[None], np.array([float(proved)])


def mapped(groups: list[Any], low: Any, high: Any) -> Any:
    """OCEAN's own description of the columns."""
    import pandas as pd
    from ocean.abc import Mapper
    from ocean.feature import Feature

    features: dict[Any, Any] = {}
    columns: list[tuple[str, str]] = []
    for name, inputs, step in groups:
        if step is None:
            codes = [str(code) for code in range(len(inputs))]
            features[name] = Feature(Feature.Type.ONE_HOT_ENCODED, codes=codes)
            columns += [(name, code) for code in codes]
        else:
            ends = (float(low[inputs[0]]) - 0.5, float(high[inputs[0]]) + 0.5)
            features[name] = Feature(Feature.Type.CONTINUOUS, levels=ends)
            columns.append((name, ""))
    return Mapper(features, columns=pd.MultiIndex.from_tuples(columns))
