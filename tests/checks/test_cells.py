"""What is not changed is the query's own, cell by cell; what is changed fits its column."""

from __future__ import annotations

from datetime import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks.loans import (
    by_merit,
    changed_columns,
    explainer,
    found_rows,
    grants,
    loans,
    refused,
    same_cell,
)


def test_unchanged_cells_are_the_querys_own(method):
    rows = refused("logistic", 6)
    for explanation, counterfactual in found_rows(explainer("logistic", method).explain(rows, n=3)):
        named = {change.column for change in counterfactual.changes}
        assert changed_columns(explanation.query, counterfactual.row) == named
        assert counterfactual.sparsity == len(named)


def test_a_change_tells_the_cell_before_and_after(method):
    for explanation, counterfactual in found_rows(by_merit(method).explain(loans().head(6), n=2)):
        for change in counterfactual.changes:
            before = explanation.query[change.column].iloc[0]
            after = counterfactual.row[change.column].iloc[0]
            assert change.before == before or (change.before is None and pd.isna(before))
            assert change.after == after


def test_rows_have_the_dtypes_and_index_of_the_query(method):
    rows = loans().head(8).set_axis([f"row {i}" for i in range(8)])
    for explanation, counterfactual in found_rows(by_merit(method).explain(rows)):
        assert counterfactual.row.dtypes.equals(rows.dtypes)
        assert counterfactual.row.index.equals(explanation.query.index)
    assert [e.query.index[0] for e in by_merit(method).explain(rows)] == list(rows.index)


def test_the_callers_rows_and_data_are_left_alone(method):
    rows, before = loans().head(6), loans().head(6).copy(deep=True)
    by_merit(method).explain(rows, n=2)
    pd.testing.assert_frame_equal(rows, before)


def on_grid(value: float, decimals: int) -> bool:
    return value == round(value, decimals)


@pytest.mark.parametrize("finetune", [None, "section", "gradientless"])
def test_new_values_lie_on_the_grid_and_in_the_range_of_training(method, finetune):
    data = loans()
    found = by_merit(method, finetune=finetune).explain(data.head(8), n=2, want=mx.rise_by(0.15))
    for _, counterfactual in found_rows(found):
        for change in counterfactual.changes:
            seen = data[change.column].dropna()
            if change.column == "age":
                assert type(change.after) is int
            if change.column in ("amount", "income"):
                assert on_grid(change.after, 1)
            if change.column == "since":
                assert change.after.time() == time(0)
            if change.column in ("marital", "grade", "owner"):
                assert change.after in set(seen)
            else:
                assert seen.min() <= change.after <= seen.max()


def test_the_end_of_a_range_that_is_off_the_grid_is_not_offered(method):
    wish = mx.Constraints(only=["amount"], ranges={"amount": (2.15, 4.05)})
    rows = loans()[loans()["amount"] > 4.1].head(12)
    found = by_merit(method).explain(rows, want=mx.rise_by(0.001), constraints=wish)
    assert all(e.status == "found" for e in found)
    for _, counterfactual in found_rows(found):
        (change,) = counterfactual.changes
        assert 2.15 <= change.after <= 4.05
        assert on_grid(change.after, 1)


def strange() -> pd.DataFrame:
    """Rows with values that training never saw: they may stay."""
    rows = loans().head(5).copy()
    rows["marital"] = ["widowed", *rows["marital"].iloc[1:]]
    rows["age"] = [101, 12, *rows["age"].iloc[2:]]
    rows["amount"] = [*rows["amount"].iloc[:2], 3.14159, 55.5, *rows["amount"].iloc[4:]]
    return rows


def test_values_that_training_never_saw_may_stay(method):
    asked = explainer("logistic", method)
    for explanation, counterfactual in found_rows(asked.explain(strange(), n=2)):
        named = {change.column for change in counterfactual.changes}
        assert changed_columns(explanation.query, counterfactual.row) == named


NATIVE = {
    "Int64": lambda rows: rows.assign(age=rows["age"].astype("Int64")),
    "float32": lambda rows: rows.assign(amount=rows["amount"].astype("float32")),
    "object": lambda rows: rows.assign(marital=rows["marital"].astype(object)),
    "boolean": lambda rows: rows.assign(owner=rows["owner"].astype("boolean")),
    "category": lambda rows: rows.assign(marital=rows["marital"].astype("category")),
    "int8": lambda rows: rows.assign(age=rows["age"].astype("int8")),
}


@pytest.mark.parametrize("name", NATIVE)
def test_the_callers_dtypes_reach_the_model_and_come_back(method, name):
    data = NATIVE[name](loans())
    met: list[pd.Series] = []

    def score(rows: pd.DataFrame) -> np.ndarray:
        met.append(rows.dtypes)
        plain = rows.astype({"age": "int64", "owner": "bool", "amount": "float64"})
        days = (plain["since"] - plain["since"].min()).dt.days
        return plain["age"] / 20 - plain["amount"] + plain["owner"] * 2 - days * 0

    asked = mx.Explainer(score, data, method=method)
    found = asked.explain(data.head(5), want=mx.rise_by(1.5))
    assert all(types.equals(data.dtypes) for types in met)
    for explanation, counterfactual in found_rows(found):
        assert counterfactual.row.dtypes.equals(data.dtypes)
        for column in changed_columns(explanation.query, counterfactual.row):
            assert column in {change.column for change in counterfactual.changes}


def test_arrays_come_back_as_arrays(method):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 20, (120, 4)).astype(float)
    asked = mx.Explainer(lambda rows: rows @ [1.0, -1.0, 0.5, 0.0], data, method=method)
    found = asked.explain(data[:6], want=mx.at_least(12.0))
    for explanation, counterfactual in found_rows(found):
        assert isinstance(counterfactual.row, np.ndarray)
        assert counterfactual.row.shape == explanation.query.shape
        moved = np.flatnonzero((counterfactual.row != explanation.query).reshape(-1))
        assert {f"x{i}" for i in moved} == {change.column for change in counterfactual.changes}


@settings(max_examples=6)
@given(place=st.integers(0, 239))
def test_missing_values_stay_missing_unless_filled(method, place):
    row = loans().iloc[[place]].assign(income=np.nan)
    for counterfactual in by_merit(method).explain(row)[0].counterfactuals:
        filled = "income" in {change.column for change in counterfactual.changes}
        assert filled or same_cell(counterfactual.row["income"].iloc[0], row["income"].iloc[0])
        assert grants(counterfactual.row)[0] != grants(row)[0]
