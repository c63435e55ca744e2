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
