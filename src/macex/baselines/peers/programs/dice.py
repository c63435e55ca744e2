"""dice-ml, whose classifier is the parent."""

from __future__ import annotations

from typing import Any

import numpy as np

OUTCOME = "outcome"


class ParentModel:
    """A classifier, as dice-ml wants one, whose answers come from the parent."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def predict_proba(self, frame: Any) -> Any:
        """The chance of missing the goal and of reaching it, (n, 2)."""
        codes = np.column_stack([frame[name].astype("float64") for name in self.program.columns])
        score = self.program.ask(codes)
        return np.column_stack([1 - score, score])

    def predict(self, frame: Any) -> Any:
        """1 where the goal is reached."""
        return (self.predict_proba(frame)[:, 1] >= 0.5).astype(int)


class Program:
    """The training rows, and an explainer of dice-ml's for each goal."""

    def __init__(self, ask: Any, options: dict[str, Any]) -> None:
        import dice_ml  # noqa: F401 - fail now if it is not there

        self.ask, self.method = ask, options["method"]
        if self.method == "gradient":
            import torch  # noqa: F401
        self.columns: list[str] = []
        self.explainers: dict[str, Any] = {}  # by goal

    def open(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Take the training rows."""
        self.columns, self.precision = head["columns"], head["precision"]
        self.explainers.clear()
        self.training = self.frame(arrays[0])

    def frame(self, codes: Any) -> Any:
        """Rows of codes as dice-ml has them: numbers as floats, categories as text."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: column if name in self.precision else [str(code) for code in column]
                for name, column in zip(self.columns, codes.T.astype(float), strict=True)
            }
        )

    def goal(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Make dice-ml's explainer for a goal, of which some training rows are examples."""
        import dice_ml

        data = dice_ml.Data(
            dataframe=self.training.assign(**{OUTCOME: arrays[0].astype(int)}),
            continuous_features=list(self.precision),
            continuous_features_precision=self.precision,
            outcome_name=OUTCOME,
        )
        if self.method == "gradient":
            net = network(arrays[1:])
            model = dice_ml.Model(model=net, backend="PYT", func="ohe-min-max")
        else:
            model = dice_ml.Model(model=ParentModel(self), backend="sklearn")
        self.explainers[head["goal"]] = dice_ml.Dice(data, model, method=self.method)

    def explain(self, head: dict[str, Any], arrays: list[Any]) -> Any:
        """Rows of codes that dice-ml offers for a query, (n, columns)."""
        query = self.frame(arrays[0][None])
        vary = {"features_to_vary": head["vary"], "permitted_range": head["ranges"] or None}
        if self.method != "gradient":
            vary["desired_class"] = 1
        explainer = self.explainers[head["goal"]]
        found = explainer.generate_counterfactuals(query, total_CFs=head["n"], **vary)
        example = found.cf_examples_list[0]
        rows = example.final_cfs_df_sparse
        rows = example.final_cfs_df if rows is None else rows
        if rows is None or not len(rows):
            return np.zeros((0, len(self.columns)))
        return rows[self.columns].astype("float64").to_numpy()


def network(arrays: list[Any]) -> Any:
    """Weights and biases as a torch network with ReLUs between and a sigmoid at the end."""
    import torch

    layers: list[Any] = []
    for weight, bias in zip(arrays[::2], arrays[1::2], strict=True):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data = torch.tensor(weight.T, dtype=torch.float32)
        layer.bias.data = torch.tensor(bias, dtype=torch.float32)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())
