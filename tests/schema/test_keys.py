"""Keys of rows: equal rows share one, different rows do not."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from macex.schema import MISSING, UNKNOWN, cell_keys, row_keys


@pytest.mark.parametrize("columns", [1, 2, 5, 9])
@pytest.mark.parametrize("step", [1.0, 0.1, 1e6, 2.0**-30])
def test_different_rows_have_different_keys(columns, step):
    rng = np.random.default_rng(columns)
    rows = np.unique(rng.integers(-40, 40, (60_000, columns)) * step, axis=0)
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_rows_that_hold_the_same_values_elsewhere_differ():
    rows = np.array(list(permutations([0.0, 1.0, 2.0, 3.0, MISSING, UNKNOWN])))
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_the_key_of_a_row_is_the_sum_of_its_cells():
    row = np.array([[4.0, 7.5, MISSING]])
    cells = [cell_keys(row[:, at], np.array([at])) for at in range(3)]
    assert row_keys(row) == cells[0] + cells[1] + cells[2]


def test_zero_has_one_key():
    assert all(a == b for a, b in pairwise(row_keys(np.array([[0.0], [-0.0]]))))
