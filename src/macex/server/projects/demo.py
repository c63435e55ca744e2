"""The project that a server has when it has no other: who earns more than 50K, from census rows.

Its model is trained on the spot, the same every time. A process that trains it begins before the
server's own libraries are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from macex.server.projects.parts import Parts

NAME, TITLE = "adult", "Income (census of 1994)"


class People(NamedTuple):
    """Rows to learn from and rows to look at, with who earns how much."""

    training: Any
    income: Any
    rows: Any
    income_of_rows: Any


def people() -> People:
    """Adult, divided."""
    import numpy as np

    from macex.datasets import load

    adult = load(NAME)
    train, test = adult.split()
    income = np.array(adult.labels)[adult.label]
    training, rows = (adult.frame.iloc[part].reset_index(drop=True) for part in (train, test))
    return People(training, income[train], rows, income[test])


def model() -> Any:
    """Gradient boosting that has learnt who earns more than 50K."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from threadpoolctl import threadpool_limits

    known = people()
    words = list(known.training.select_dtypes(exclude="number").columns)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((ordinal, words), remainder="passthrough")
    trees = HistGradientBoostingClassifier(
        categorical_features=list(range(len(words))), max_iter=60, random_state=0
    )
    with threadpool_limits(1):  # the order in which threads add up would show in the last digits
        return make_pipeline(columns, trees).fit(known.training, known.income)


def demo_parts(make_model: Callable[[], Any] = model) -> Parts:
    """Adult, with a model that `make_model` makes."""
    import pandas as pd

    from macex.ask.constraints import Constraints
    from macex.server.projects.parts import Parts

    known = people()
    return Parts(
        model=make_model(),
        training=known.training,
        rows=known.rows,
        labels=lambda: pd.Series(known.income_of_rows),
        constraints=Constraints(fixed=("race", "gender"), increase=("age",)),
    )
