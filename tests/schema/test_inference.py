"""What the training data says of each column."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.errors import SchemaError
from macex.schema import Continuous, Ordered, Schema

TEXT = pd.Series(["a"]).dtype  # str, and object with pandas 2


def column_of(values, dtype=None, kind=None):
    frame = pd.DataFrame({"c": pd.Series(values, dtype=dtype)})
    return Schema.infer(frame, {} if kind is None else {"c": kind}).columns[0]


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        (["a", "b"], None, "categorical"),
        (["a", "b"], object, "categorical"),
        (["a", "b"], "category", "categorical"),
        ([1, 2], "category", "categorical"),
        ([True, False], None, "categorical"),
        ([True, None], "boolean", "categorical"),
        ([True, 2], object, "categorical"),
        ([None, None], None, "categorical"),
        (["a"], pd.CategoricalDtype(["b", "a"], ordered=True), "ordered"),
        ([1, 2], None, "continuous"),
        ([1, None], "Int64", "continuous"),
        ([1, 2.5, None], object, "continuous"),
        (pd.to_datetime(["2024-01-01"]), None, "datetime"),
    ],
)
def test_the_dtype_says_the_kind(values, dtype, kind):
    assert column_of(values, dtype).kind == kind


@pytest.mark.parametrize(
    ("values", "dtype", "step"),
    [
        ([1, 5], "int8", 1),
        ([1.0, 5.0, None], "float64", 1),
        ([0.5, 0.25], "float64", 0.01),
        ([0.1, 0.7], "float32", 0.1),
        ([1e-6, 2.5], "float64", 1e-6),
        ([1 / 3], "float64", 0),
        ([1e99, 0.5], "float64", 0.1),
        (["2024-01-01", "2024-01-05"], "datetime64[us]", 86_400),
        (["2024-01-01 00:00:01", "2024-01-05"], "datetime64[us]", 1),
        (["2024-01-01 00:00:00.5", "2024-01-05"], "datetime64[us]", 1e-6),
    ],
)
def test_the_grid_is_that_of_the_decimals_seen(values, dtype, step):
    assert column_of(values, dtype).step == step


@given(st.permutations(["b", "a", "c", 2, 1.5, True, "b"]))
def test_the_order_of_the_rows_does_not_matter(values):
    column = column_of(values, object)
    assert column.table == (True, 1.5, 2, "a", "b", "c")
    assert column.counts.tolist() == [1, 1, 1, 1, 2, 1]


def test_declared_categories_count_in_an_order_and_not_in_a_choice():
    levels = ["lo", "mid", "hi"]
    ordered = column_of(["hi", "lo", "hi"], pd.CategoricalDtype(levels, ordered=True))
    assert ordered.table == ("lo", "mid", "hi")
    assert ordered.seen.tolist() == [0, 2]
    assert ordered.counts.tolist() == [1, 2]
    assert column_of(["hi", "lo"], pd.CategoricalDtype(levels)).table == ("hi", "lo")


def test_integers_are_categories_only_when_told():
    column = column_of([3, 1, 3], kind="categorical")
    assert (column.kind, column.table, column.dtype) == ("categorical", (1, 3), np.dtype("int64"))


def test_the_caller_may_give_order_grid_and_range():
    given_order = column_of(["hi", "lo"], kind=Ordered(("lo", "mid", "hi")))
    assert given_order.table == ("lo", "mid", "hi")
    assert column_of([5, 1, 5], kind="ordered").table == (1, 5)
    column = column_of([1.5, 9.0], kind=Continuous(step=0.25, low=0))
    assert (column.step, column.low, column.high) == (0.25, 0, 9)


def test_a_schema_may_be_given_whole():
    frame = pd.DataFrame({"a": [1, 2]})
    schema = Schema.infer(frame, {"a": "categorical"})
    assert Schema.infer(frame, schema) is schema


def test_numbers_as_labels_are_names_too():
    schema = Schema.infer(pd.DataFrame([[1, "a"]], columns=[0, "b"]), {"0": "categorical"})
    assert schema.names == ("0", "b")
    assert schema.columns[0].label == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros(3), "1 dimensions"),
        ([[1, 2]], "are a list"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "columns '1' and 1"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "MultiIndex"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "'a' holds inf in row 1"),
        (pd.DataFrame({"a": ["x", Decimal(1)]}), "'a' holds Decimal.*convert"),
        (pd.DataFrame({"a": [1j]}), "'a' has dtype complex128"),
        (pd.DataFrame({"a": pd.period_range("2024", periods=1, freq="M")}), "'a' has dtype period"),
        (pd.DataFrame({"a": [[1], [2]]}), "'a' holds values that cannot be categories"),
        (pl.DataFrame({"a": [Decimal("1.5")]}), "'a' has dtype Decimal"),
    ],
)
def test_training_data_that_cannot_be_read_says_why(data, words):
    with pytest.raises(SchemaError, match=words):
        Schema.infer(data)


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        (["a", "b"], "continuous", "'c' holds 'a' in row 0, which is not a number"),
        (["a", "b"], "ordered", r"'c' is text.*Ordered\(values"),
        (["a", "b"], Ordered(("a",)), "'c' holds 'b', which Ordered"),
        (["a", "b"], "datetime", f"'c' has dtype {TEXT} and is not a datetime"),
        ([True, False], "continuous", "cannot be continuous"),
        ([None, None], "continuous", "missing in every row"),
        ([1.0, np.inf], "categorical", "holds inf"),
        (pd.to_datetime(["2024-01-01"]).as_unit("us"), "categorical", "convert the column"),
        (pd.to_datetime(["2024-01-01"]).as_unit("ns"), "categorical", "convert the column"),
        (pd.to_timedelta([5], unit="h").as_unit("ns"), "categorical", "convert the column"),
    ],
)
def test_a_kind_that_does_not_fit_says_why(values, kind, words):
    with pytest.raises(SchemaError, match=words):
        column_of(values, kind=kind)


def test_an_unknown_column_in_the_kinds_is_an_error():
    with pytest.raises(SchemaError, match=r"no column 'agee'.*'age'"):
        Schema.infer(pd.DataFrame({"age": [1]}), {"agee": "continuous"})
    with pytest.raises(SchemaError, match="not list"):
        Schema.infer(pd.DataFrame({"age": [1]}), ["age"])
