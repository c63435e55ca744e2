"""Inputs of trees: bins of columns, and residuals in which sums and products show."""

from __future__ import annotations

import numpy as np
import pytest

from macex.schema import MISSING, UNKNOWN
from macex.stages.plausibility.measure import BINS, LEVELS, NUMBERS, learn_inputs


def learned(codes: np.ndarray, discrete: list[bool]):
    return learn_inputs(codes, codes[::-1], np.array(discrete))


@pytest.mark.parametrize("join", [np.add, np.multiply])
def test_a_number_that_does_not_fit_the_others_has_a_residual_of_its_own(join):
    draw = np.random.default_rng(0)
    a, b = draw.uniform(1, 50, (2, 500))
    rows = np.column_stack([a, b, join(a, b)])
    inputs = learned(rows, [False] * 3)
    broken = rows.copy()
    broken[:, 2] = rows[::-1, 2]
    best = 0.0
    for one in inputs.predictions:
        kept, lost = (
            np.abs(one.residuals(codes, inputs.columns(codes))[:, 2]) for codes in (rows, broken)
        )
        best = max(best, float((lost[:, None] > kept[None]).mean()))
    assert best > 0.95


def test_missing_numbers_and_unknown_categories_have_bins():
    rows = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, MISSING], [0.0, 4.0]] * 10)
    inputs = learned(rows, [True, False])
    bins = inputs(np.array([[UNKNOWN, MISSING], [0.0, 1.0]]))
    assert bins[0].tolist() == [0, 1]
    assert bins[1, 0] == 0
    assert bins[1, 1] > 0


def test_a_row_alone_has_the_inputs_that_it_has_among_others():
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.integers(0, 4, 400), draw.normal(size=(400, 3))])
    inputs = learned(rows, [True, False, False, False])
    together = inputs(rows)
    for place in range(50):
        assert np.array_equal(inputs(rows[place : place + 1])[:, 0], together[:, place])


def test_the_number_of_bins_and_of_predictions_is_bounded():
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.integers(0, 5000, 3000), draw.normal(size=(3000, 80))])
    inputs = learned(rows, [True] + [False] * 80)
    assert inputs.sizes[0] == LEVELS + 1
    assert inputs.sizes.max() <= max(BINS, LEVELS) + 1
    assert all(len(one.numbers) == NUMBERS for one in inputs.predictions)


def test_huge_numbers_and_columns_of_one_value_do_no_harm():
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.normal(size=200) * 1e300, np.ones(200), draw.normal(size=200)])
    inputs = learned(rows, [False] * 3)
    assert all(np.isfinite(one.weights).all() for one in inputs.predictions)
    assert inputs(rows).shape[1] == 200
