"""Counts of training rows are right, whatever the column, and far values do not flatten them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.schema import Schema
from macex.schema.distributions import BINS, distributions, restored


def counted(frame, decision, classes=2):
    schema = Schema.infer(frame)
    return schema, distributions(schema, schema.read(frame).codes, np.array(decision), classes)


def test_every_row_is_counted_once_in_each_column():
    frame = pd.DataFrame({"x": np.arange(50.0), "job": ["a", "b"] * 25})
    _, found = counted(frame, [0, 1] * 25)
    assert [found.of(at).sum() for at in range(2)] == [50, 50]
    assert found.of(1, np.array([True, False])).tolist() == [25, 0]
    assert found.total(np.array([False, True])) == 25


def test_missing_values_are_in_no_bin():
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0]})
    _, found = counted(frame, [0, 0, 0, 1])
    assert found.of(0).sum() == 3


def test_far_values_count_in_the_outer_bins():
    frame = pd.DataFrame({"x": [*np.linspace(0, 1, 999), 1e9]})
    _, found = counted(frame, [0] * 1000)
    assert found.ends[0, 1] < 2
    assert found.of(0).sum() == 1000
    assert found.of(0).max() < 100


@pytest.mark.parametrize("values", [[1.0], [5, 5, 5], [np.nan, 1.0], [True, False]])
def test_columns_with_hardly_any_values(values):
    frame = pd.DataFrame({"x": values})
    schema, found = counted(frame, [0] * len(values), 1)
    assert found.of(0).sum() == frame["x"].notna().sum()
    assert len(found.of(0)) == (len(schema.columns[0].table) or BINS)


def test_stored_counts_of_other_columns_are_refused():
    frame = pd.DataFrame({"x": np.arange(50.0)})
    schema, found = counted(frame, [0, 1] * 25)
    with pytest.raises(ValueError, match="other columns"):
        restored(schema, found.counts[:, :3], found.ends, found.rows)


@pytest.mark.parametrize("value", [0.0, -7.0, 1e17, -1e99])
def test_a_column_of_one_value_has_a_range_around_it(value):
    frame = pd.DataFrame({"x": np.full(8, value), "y": range(8)})
    schema = Schema.infer(frame)
    counted = distributions(schema, schema.read(frame).codes, np.zeros(8, int), 1)
    low, high = counted.ends[0]
    assert low < value < high
    assert counted.of(0, None).sum() == 8
