from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.datasets import load
from macex.errors import OptionError

BREAST = load("breast")
TEST_ROWS = 137


@given(seed=st.integers(0, 2**32 - 1))
def test_a_split_divides_the_rows_four_to_one(seed):
    train, test = BREAST.split(seed)
    assert len(test) == TEST_ROWS
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(BREAST.frame)))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, TEST_ROWS))
def test_rows_are_distinct_test_rows_and_a_longer_draw_repeats_a_shorter_one(seed, count):
    rows = BREAST.rows(count, seed)
    assert len(set(rows)) == count
    assert set(rows) <= set(BREAST.split(seed)[1])
    assert np.array_equal(rows, BREAST.rows(TEST_ROWS, seed)[:count])


def test_the_benchmark_rows_never_move():
    assert load("adult").rows(3).tolist() == [27014, 30428, 26206]
    assert BREAST.rows(3).tolist() == [110, 42, 388]


@pytest.mark.parametrize("count", [-1, TEST_ROWS + 1])
def test_a_count_without_enough_rows_is_an_error(count):
    with pytest.raises(OptionError, match="137 test rows"):
        BREAST.rows(count)
