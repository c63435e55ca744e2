"""A row is answered for itself: whatever shares its call, and within what it may cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

DRAWN = np.random.default_rng(1)
DATA = pd.DataFrame(
    {
        f"c{place}": DRAWN.normal(size=200).round(1) if place % 2 else DRAWN.integers(0, 60, 200)
        for place in range(6)
    }
)


def chance(rows):
    scaled = rows.to_numpy(float) / np.where(np.arange(6) % 2, 1, 25)
    return 1 / (1 + 2.0 ** -np.round(scaled.sum(axis=1) - 6.05, 6))


def refused():
    return DATA[chance(DATA) < 0.3].head(8)


def alone_and_together(explainer, rows, constraints, **options):
    """The canonical answers of every row, alone and in one call."""
    together = explainer.explain(rows, want="y", constraints=constraints, **options)
    alone = [
        explainer.explain(rows.iloc[[at]], want="y", constraints=[wish], **options)[0]
        for at, wish in enumerate(constraints)
    ]
    return [[item.to_json(canonical=True) for item in found] for found in (alone, together)]


@pytest.mark.parametrize("max_rows", [20, 60, 100, 150])
def test_what_few_rows_are_spent_on_does_not_depend_on_the_bounds_of_others(max_rows):
    explainer = mx.Explainer(chance, DATA, classes=("n", "y"))
    bounded = mx.Constraints(ranges={"c1": (-1.0, 1.05)})
    wishes = [bounded, *[mx.Constraints()] * 7]
    alone, together = alone_and_together(explainer, refused(), wishes, max_rows=max_rows)
    assert alone == together


@pytest.mark.parametrize("method", ["gradientless", "reinforce", "exhaustive"])
def test_what_is_drawn_for_a_row_does_not_depend_on_the_bounds_of_others(method):
    explainer = mx.Explainer(chance, DATA, classes=("n", "y"), method=method)
    wishes = [mx.Constraints(ranges={"c1": (-1.0, 1.05)}), *[mx.Constraints()] * 7]
    alone, together = alone_and_together(explainer, refused(), wishes)
    assert alone == together


def test_minus_zero_is_not_zero_to_every_model():
    data = pd.DataFrame(
        {"a": DRAWN.normal(size=60).round(1) + 0.05, "b": DRAWN.normal(size=60).round(2)}
    )

    def model(rows):
        with np.errstate(divide="ignore"):
            side = 1 / rows["a"].to_numpy()
        return np.where(side < 0, 0.2, 0.4) + 0.25 * (rows["b"] > 1).to_numpy()

    explainer = mx.Explainer(model, data, classes=("n", "y"))
    rows = pd.DataFrame({"a": [0.0, -0.0], "b": [0.1, 0.1]})
    for fault in ("raise", "keep"):
        found = explainer.explain(rows, constraints={"fixed": ["a"]}, on_error=fault)
        assert [item.status for item in found] == ["found", "none"]
        kept = [item.query["a"].iloc[0] for item in found]
        assert [np.copysign(1, value) for value in kept] == [1, -1]


class Picky:
    """A model that fails on some rows, once it is armed; its words name the first of them."""

    armed = False

    def __call__(self, rows):
        bad = rows[(rows["a"] == 15) | ((rows["a"] == 3) & (rows["b"] == 5))]
        if self.armed and len(bad):
            raise ValueError(f"no support for {bad.iloc[0].to_dict()}")
        return rows["a"].to_numpy() / 40 + rows["b"].to_numpy() / 100


@pytest.fixture
def picky():
    data = pd.DataFrame({"a": np.arange(40) % 20, "b": np.arange(40) % 7})
    model = Picky()
    explainer = mx.Explainer(model, data, classes=("n", "y"))
    model.armed = True
    return explainer


def test_a_failed_row_is_told_the_first_fault_of_its_own(picky):
    for first in ([a, b] for a in range(10) for b in range(0, 7, 2)):
        rows = pd.DataFrame([first, [3, 1]], columns=["a", "b"])
        together = picky.explain(rows, on_error="keep")
        for at, item in enumerate(together):
            (alone,) = picky.explain(rows.iloc[[at]], on_error="keep")
            assert item.reason is not None
            assert item.to_json(canonical=True) == alone.to_json(canonical=True)


@pytest.mark.parametrize("method", ["exhaustive", "gradientless", "reinforce"])
def test_a_failed_row_has_no_miss_that_nobody_scored(method):
    armed = []

    def model(rows):
        if armed and ((rows["a"] == 30) & (rows["b"] == 1)).any():
            raise ValueError("no 30 with 1")
        return 0.3 + 0.005 * rows["a"].to_numpy()

    data = pd.DataFrame({"a": np.arange(40), "b": np.arange(40) % 3})
    explainer = mx.Explainer(model, data, classes=("n", "y"), method=method)
    armed.append(True)
    (item,) = explainer.explain(pd.DataFrame({"a": [3], "b": [1]}), on_error="keep")
    assert "no 30 with 1" in item.reason
    assert item.miss is None


@pytest.mark.parametrize("prefer", ["fewest", "nearest", "surest"])
@pytest.mark.parametrize("n", [1, 4])
def test_sturdy_answers_cost_no_more_rows_than_they_may(prefer, n):
    explainer = mx.Explainer(chance, DATA, classes=("n", "y"), prefer=prefer)
    most = 0
    for robust in (0, 0.5, 0.9, 1):
        for max_rows in (5, 40, 60, 150, 400):
            found = explainer.explain(refused().head(3), n=n, robust=robust, max_rows=max_rows)
            assert all(item.cost.rows <= max_rows for item in found)
            most += sum(bool(item.counterfactuals) for item in found)
    assert most  # some are found within the limit
