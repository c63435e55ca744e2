"""Differences are paired, and their intervals know how sure they are."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from macex.bench.statistics import difference, paired

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=20)


@given(numbers)
def test_a_method_is_tied_with_itself(values):
    assert difference(values, values).tied


@given(numbers, st.floats(0.01, 5))
def test_a_constant_lead_is_no_tie(values, lead):
    gap = difference([value + lead for value in values], values)
    assert not gap.tied
    assert math.isclose(gap.mean, lead, rel_tol=1e-6)


@given(numbers, numbers)
def test_the_interval_holds_the_mean_and_turns_around(first, second):
    size = min(len(first), len(second))
    gap = difference(first[:size], second[:size])
    back = difference(second[:size], first[:size])
    assert gap.low - 1e-9 <= gap.mean <= gap.high + 1e-9
    assert math.isclose(gap.mean, -back.mean, abs_tol=1e-9)
    assert gap.tied == back.tied


def test_noise_is_a_tie_and_a_shift_is_not():
    random = np.random.default_rng(0)
    first, second = random.normal(0, 1, (2, 400))
    assert difference(first, second).tied
    assert not difference(first + 0.5, second).tied


def test_the_interval_is_about_two_standard_errors_each_way():
    values = np.random.default_rng(1).normal(0, 1, 400)
    gap = difference(values, np.zeros(400))
    assert math.isclose(gap.high - gap.low, 2 * 1.96 / 20, rel_tol=0.15)


def test_only_queries_that_both_solved_count():
    gap = paired({0: 5.0, 1: 2.0, 2: 2.0}, {1: 1.0, 2: 1.0, 3: 9.0})
    assert (gap.mean, gap.pairs) == (1.0, 2)


def test_without_a_common_query_nothing_is_said():
    gap = paired({0: 1.0}, {1: 1.0})
    assert gap.pairs == 0
    assert str(gap) == "-"
    assert gap.tied
