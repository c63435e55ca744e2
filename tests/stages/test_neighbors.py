"""Nearest rows are exact: the same as looking at every training row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.schema import MISSING, UNKNOWN, Schema
from macex.stages import neighbors
from macex.stages.neighbors import Bins, NeighborIndex, learn_bins

DISCRETE = np.array([True, False, True, False])  # narrow, number, wide, number


def index_of(seed: int, count: int = 80, wide: int = 90) -> NeighborIndex:
    """Random bins: a narrow category, two numbers (one often missing), a wide category."""
    rng = np.random.default_rng(seed)
    binned = np.column_stack(
        [
            rng.integers(-1, 3, count),
            rng.integers(0, 4, count),
            rng.integers(0, wide, count),
            rng.integers(-1, 3, count),
        ]
    ).astype(np.int32)
    binned[0, 2] = wide - 1
    return NeighborIndex(binned, DISCRETE, np.zeros(count, int))


def queries_of(seed: int, wide: int = 90) -> np.ndarray:
    """Queries with missing values and unknown categories among them."""
    rng = np.random.default_rng(seed + 1000)
    lows, highs = [-2, -1, -2, -1], [3, 4, wide, 3]
    return rng.integers(lows, highs, (6, 4)).astype(np.int32)


def gap(row, other, match) -> int:
    """Squared distance: 2 for other categories, bins apart squared, a blank is 5 from bin 0."""
    total = 0
    for column in np.flatnonzero(match):
        a, b = int(row[column]), int(other[column])
        if DISCRETE[column]:
            total += 2 * (a != b)
        else:
            total += (max(a, 0) - max(b, 0)) ** 2 + 25 * ((a < 0) != (b < 0))
    return total


def brute_force(index, query, rows, match, count) -> list[tuple[int, int]]:
    """(distance, row) of the nearest distinct rows, ties by position."""
    found, met = [], {tuple(query[match])}
    for distance, row in sorted((gap(query, index.binned[row], match), int(row)) for row in rows):
        key = tuple(index.binned[row][match])
        if key not in met:
            met.add(key)
            found.append((distance, row))
    return found[:count]


def agree(index, queries, rows, match, count, among=None) -> None:
    found, real = index.nearest(queries, index.side(rows, match), count, among)
    for place, query in enumerate(queries):
        pool = rows if among is None else rows[among[place]]
        expected = brute_force(index, query, pool, match, count)
        assert found[place][real[place]].tolist() == [row for _, row in expected]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 100),
    match=st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
    masked=st.booleans(),
    wide=st.sampled_from([3, 64, 65, 90]),
)
def test_nearest_rows_are_those_of_brute_force(seed, count, match, masked, wide):
    index, queries = index_of(seed, wide=wide), queries_of(seed, wide)
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(len(index.binned)) < 0.7)
    among = rng.random((len(queries), len(rows))) < 0.4 if masked else None
    agree(index, queries, rows, np.array(match), count, among)


def test_few_distinct_rows_among_many_copies_are_all_found():
    binned = np.zeros((500, 4), np.int32)
    binned[[7, 77, 477], 1] = 1, 2, 3
    index = NeighborIndex(binned, DISCRETE, np.zeros(500, int))
    query = np.array([[0, 0, 0, 0]], np.int32)
    every = index.side(np.arange(500), np.ones(4, bool))
    found, real = index.nearest(query, every, 5)
    assert found[0][real[0]].tolist() == [7, 77, 477]


@pytest.mark.parametrize("empty", ["rows", "columns", "among"])
def test_where_nothing_can_be_compared_nothing_is_found(empty):
    index, queries = index_of(0), queries_of(0)
    rows = np.arange(0 if empty == "rows" else 80)
    match = np.full(4, empty != "columns")
    among = np.zeros((len(queries), 80), bool) if empty == "among" else None
    found, real = index.nearest(queries, index.side(rows, match), 5, among)
    assert found.shape == real.shape == (6, 5)
    assert not real.any()


def test_blocks_of_queries_change_nothing(monkeypatch):
    index, queries = index_of(3), queries_of(3)
    side = index.side(np.arange(80), np.ones(4, bool))
    whole = index.nearest(queries, side, 7)
    monkeypatch.setattr(neighbors, "BLOCK", 1)
    for one, two in zip(whole, index.nearest(queries, side, 7), strict=True):
        assert np.array_equal(one, two)


def test_a_wide_category_makes_no_wide_table():
    binned = np.column_stack([np.arange(5000) % 3, np.arange(5000)]).astype(np.int32)
    index = NeighborIndex(binned, np.array([True, True]), np.zeros(5000, int))
    side = index.side(np.arange(5000), np.ones(2, bool))
    assert side.features.shape[1] <= 4
    found, real = index.nearest(np.array([[1, 4999]], np.int32), side, 2)
    assert real.all()
    assert (binned[found[0], 0] == 1).all()
    assert 4999 not in found[0]  # equal to the query


def test_equal_rows_of_a_group_are_held_once():
    binned = np.array([[0, 1], [0, 1], [0, 1], [0, 2]], np.int32)
    index = NeighborIndex(binned, np.array([True, False]), np.array([0, 1, 0, 0]))
    assert index.distinct.tolist() == [0, 1, 3]


def test_bins_hold_equal_shares_and_name_what_is_odd():
    data = pd.DataFrame({"x": [*map(float, range(100)), np.nan], "c": ["a", *"ab" * 50]})
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    bins = learn_bins(schema, codes, 10)
    binned = bins(codes)
    assert np.bincount(binned[:100, 0]).tolist() == [10] * 10
    assert binned[100, 0] == -1
    assert np.array_equal(binned[:, 1], codes[:, 1])
    assert bins(np.array([[1e9, UNKNOWN], [-1e9, MISSING]])).tolist() == [[9, -2], [0, -1]]


@pytest.mark.parametrize("ones", [5, 50, 95])
def test_two_numbers_are_told_apart_however_rare_one_of_them_is(ones):
    data = pd.DataFrame({"x": [0] * (100 - ones) + [1] * ones, "y": range(100)})
    schema = Schema.infer(data)
    bins = learn_bins(schema, schema.read(data).codes, 10)
    assert isinstance(bins, Bins)
    low, high = bins(np.array([[0.0, 0], [1.0, 0]]))[:, 0]
    assert low != high
