"""An interval is a run of values that hold, other changes kept; trying them all confirms it."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks.loans import by_merit, chance, found_rows, loans

STEP = {"age": 1, "amount": 0.1, "income": 0.1, "since": timedelta(days=1)}
ROWS = loans()[chance(loans()) < 0.5].head(8)


def grid(column: str, low, high) -> list:
    """The grid points of a column from `low` to `high`."""
    if column == "since":
        return list(pd.date_range(low, high, freq="D"))
    if column == "age":
        return list(range(low, high + 1))
    return [round(k / 10, 1) for k in range(round(low * 10), round(high * 10) + 1)]


def holds(counterfactual: mx.Counterfactual, column: str, values: list) -> np.ndarray:
    rows = pd.concat([counterfactual.row] * len(values)).assign(**{column: values})
    return chance(rows.astype(counterfactual.row.dtypes)) > 0.5


def spans(found: mx.Explanations) -> list[tuple[mx.Explanation, mx.Counterfactual, mx.Change]]:
    return [
        (explanation, counterfactual, change)
        for explanation, counterfactual in found_rows(found)
        for change in counterfactual.changes
        if change.interval is not None
    ]


def test_numbers_have_intervals_and_categories_none(method):
    for explanation, counterfactual in found_rows(by_merit(method).explain(ROWS, n=2)):
        for change in counterfactual.changes:
            number = change.column in STEP and not pd.isna(explanation.query[change.column].iloc[0])
            assert (change.interval is not None) == number


def test_the_ends_hold_and_lie_in_the_range_of_training(method):
    met = spans(by_merit(method).explain(ROWS, n=2))
    assert met
    for _, counterfactual, change in met:
        low, high, tested, _ = change.interval
        seen = loans()[change.column].dropna()
        assert low <= change.after <= high
        assert seen.min() <= low <= high <= seen.max()
        assert tested >= 1
        assert holds(counterfactual, change.column, [low, change.after, high]).all()


def test_every_point_of_an_exact_interval_holds_and_its_neighbours_do_not(method):
    more = loans()[chance(loans()) < 0.5].head(20)
    met = [
        (e, c, change)
        for e, c, change in spans(by_merit(method).explain(more, n=3))
        if change.interval.exact
    ]
    assert met
    for explanation, counterfactual, change in met:
        low, high = change.interval.low, change.interval.high
        assert holds(counterfactual, change.column, grid(change.column, low, high)).all()
        step, seen = STEP[change.column], loans()[change.column].dropna()
        outside = [low - step, high + step]
        own = explanation.query[change.column].iloc[0]
        for value in outside:
            if change.column in ("amount", "income"):
                value = round(value, 1)  # noqa: PLW2901
            if seen.min() <= value <= seen.max() and value != own:
                assert not holds(counterfactual, change.column, [value])[0]


@settings(max_examples=10)
@given(bound=st.integers(1, 59), width=st.integers(1, 40), own=st.integers(0, 60))
def test_an_exact_interval_is_the_whole_run(bound, width, own):
    data = pd.DataFrame({"x": list(range(61)) * 2, "y": [0, 1] * 61})

    def score(rows: pd.DataFrame) -> np.ndarray:
        inside = (rows["x"] >= bound) & (rows["x"] < bound + width)
        return np.where(inside, 0.9, 0.1)

    row = pd.DataFrame({"x": [own], "y": [0]})
    if score(row)[0] > 0.5:
        return
    asked = mx.Explainer(score, data, classes=("no", "yes"))
    (change,) = asked.explain(row)[0].counterfactuals[0].changes
    low, high, _, exact = change.interval
    assert bound <= low <= change.after <= high < bound + width
    if exact:
        assert (low, high) == (bound, min(bound + width - 1, 60))


@pytest.mark.parametrize(
    "wish",
    [
        {"ranges": {"amount": (1.0, 4.0)}, "only": ["amount", "income"]},
        {"rules": ["amount >= 2 or income >= 4"]},
        {"allowed": {"amount": [1.0, 1.1, 1.2, 3.0]}, "only": ["amount", "grade"]},
    ],
)
def test_intervals_keep_the_constraints(method, wish):
    for _, counterfactual, change in spans(by_merit(method).explain(ROWS, constraints=wish)):
        for value in (change.interval.low, change.interval.high):
            row = counterfactual.row.assign(**{change.column: value}).iloc[0]
            if "rules" in wish:
                unknown = pd.isna(row["income"])  # an unknown rule counts as kept
                assert row["amount"] >= 2 or row["income"] >= 4 or unknown
            elif change.column == "amount":
                allowed = wish.get("allowed", {}).get("amount")
                assert value in allowed if allowed else 1.0 <= value <= 4.0
