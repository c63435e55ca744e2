"""Which scores reach a goal, as people are told."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.ask.answers import Answers, Needed, Outlook, compile_goals, needed
from macex.ask.goals import above, any_of, at_most, between, resolve, rise_by

TWO = Outlook(("no", "yes"), "probabilities", 2)
NO = Answers(np.array([[0.7, 0.3]]), np.array([0]))


def asked(want, outlook=TWO, own=NO, margin=1e-6):
    return needed(compile_goals(resolve(want, 1), own, outlook, margin), 0)


def test_one_of_two_classes_needs_more_than_half():
    assert asked(None) == Needed(low=0.5, open_low=True, label="yes")
    assert asked("no") == Needed(low=0.5, open_low=True, label="no")
    assert asked("yes", margin=0.2) == Needed(low=0.6, label="yes")


def test_a_tuned_threshold_is_told_as_seen_from_the_wanted_class():
    tuned = Outlook(("no", "yes"), "probabilities", 2, by_predict=True, agrees=False, threshold=0.3)
    assert asked("yes", tuned) == Needed(low=0.3, label="yes", exact=False)
    assert asked("no", tuned) == Needed(low=0.7, label="no", exact=False)
    unknown = Outlook(("no", "yes"), "probabilities", 2, by_predict=True, agrees=False)
    assert not asked("yes", unknown).bounded


def test_of_three_classes_no_score_alone_is_enough():
    three = Outlook(("a", "b", "c"), "probabilities", 3)
    own = Answers(np.array([[0.5, 0.3, 0.2]]), np.array([0]))
    assert asked("b", three, own) == Needed(label="b")
    assert asked(None, three, own) == Needed()
    assert asked(any_of("b", "c"), three, own) == Needed()


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (above(0.7), (0.7, inf, True, False)),
        (at_most(0.2), (-inf, 0.2, False, False)),
        (between(0.4, 0.6), (0.4, 0.6, False, False)),
        (rise_by(0.25), (0.55, inf, False, False)),
    ],
    ids=lambda value: getattr(value, "text", None),
)
def test_a_score_goal_needs_what_it_says(goal, expected):
    found = asked(goal)
    assert found[:4] == pytest.approx(expected)
    assert found.label == "yes"


@given(st.floats(0, 1), st.sampled_from(["no", "yes"]))
def test_for_two_classes_the_bound_agrees_with_the_verdict(score, want):
    goals = compile_goals(resolve(want, 1), NO, TWO, 1e-6)
    table = np.array([[1 - score, score]])
    verdict = goals.judge(Answers(table, table.argmax(axis=1)), np.array([0]))
    if abs(score - 0.5) > 1e-5:
        assert bool(verdict.reached[0]) == needed(goals, 0).holds(float(verdict.score[0]))
