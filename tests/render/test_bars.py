"""Scores as bars."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.ask.answers import Needed
from macex.render.bars import Scale, bar

numbers = st.floats(-1e9, 1e9)


@given(st.lists(numbers, min_size=1, max_size=4), numbers)
def test_every_score_and_bound_lies_on_the_scale_in_order(scores, bound):
    scale = Scale.over(scores, Needed(low=bound))
    ranked = sorted([*scores, bound])
    places = [scale.place(score) for score in ranked]
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] <= 100


def test_the_goal_lies_on_the_side_that_reaches_it():
    scale = Scale(0.0, 1.0)
    assert bar(scale, Needed(low=0.5), 0.2, 0.7, "").goal == (50.0, 100.0)
    assert bar(scale, Needed(high=0.3), 0.2, 0.7, "").goal == (0.0, 30.0)
    assert bar(scale, Needed(), 0.2, 0.7, "").goal is None


@pytest.mark.parametrize("score", [nan, None])
def test_a_score_nobody_knows_is_not_drawn(score):
    drawn = bar(Scale(0.0, 1.0), Needed(low=0.5), nan, score, "unknown")
    assert (drawn.before, drawn.after) == (None, None)
