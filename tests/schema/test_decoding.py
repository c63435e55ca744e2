"""Codes into frames: columns of text are looked up together and come back one by one."""

import numpy as np
import pandas as pd
import pytest

from macex.schema import Schema

DATA = pd.DataFrame(
    {
        "town": ["Bonn", "Kiel", None, "Ulm"],
        "age": [30, 41, 52, 63],
        "job": ["nurse", "cook", "cook", "nurse"],
        "kind": pd.array(["a", None, "b", "c"], dtype="string"),
        "pet": ["cat", "dog", "eel", None],
    }
)


def test_several_columns_of_text_come_back_as_they_were() -> None:
    schema = Schema.infer(DATA)
    pd.testing.assert_frame_equal(schema.frame(schema.read(DATA).codes), DATA)


@pytest.mark.parametrize("rows", [[0], [2, 1], []])
def test_any_rows_of_them_come_back(rows: list[int]) -> None:
    schema = Schema.infer(DATA)
    part = DATA.iloc[rows].reset_index(drop=True)
    pd.testing.assert_frame_equal(schema.frame(schema.read(DATA).codes[rows]), part)


def test_a_text_never_seen_stays_the_callers_own_beside_the_others() -> None:
    schema = Schema.infer(DATA)
    query = DATA.assign(town=["Rom", "Kiel", None, "Ulm"])
    rows = schema.read(query)
    pd.testing.assert_frame_equal(schema.frame(rows.codes, own=rows), query)


def test_nanoseconds_of_a_zoned_datetime_stay_the_callers_own() -> None:
    days = pd.date_range("2024-01-01 00:00:00.000000123", periods=4, tz="UTC", unit="ns")
    data = DATA.assign(since=days)
    schema = Schema.infer(data)
    rows = schema.read(data)
    pd.testing.assert_frame_equal(schema.frame(rows.codes, own=rows), data)


@pytest.mark.parametrize("library", ["pandas", "numpy"])
def test_an_odd_cell_leaves_numbers_of_one_dtype_in_one_piece(library):
    numbers = np.arange(60.0).reshape(20, 3) / 8
    odd = numbers.copy()
    odd[4, 1] = -0.0
    made = (lambda array: array) if library == "numpy" else pd.DataFrame
    schema = Schema.infer(made(numbers))
    rows = schema.read(made(odd))
    assert rows.originals
    frame = schema.frame(rows.codes, rows)
    array = frame if library == "numpy" else frame.to_numpy()
    assert np.array_equal(np.signbit(array), np.signbit(odd))
    assert np.array_equal(array, odd)
    assert library == "numpy" or np.shares_memory(array, frame.to_numpy())


def test_columns_of_all_dtypes_lie_as_pandas_lays_them():
    data = DATA.assign(
        half=[0.5, np.nan, 1.5, 2.0],
        pay=pd.array([1, None, 3, 4], dtype="Int64"),
        since=pd.to_datetime(["2020-01-01", None, "2021-01-01", "2022-01-01"]),
        grade=pd.Categorical(["x", "y", "x", None]),
        any=np.array(["x", 3, None, "y"], dtype=object),
        tall=[True, False, True, True],
        more=[1.25, 2.5, np.nan, 4.5],
    )
    schema = Schema.infer(data)
    rows = schema.read(data.assign(more=[1.25, 2.5, -0.0, 4.5], pet=["cat", "ape", "eel", None]))
    made = schema.frame(rows.codes, own=rows)
    pd.testing.assert_frame_equal(made, rows.native)
    arrays = {
        str(block.dtype): block.values for block in made._mgr.blocks if block.values.ndim == 2
    }
    assert arrays["float64"].shape == (2, 4)
    assert arrays["float64"].flags.c_contiguous


def test_older_pandas_builds_the_same_frames(monkeypatch):
    data = DATA.assign(half=[0.5, np.nan, 1.5, 2.0], any=np.array(["x", 3, None, "y"], object))
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    monkeypatch.delattr(pd.api, "internals", raising=False)
    pd.testing.assert_frame_equal(schema.frame(codes), data)
