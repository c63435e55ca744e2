"""Distances by hand: what one unit of change is, and what is counted instead of measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.schema import MISSING, UNKNOWN, Schema
from macex.stages.distance import Scales, learn_scales

DATA = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60],
        "debt": [-10.0, -2.0, 0.0, 2.0, 10.0],
        "edu": ["BSc", "MSc", "PhD", "BSc", "BSc"],
        "flat": [7, 7, 7, 7, 8],
        "rare": [0, 0, 0, 0, 9],
    }
)


def scales(kind="median", data=DATA) -> Scales:
    schema = Schema.infer(data)
    return learn_scales(schema, schema.read(data).codes, kind)


def by_name(made: Scales, values: np.ndarray, data=DATA) -> dict[str, float]:
    return dict(zip(data.columns, values.tolist(), strict=True))


def test_the_median_is_the_scale_unless_it_is_small_against_the_spread():
    made = scales()
    expected = {"age": 40.0, "debt": 4.0, "edu": 1.0, "flat": 7.0, "rare": 1.0}
    assert by_name(made, made.scale) == expected


def test_the_printed_divisor_is_the_median_and_1_where_it_is_0():
    made = scales()
    expected = {"age": 40.0, "debt": 1.0, "edu": 1.0, "flat": 7.0, "rare": 1.0}
    assert by_name(made, made.median) == expected


@pytest.mark.parametrize(
    ("middle", "expected"), [(4.1, 4.1), (3.9, 40.0), (-4.1, 4.1), (-3.9, 40.0), (0.0, 40.0)]
)
def test_the_spread_steps_in_where_the_median_is_under_a_tenth_of_it(middle, expected):
    column = middle + np.array([-30.0, -20.0, 0.0, 20.0, 30.0])
    made = scales(data=pd.DataFrame({"x": column, "y": list("aabbb")}))
    assert made.scale[0] == pytest.approx(expected)


def test_the_median_absolute_deviation_falls_back_on_the_spread_and_then_on_1():
    data = DATA.assign(flat=[1, 1, 1, 5, 9], rare=[0, 0, 0, 0, 9])
    made = scales("mad", data)
    expected = {"age": 10.0, "debt": 2.0, "edu": 1.0, "flat": 4.0, "rare": 1.0}
    assert by_name(made, made.scale) == expected


def test_percentiles_measure_the_share_of_training_between_two_values():
    made = scales("percentile")
    before = np.array([[20.0, 0, 0, 7, 0]] * 3)
    after = before.copy()
    after[:, 0] = [40, 45, 99]
    assert made.between(before, after)[:, 0].tolist() == pytest.approx([0.4, 0.5, 0.8])


@pytest.mark.parametrize("kind", ["median", "mad", "percentile"])
def test_a_category_or_a_blank_counts_1_whatever_the_scale(kind):
    made = scales(kind)
    own = [30.0, 2.0, 0.0, 7.0, 0.0]
    after = np.array([own] * 5)
    after[1, 2] = 2.0
    after[2, 0] = MISSING
    after[3, 2] = UNKNOWN
    after[4, [0, 2]] = MISSING, 1.0
    before = np.array([own] * 5)
    assert made.total(before, after).tolist() == [0, 1, 1, 1, 2]
    assert made.total(after, before).tolist() == [0, 1, 1, 1, 2]
    assert made.total(after, after).tolist() == [0] * 5
    assert made.proximity(before, after).tolist() == [0, -1, -1, -1, -2]


def test_proximity_is_the_printed_formula():
    before = np.array([[30.0, -2.0, 0.0, 7.0, 0.0]])
    after = np.array([[50.0, 1.5, 1.0, 7.0, 3.0]])
    # one category; 20 / 40 for age, 3.5 / 1 for debt, 3 / 1 for rare
    assert scales().proximity(before, after).tolist() == [-(1 + 0.5 + 3.5 + 3)]
    assert scales().total(before, after).tolist() == [1 + 0.5 + 3.5 / 4 + 3]


def test_an_unchanged_row_has_proximity_0_without_a_sign():
    row = np.array([[30.0, -2.0, 0.0, 7.0, 0.0]])
    assert str(scales().proximity(row, row)[0]) == "0.0"


def test_weights_multiply_columns():
    before = np.array([[30.0, -2.0, 0.0, 7.0, 0.0]])
    after = np.array([[50.0, -2.0, 1.0, 7.0, 0.0]])
    weights = np.array([[10.0, 1, 3, 1, 1]])
    assert scales().total(before, after, weights).tolist() == [10 * 0.5 + 3]


def test_the_order_of_columns_changes_no_bit_of_a_distance():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.random(50) for name in "abcdefgh"})
    turned = data[list("hdbfgace")]
    one, two = scales(data=data), scales(data=turned)
    before, after = data.to_numpy()[:25], data.to_numpy()[25:]
    there = [data.columns.get_loc(c) for c in turned.columns]
    expected = one.total(before, after).tolist()
    assert two.total(before[:, there], after[:, there]).tolist() == expected


def test_a_column_without_any_known_number_has_scale_1():
    made = scales(data=pd.DataFrame({"x": [np.nan, np.nan], "y": ["a", "b"]}))
    assert made.scale.tolist() == made.median.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", ["median", "mad", "percentile"])
def test_columns_in_another_order_are_as_far_apart(kind):
    made, order = scales(kind), (3, 0, 4, 2, 1)
    schema = Schema.infer(DATA)
    codes = schema.read(DATA).codes
    before, after = codes[[0, 1, 2]], codes[[4, 3, 0]]
    other = made.in_order(order)
    moved = other.total(before[:, order], after[:, order])
    assert moved.tolist() == made.total(before, after).tolist()
    assert made.in_order(order) is other
    assert np.array_equal(
        other.between(before[:, order], after[:, order])[:, np.argsort(order)],
        made.between(before, after),
    )
