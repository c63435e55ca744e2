"""What people type into a cell means what the column means by it."""

from __future__ import annotations

import pandas as pd
import pytest

from macex.errors import SchemaError
from macex.schema import Schema
from macex.schema.text import code_to_set, text_of, typed

ROWS = pd.DataFrame(
    {
        "age": [30, 41, 52],
        "rate": [0.1, 1 / 3, 2.5],
        "job": ["a", "b", " c"],
        "code": pd.Categorical([1, 2, 3]),
        "since": pd.to_datetime(["2020-01-31", "2021-05-01 12:30", "2022-01-01"], format="ISO8601"),
        "yes": [True, False, True],
    }
)
SCHEMA = Schema.infer(ROWS)


@pytest.mark.parametrize("name", ROWS.columns)
def test_what_is_written_of_a_value_is_read_back_as_it(name):
    column = SCHEMA.columns[SCHEMA.position(name)]
    for code in column.seen.tolist():
        assert typed(column, text_of(column.value(code))) == code


def test_no_text_is_a_missing_value():
    with_gap = Schema.infer(pd.DataFrame({"rate": [0.1, None, 0.2]})).columns[0]
    assert with_gap.value(typed(with_gap, " ")) is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("age", " ", "'age' is never missing in training"),
        ("job", "", "'job' is never missing in training"),
        ("age", "1.5", "'age' takes whole numbers, not '1.5'"),
        ("age", "many", "'age' takes whole numbers"),
        ("rate", "inf", "'rate' needs a finite number"),
        ("job", "d", "'job' has no value 'd'"),
        ("since", "soon", "'since' needs a date or time, not 'soon'"),
    ],
)
def test_what_does_not_fit_is_named(name, text, said):
    with pytest.raises(SchemaError, match=said):
        typed(SCHEMA.columns[SCHEMA.position(name)], text)


@pytest.mark.parametrize("value", ["300", 300, -129.0])
def test_what_the_dtype_cannot_hold_is_not_set(value):
    (debt,) = Schema.infer(pd.DataFrame({"debt": [1, 2, 3]}, dtype="int8")).columns
    assert debt.value(code_to_set(debt, "127")) == 127
    with pytest.raises(SchemaError, match=r"'debt' cannot hold .*trained as int8"):
        code_to_set(debt, value)
