"""What is not changed comes back bit for bit, whatever its dtype."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.schema import Schema
from schema.every_dtype import ARRAYS, PANDAS, POLARS, identical, pandas_column

few = settings(max_examples=15)


def assert_comes_back(train, query):
    schema = Schema.infer(train)
    stored = Schema.from_dict(schema.to_dict())
    for rows in (schema.read(train), stored.read(query)):
        at = np.arange(len(rows))[::-1]
        model_frame = rows.schema.frame(rows.codes[at], own=rows, at=at)
        assert identical(rows.frame(at, rows.codes[at]), taken(rows.native, at))
        assert identical(model_frame, taken(rows.native, at, reset=True))
        assert identical(rows.row(0), taken(rows.native, [0]))


def taken(native, at, *, reset=False):
    if isinstance(native, pd.DataFrame):
        frame = native.take(at)
        return frame.reset_index(drop=True) if reset else frame
    return native[at]


@pytest.mark.parametrize("name", PANDAS)
@given(data=st.data())
@few
def test_pandas_columns_come_back_bit_for_bit(name, data):
    dtype, values = PANDAS[name]
    train = data.draw(st.lists(values, min_size=1, max_size=8))
    train = pd.DataFrame({"other": 1.5, 7: pandas_column(train, dtype)})
    query = data.draw(st.lists(st.sampled_from(range(len(train))), min_size=1, max_size=4))
    assert_comes_back(train, train.take(query))


@pytest.mark.parametrize("name", POLARS)
@given(data=st.data())
@few
def test_polars_columns_come_back_bit_for_bit(name, data):
    dtype, values = POLARS[name]
    train = data.draw(st.lists(values, min_size=1, max_size=8))
    train = pl.DataFrame({"other": ["x"] * len(train), "c": pl.Series(train, dtype=dtype)})
    query = data.draw(st.lists(st.sampled_from(range(len(train))), min_size=1, max_size=4))
    assert_comes_back(train, train[query])


@pytest.mark.parametrize("name", ARRAYS)
@given(data=st.data())
@few
def test_arrays_come_back_bit_for_bit(name, data):
    dtype, values = ARRAYS[name]
    train = data.draw(st.lists(st.tuples(values, values), min_size=1, max_size=8))
    array = np.empty((len(train), 2), dtype=object)
    array[:] = train
    query = data.draw(st.lists(st.sampled_from(range(len(train))), min_size=1, max_size=4))
    array = array.astype(dtype)
    assert_comes_back(array, array[query])


@pytest.mark.parametrize("name", ["object text", "str", "string", "int64", "Int64", "float64"])
@given(data=st.data())
@few
def test_values_never_seen_reach_the_model_as_they_are(name, data):
    dtype, values = PANDAS[name]
    draw = st.lists(values, min_size=1, max_size=5)
    train = pd.DataFrame(
        {"c": pandas_column(["a"] if dtype in (object, "str", "string") else [1], dtype)}
    )
    query = pd.DataFrame({"c": pandas_column(data.draw(draw), dtype)})
    assert_comes_back(train, query)


def test_numbers_in_an_object_column_keep_their_type():
    frame = pd.DataFrame(
        {"c": pd.Series([1, 2.5, np.float32(3), None, float("nan")], dtype=object)}
    )
    schema = Schema.infer(frame)
    rows = schema.read(frame)
    assert schema.columns[0].kind == "continuous"
    assert identical(schema.frame(rows.codes, rows, np.arange(5)), frame)


def test_nan_is_not_null_in_nullable_floats():
    held = pd.arrays.FloatingArray(np.array([np.nan, 0.0, 1.0]), np.array([False, True, False]))
    schema = Schema.infer(pd.DataFrame({"c": held}))
    rows = schema.read(pd.DataFrame({"c": held}))
    again = schema.frame(rows.codes, rows, np.arange(3))["c"].array
    np.testing.assert_array_equal(again._data, [np.nan, 0.0, 1.0])
    np.testing.assert_array_equal(again._mask, [False, True, False])
