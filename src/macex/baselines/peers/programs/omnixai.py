"""OmniXAI's MACE, the code of the paper's authors, whose predictions are the parent's."""

from __future__ import annotations

from typing import Any

import numpy as np


class Program:
    """The training rows, and an explainer of OmniXAI's for each goal."""

    def __init__(self, ask: Any, options: dict[str, Any]) -> None:
        from omnixai.explainers.tabular import MACEExplainer  # noqa: F401 - fail now

        self.ask, self.method = ask, options["method"]
        if self.method == "rl":
            import torch  # noqa: F401 - the same
        self.made: dict[Any, Any] = {}  # by goal and columns that may not change

    def open(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Take the training rows."""
        self.columns, self.precision = head["columns"], head["precision"]
        self.made.clear()
        self.training = self.table(arrays[0])

    def table(self, codes: Any) -> Any:
        """Rows of codes as OmniXAI has them: numbers as floats, categories as text."""
        import pandas as pd
        from omnixai.data.tabular import Tabular

        frame = pd.DataFrame(
            {
                name: column if name in self.precision else [str(code) for code in column]
                for name, column in zip(self.columns, codes.T.astype(float), strict=True)
            }
        )
        words = [name for name in self.columns if name not in self.precision]
        return Tabular(frame, categorical_columns=words or None)

    def codes(self, frame: Any) -> Any:
        """The way back."""
        return np.column_stack([frame[name].astype("float64") for name in self.columns])

    def chances(self, table: Any) -> Any:
        """The chance of missing the goal and of reaching it, (n, 2)."""
        score = self.ask(self.codes(table.to_pd(copy=False)))
        return np.column_stack([1 - score, score])

    def goal(self, head: dict[str, Any], arrays: list[Any]) -> None:  # noqa: ARG002 - as others
        """Make an explainer for a goal; it asks for the scores of all training rows."""
        self.explainer(head["goal"], ())

    def explainer(self, goal: str, fixed: tuple[str, ...]) -> Any:
        """The explainer of a goal that leaves some columns as they are."""
        from omnixai.explainers.tabular import MACEExplainer

        if (goal, fixed) not in self.made:
            self.made[goal, fixed] = MACEExplainer(
                training_data=self.training,
                predict_function=self.chances,
                method=self.method,
                ignored_features=list(fixed) or None,
            )
        return self.made[goal, fixed]

    def explain(self, head: dict[str, Any], arrays: list[Any]) -> Any:
        """Rows of codes that OmniXAI offers for a query, (n, columns)."""
        fixed = tuple(name for name in self.columns if name not in head["vary"])
        explainer = self.explainer(head["goal"], fixed)
        found = explainer.explain(self.table(arrays[0][None]), y=[1], max_number_examples=head["n"])
        rows = found.get_explanations(0)["counterfactual"]
        if rows is None or not len(rows):
            return np.zeros((0, len(self.columns)))
        return self.codes(rows)
