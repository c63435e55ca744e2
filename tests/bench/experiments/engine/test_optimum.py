"""The nearest optimum equals plain enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.bench.experiments.engine.optimum import NearestOptimum
from macex.datasets import Dataset

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 30],
        "hours": [10.0, 20.0, 20.0, 40.0, 30.0, 0.0],
        "job": ["a", "b", "c", "a", "b", "c"],
    }
)
DATASET = Dataset(
    "tiny", FRAME, np.zeros(6, np.int64), ("no", "yes"), ("job",), ("age", "hours"), ""
)


class Weighted:
    """Decides by a weighted sum, and counts the rows it is asked."""

    def __init__(self, weights):
        self.weights, self.rows = weights, 0

    def predict(self, frame):
        self.rows += len(frame)
        job = frame["job"].map({"a": 0, "b": 1, "c": 2}).to_numpy()
        total = self.weights @ np.stack([frame["age"] / 10, frame["hours"] / 10, job])
        return (total > 6).astype(int)


def enumerated(model, query):
    own = model.predict(query)[0]
    cells = [FRAME[name].unique() for name in FRAME]
    every = pd.DataFrame(list(product(*cells)), columns=list(FRAME))
    valid = every[model.predict(every) != own]
    before = query.iloc[0]
    steps = (
        (valid["age"] - before["age"]).abs() / FRAME["age"].median()
        + (valid["hours"] - before["hours"]).abs() / FRAME["hours"].median()
        + (valid["job"] != before["job"])
    )
    return steps.min() if len(steps) else None


@given(st.tuples(*[st.integers(-3, 3)] * 3), st.integers(0, 5))
@settings(max_examples=40)
def test_it_equals_enumeration(weights, place):
    model, query = Weighted(np.array(weights)), FRAME.iloc[[place]]
    least = enumerated(model, query)
    found = NearestOptimum(model, DATASET, FRAME).distance(query, bound=10.0)
    assert found == pytest.approx(10.0 if least is None else least)


def test_only_rows_nearer_than_the_bound_are_scored():
    model = Weighted(np.array([0, 0, 0]))
    assert NearestOptimum(model, DATASET, FRAME).distance(FRAME.iloc[[0]], bound=0.5) == 0.5
    assert model.rows < 20


def test_past_its_budget_it_says_that_it_does_not_know():
    optimum = NearestOptimum(Weighted(np.array([1, 1, 1])), DATASET, FRAME, most=5)
    assert optimum.distance(FRAME.iloc[[0]], bound=10.0) is None
