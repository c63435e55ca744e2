from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("torch")

import torch

from macex.device.arrays import (
    along,
    best_of,
    first_lowest,
    first_of_each,
    fused,
    fusing,
    lowest,
    on_host,
    place_named,
    position,
    ranked_keys,
    rows_at,
    smallest,
    without,
)
from macex.stages import arrays as of_stages

tables = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(5, 9)), elements=st.integers(-3, 3)
)


def both(function, *tables, **options):
    """What a function gives for NumPy, after a look that torch gives the same."""
    one = function(*tables, **options)
    other = function(*(torch.as_tensor(table) for table in tables), **options)
    np.testing.assert_array_equal(one, other.numpy())
    return one


@given(tables)
def test_the_first_of_each_key_is_that_of_the_stages(table):
    np.testing.assert_array_equal(both(first_of_each, table), of_stages.first_of_each(table))


@given(tables, st.integers(1, 5))
def test_the_smallest_are_the_first_when_sorted(table, count):
    np.testing.assert_array_equal(
        both(smallest, table, count=count), np.sort(table, axis=1)[:, :count]
    )


@given(tables)
def test_of_equally_low_entries_the_first_is_taken(table):
    np.testing.assert_array_equal(both(lambda t: first_lowest(t)[1], table), table.argmin(axis=1))
    np.testing.assert_array_equal(both(lambda t: first_lowest(t)[0], table), table.min(axis=1))


@given(tables, st.integers(1, 9))
def test_ranked_keys_put_the_highest_first_and_equal_ones_by_position(table, count):
    keys = both(ranked_keys, table)
    order = both(lowest, keys, count=count)
    np.testing.assert_array_equal(order, np.argsort(-table, axis=1, kind="stable")[:, :count])


@given(tables)
def test_the_best_is_the_first_by_all_keys(table):
    second = np.abs(table)
    best = both(best_of, table > -3, table % 2, second)
    for line, place in enumerate(best):
        real = np.flatnonzero(table[line] > -3)
        if len(real):
            keys = [(table[line, at] % 2, second[line, at], at) for at in real]
            assert min(keys)[2] == place


@given(tables)
def test_rows_and_positions_are_those_of_numpy(table):
    index = np.arange(len(table))[::-1].copy()
    np.testing.assert_array_equal(both(rows_at, table, index), table[index])
    ranked = np.sort(table[0])
    np.testing.assert_array_equal(
        both(position, ranked, table[:, 1], side="right"),
        np.searchsorted(ranked, table[:, 1], side="right"),
    )


@fused
def lowest_two(table, columns):
    left, found = table + 0.0, []
    for _ in range(2):
        value, lead = first_lowest(left)
        left = without(left, lead)
        found += [value, along(columns, lead[:, None])[:, 0]]
    return found


def test_what_torch_compiles_is_the_same_for_any_number_of_lines():
    draw = np.random.default_rng(0)
    for count in (7, 5, 9):
        table = torch.as_tensor(draw.integers(0, 4, (count, 6)).astype(float))
        columns = torch.as_tensor(draw.integers(0, 9, (count, 6)))
        plain = lowest_two(table, columns)
        with fusing(on=True), torch._dynamo.config.patch(error_on_recompile=count != 7):
            made = lowest_two(table, columns)
        for one, other in zip(made, plain, strict=True):
            assert torch.equal(one, other)


def test_without_a_device_arrays_are_numpys():
    assert isinstance(place_named(None).array([1.0]), np.ndarray)
    assert place_named("cpu").array([1.0]).device.type == "cpu"
    assert isinstance(on_host(place_named("cpu").array([1.0])), np.ndarray)
