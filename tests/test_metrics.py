"""Sparsity and the three readings of diversity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from macex.metrics import changed, diversity, sparsity

CODES = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 2)
)


@given(CODES)
def test_sparsity_counts_what_differs_from_the_query(codes):
    counts = sparsity(changed(codes, codes[0]))
    assert counts.tolist() == [sum(a != b for a, b in zip(r, codes[0], strict=True)) for r in codes]


@given(CODES)
def test_diversity_is_a_share_that_duplicates_lower_and_order_leaves(codes):
    query = np.zeros(codes.shape[1])
    readings = diversity(codes, query)
    assert all(0 <= reading <= 1 for reading in readings)
    assert diversity(codes[::-1], query) == pytest.approx(readings)
    assert diversity(np.repeat(codes[:1], 3, axis=0), query) == (0, 0, 0)


@given(CODES)
def test_columns_changed_by_either_are_at_least_as_diverse_as_all_columns(codes):
    readings = diversity(codes, np.zeros(codes.shape[1]))
    assert readings.changed_columns >= readings.all_columns - 1e-12
    assert readings.changed_columns >= readings.column_sets - 1e-12


def test_other_values_of_the_same_columns_differ_but_not_as_sets():
    assert diversity(np.array([[1, 0], [2, 0]]), np.zeros(2)) == (0.5, 1.0, 0.0)


def test_a_missing_answer_counts_nothing():
    two = np.array([[1, 0], [0, 1]])
    assert diversity(two, np.zeros(2), wanted=3) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert diversity(two[:1], np.zeros(2), wanted=3) == (0, 0, 0)
    assert diversity(np.empty((0, 2)), np.zeros(2)) == (0, 0, 0)


def test_a_pair_without_changes_has_no_diversity():
    assert diversity(np.zeros((2, 3)), np.zeros(3)) == (0, 0, 0)
