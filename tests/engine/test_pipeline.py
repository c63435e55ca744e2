"""The distance in force: the scales of training, or the caller's own, times the weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.worlds import DATA, fitted_of, space_of
from macex.engine.pipeline import measure_of
from macex.errors import OptionError

ROWS = DATA.iloc[[0, 70]]  # hours 0 and 10
AT = np.array([0, 1, 1])


def moved(space) -> np.ndarray:
    """Units in the order of names: hours, job, rate."""
    codes = space.queries[AT].copy()
    codes[0, 0] += 30
    codes[1, 1] = (codes[1, 1] + 1) % 3
    codes[2, [0, 1]] = codes[2, 0] + 15, (codes[2, 1] + 1) % 3
    return codes


def test_numbers_by_their_median_and_categories_by_1():
    fitted = fitted_of()
    space = space_of(fitted, ROWS)
    assert np.median(DATA["hours"]) == 29.5
    expected = [30 / 29.5, 1, 1 + 15 / 29.5]
    assert measure_of(fitted, space)(moved(space), AT).tolist() == pytest.approx(expected)


def test_weights_multiply_and_a_weight_of_one_query_is_its_own():
    fitted = fitted_of()
    space = space_of(fitted, ROWS, weights={"hours": 2.0, "job": 0.5})
    expected = [2 * 30 / 29.5, 0.5, 0.5 + 2 * 15 / 29.5]
    assert measure_of(fitted, space)(moved(space), AT).tolist() == pytest.approx(expected)


def test_a_derived_column_adds_no_distance():
    fitted = fitted_of()
    space = space_of(fitted, ROWS, derived={"rate": "hours / 10"})
    expected = [30 / 29.5, 1, 1 + 15 / 29.5]
    assert measure_of(fitted, space)(moved(space), AT).tolist() == pytest.approx(expected)


def test_a_function_sees_the_caller_s_rows_before_and_after():
    seen: list[tuple[pd.DataFrame, pd.DataFrame]] = []

    def apart(before, after):
        seen.append((before, after))
        return np.abs(after["hours"] - before["hours"])

    fitted = fitted_of(distance=apart)
    space = space_of(fitted, ROWS)
    assert measure_of(fitted, space)(moved(space), AT).tolist() == [30, 0, 15]
    before, after = seen[-1]
    assert list(before.columns) == list(after.columns) == list(DATA.columns)
    assert (before.dtypes == DATA.dtypes).all()
    assert before["hours"].tolist() == [0, 10, 10]
    assert after["hours"].tolist() == [30, 10, 25]


def by_column(before, after):
    return np.column_stack([before[c] != after[c] for c in before.columns])


def test_a_function_by_column_is_weighted():
    fitted = fitted_of(distance=by_column)
    space = space_of(fitted, ROWS, weights={"job": 3.0})
    assert measure_of(fitted, space)(moved(space), AT).tolist() == [1, 3, 4]


def test_a_function_by_row_cannot_be_weighted_by_column():
    fitted = fitted_of(distance=lambda before, after: np.ones(len(before)))
    space = space_of(fitted, ROWS, weights={"job": 3.0})
    with pytest.raises(OptionError, match="no column has a weight of its own"):
        measure_of(fitted, space)(moved(space), AT)


def failing(before, after):
    raise KeyError("hours")


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (failing, "raised KeyError"),
        (lambda before, after: np.full(len(before), np.nan), "not finite"),
        (lambda before, after: np.ones(len(before) + 1), "shape"),
        (lambda before, after: np.ones((len(before), 2)), "shape"),
        (lambda before, after: 1.0, "shape"),
        (lambda before, after: ["far"] * len(before), "raised"),
    ],
    ids=["raises", "nan", "rows", "columns", "scalar", "text"],
)
def test_a_function_that_gives_no_distance_is_refused(apart, words):
    fitted = fitted_of()
    space = space_of(fitted, ROWS)
    object.__setattr__(fitted.options, "distance", apart)
    with pytest.raises(OptionError, match=words):
        measure_of(fitted, space)(moved(space), AT)
