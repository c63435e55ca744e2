"""Every moment seen has a code of its own, and the way back is exact."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.schema import Schema

YEARS = {"ns": 10**18, "us": 10**17, "ms": 10**14, "s": 10**11}
UNITS = tuple(YEARS)


def column_of(ticks, unit, kind="M"):
    values = np.array(ticks, dtype=np.int64).astype(f"{kind}8[{unit}]")
    schema = Schema.infer(pd.DataFrame({"when": values}))
    return values, schema


@pytest.mark.parametrize("kind", ["M", "m"])
@pytest.mark.parametrize("unit", UNITS)
@given(data=st.data())
def test_codes_keep_order_and_lead_back(data, unit, kind):
    most = YEARS[unit]
    far = st.integers(0, most)
    near = st.builds(
        lambda tick, more: tick + more, st.sampled_from([0, most // 3]), st.integers(0, 9)
    )
    ticks = data.draw(st.lists(far | near, min_size=1, max_size=30))
    values, schema = column_of(ticks, unit, kind)
    codes = schema.read(pd.DataFrame({"when": values})).codes[:, 0]
    order = np.argsort(values, kind="stable")
    assert (np.sign(np.diff(codes[order])) == np.sign(np.diff(np.array(ticks)[order]))).all()
    assert np.array_equal(schema.frame(codes[:, None])["when"].to_numpy(), values)


@pytest.mark.parametrize("unit", UNITS)
@given(more=st.integers(-3, 3), at=st.integers(0, 4))
def test_a_moment_never_seen_is_before_or_after_every_seen_one(unit, more, at):
    ticks = np.array([0, 5, 9, YEARS[unit] // 2, YEARS[unit]])
    values, schema = column_of(ticks, unit)
    column = schema.columns[0]
    asked = values[at] + np.timedelta64(more, unit)
    code = column.code(asked)
    assert np.array_equal(np.sign(code - column.seen), np.sign((asked - values).astype(np.int64)))


def test_a_far_end_of_a_range_is_farther_than_all_that_nanoseconds_hold():
    _values, schema = column_of([0, 10**18], "ns")
    column = schema.columns[0]
    assert column.code("9999-12-31") > column.high
    assert column.code("1000-01-01") < column.low


@pytest.mark.parametrize(
    ("unit", "ticks", "step"),
    [
        ("ns", [0, 86_400 * 10**9], 86_400.0),
        ("ns", [5, 5 + 3 * 10**9], 1.0),
        ("ns", [0, 7_000], 1e-6),
        ("ns", [0, 7], 1e-9),
        ("us", [0, 7], 1e-6),
        ("ms", [0, 7], 1e-3),
        ("s", [0, 7], 1.0),
    ],
)
def test_the_grid_is_never_finer_than_the_dtype(unit, ticks, step):
    assert column_of(ticks, unit)[1].columns[0].step == step
