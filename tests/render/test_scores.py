"""A score and what it needs, in words."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explanation.made import asking, counterfactual, explanation
from macex.ask.answers import Needed
from macex.ask.goals import above, any_of, at_least, at_most, below, between, rise_by
from macex.render.scores import Scale, bar, goal_text, score_line
from macex.render.speech import Speech

THREE = {"classes": ("<=50K", ">50K", "rich"), "width": 3}


def said(goal=None, score=0.46, **outlook):
    asked = asking(**outlook) if goal is None else asking(goal, **outlook)
    fields = {} if goal is None else {"goal": goal}
    found = explanation(counterfactual(age=38), score=score, asked=asked, **fields)
    return score_line(found, Speech())


@pytest.mark.parametrize(
    ("goal", "needs"),
    [
        (above(0.7), "needs more than 0.7"),
        (at_least(0.7), "needs at least 0.7"),
        (below(0.3), "needs less than 0.3"),
        (at_most(0.3), "needs at most 0.3"),
        (between(0.6, 0.65), "needs from 0.6 to 0.65"),
        (rise_by(0.125), "needs at least 0.585"),
    ],
    ids=lambda value: getattr(value, "text", None),
)
def test_a_score_goal_says_which_way_and_how_far(goal, needs):
    assert said(goal) == f"Score for >50K: 0.46, {needs}"


def test_of_two_decisions_the_other_one_is_named():
    assert said() == "Score for >50K: 0.46, needs more than 0.5"


def test_a_threshold_that_was_watched_is_about():
    assert said(by_predict=True, agrees=False, threshold=0.37).endswith("needs about 0.37 or more")


def test_of_three_decisions_one_needs_the_lead():
    assert said(any_of("rich"), **THREE) == (
        "Score for rich: 0.46, needs the highest score of all decisions"
    )
    assert said(**THREE) == (
        "Score for any other decision: 0.46, one of them needs the highest score"
    )


def test_a_score_that_rounds_to_what_it_needs_shows_that_it_is_not_there():
    assert said(score=0.4983) == "Score for >50K: 0.498, needs more than 0.5"


def test_a_score_nobody_knows_needs_nothing():
    assert said(score=nan) == "Score: unknown"


def test_several_labels_are_listed():
    wanted = explanation(goal=any_of("a", "b", 3))
    assert goal_text(wanted, Speech()) == "a, b or 3"


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
