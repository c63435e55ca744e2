"""A swapped copy differs from its row in one to three cells, and has values seen in training."""

from __future__ import annotations

import numpy as np

from macex.stages.plausibility.swaps import MOST_CELLS, swapped


def rows(count: int = 300) -> np.ndarray:
    draw = np.random.default_rng(0)
    return np.column_stack([draw.integers(0, k, count) for k in (2, 5, 50, 1, 400)]).astype(float)


def test_one_to_three_cells_differ_and_none_in_a_constant_column():
    real = rows()
    copies, differs = swapped(real, real, np.random.default_rng(1))
    changed = (copies != real).sum(axis=1)
    assert differs.mean() > 0.95
    assert np.array_equal(differs, changed > 0)
    assert set(changed[differs]) == {1, 2, MOST_CELLS}
    assert np.array_equal(copies[:, 3], real[:, 3])


def test_new_values_are_values_of_their_columns():
    real = rows()
    copies, _ = swapped(real[:50], real, np.random.default_rng(1))
    for before, after in zip(real.T, copies.T, strict=True):
        assert np.isin(after, before).all()


def test_rare_values_come_up_more_often_than_in_training():
    real = rows(3000)
    real[:, 1] = 0.0
    real[:10, 1] = 1.0
    copies, _ = swapped(real, real, np.random.default_rng(1))
    assert (copies[:, 1] == 1.0).sum() > 50


def test_rows_of_constant_columns_have_no_copy_that_differs():
    copies, differs = swapped(np.ones((5, 3)), np.ones((5, 3)), np.random.default_rng(0))
    assert np.array_equal(copies, np.ones((5, 3)))
    assert not differs.any()
