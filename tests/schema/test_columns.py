"""A column turns values into codes and back, and puts numbers where a frame can hold them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.errors import SchemaError
from macex.schema import MISSING, UNKNOWN, Continuous, Schema


def column_of(values, dtype=None, kind=None):
    frame = pd.DataFrame({"c": pd.Series(values, dtype=dtype)})
    return Schema.infer(frame, {} if kind is None else {"c": kind}).columns[0]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (column_of(["x", "y"]), "y"),
        (column_of([True, False]), True),
        (column_of([3, 7]), 5),
        (column_of([0.1, 0.25], "float32"), 0.13),
        (column_of([0.5, 1 / 3]), 0.4321),
        (column_of([3, 7], kind="categorical"), 7),
        (column_of(pd.to_datetime(["2024-01-01", "2024-03-01"])), datetime(2024, 2, 1)),  # noqa: DTZ001
        (column_of(pd.to_timedelta([1, 2], unit="s")), timedelta(seconds=5)),
    ],
)
def test_code_and_value_are_inverse(column, value):
    again = column.value(column.code(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize("blank", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_every_missing_value_is_one_state(blank):
    for column in (column_of(["x"]), column_of([1.5]), column_of(pd.to_datetime(["2024-01-01"]))):
        assert column.code(blank) == MISSING
        assert column.value(MISSING) is None


@pytest.mark.parametrize("moment", ["2024-03-31 02:30", "2024-10-27 02:30"])
def test_a_time_that_the_clocks_of_a_zone_show_never_or_twice_is_refused(moment):
    column = column_of(pd.to_datetime(["2024-01-01"]).tz_localize("Europe/Berlin"))
    with pytest.raises(SchemaError, match="the clocks of Europe/Berlin show it never or twice"):
        column.code(moment)


def test_a_zone_is_kept():
    column = column_of(pd.to_datetime(["2024-07-01 12:00"]).tz_localize("Europe/Paris"))
    assert column.value(0.0) == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert column.value(0.0).utcoffset() == timedelta(hours=2)
    assert column.code(datetime(2024, 7, 1, 13, tzinfo=ZoneInfo("Europe/Paris"))) == 3600


def test_a_date_stays_a_date():
    days = pl.DataFrame({"c": [date(2024, 1, 1), date(2024, 1, 9)]})
    column = Schema.infer(days).columns[0]
    assert column.value(column.code("2024-01-05")) == date(2024, 1, 5)
    assert column.step == 86_400


def test_text_names_a_moment():
    column = column_of(pd.to_datetime(["2024-01-01", "2024-03-01"]))
    assert column.code("2024-01-31") == 30 * 86_400


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (column_of(["Masters", "Doctorate"]), "Doctorat", "did you mean 'Doctorate'"),
        (column_of([1, 2]), "two", "needs a number, not 'two'"),
        (column_of([1, 2]), 1.5, "whole numbers"),
        (column_of([1.5]), float("inf"), "finite"),
        (column_of(pd.to_datetime(["2024-01-01"])), "someday", "date or time"),
        (column_of(pd.to_datetime(["2024-01-01"])), 3, "no unit"),
        (column_of(pd.to_datetime(["2024-01-01"])), datetime(2024, 1, 1, tzinfo=UTC), "time zone"),
        (column_of(["x"]), ["x"], "no value"),
    ],
)
def test_what_has_no_code_is_an_error(column, value, words):
    with pytest.raises(SchemaError, match=f"'c'.*{words}"):
        column.code(value)


def test_an_unknown_category_has_no_value():
    with pytest.raises(SchemaError, match="unknown category"):
        column_of(["x"]).value(UNKNOWN)


@given(st.lists(st.floats(-5, 5), min_size=1), st.sampled_from(["float32", "float64"]))
def test_what_is_snapped_is_what_a_frame_holds(numbers, dtype):
    frame = pd.DataFrame({"c": np.array([-1.5, 0.25, 2.0], dtype=dtype)})
    schema = Schema.infer(frame)
    codes = schema.columns[0].snap(np.array(numbers))
    held = schema.frame(codes[:, None])["c"].to_numpy()
    assert held.dtype == dtype
    np.testing.assert_array_equal(held.astype(float), codes)
    np.testing.assert_array_equal(schema.columns[0].snap(codes), codes)
    assert ((codes >= -1.5) & (codes <= 2)).all()


def test_snapping_gives_the_float_that_the_decimal_names():
    column = column_of([0.0, 12.34])
    assert column.snap(np.array([0.29999, 7.125, 11.111])).tolist() == [0.3, 7.12, 11.11]


def test_reserved_codes_are_not_numbers_to_snap():
    for column in (column_of(["x"]), column_of([1.5, 2]), column_of([1, 2])):
        assert column.snap(np.array([MISSING, UNKNOWN])).tolist() == [MISSING, UNKNOWN]


def test_an_integer_column_stays_whole_inside_a_broken_range():
    column = column_of([1, 9], kind=Continuous(low=1.5, high=7.5, step=0.5))
    assert column.snap(np.array([0.0, 4.4, 99.0])).tolist() == [2, 4, 7]


def test_missing_is_a_state():
    assert column_of([1, 1]).constant
    assert column_of([None, None]).constant
    assert not column_of([1, None]).constant
