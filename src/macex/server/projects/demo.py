"""The project that a server has when it has no other: who earns more than 50K, from census rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.server.projects.parts import Parts

TITLE = "Income (census of 1994)"
NAME = "adult"


@cache
def demo_parts() -> Parts:
    """Adult, with a gradient boosting model that is trained on the spot, the same every time."""
    from macex.datasets import load

    adult = load("adult")
    train, test = adult.split()
    income = np.array(adult.labels)[adult.label]
    training = adult.frame.iloc[train].reset_index(drop=True)
    return Parts(
        model=_trained(training, income[train]),
        training=training,
        rows=adult.frame.iloc[test].reset_index(drop=True),
        labels=lambda: pd.Series(income[test]),
        constraints=Constraints(fixed=("race", "gender"), increase=("age",)),
    )


def _trained(rows: Any, income: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from threadpoolctl import threadpool_limits

    words = list(rows.select_dtypes(exclude="number").columns)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((ordinal, words), remainder="passthrough")
    trees = HistGradientBoostingClassifier(
        categorical_features=list(range(len(words))), max_iter=60, random_state=0
    )
    with threadpool_limits(1):  # the order in which threads add up would show in the last digits
        return make_pipeline(columns, trees).fit(rows, income)
