"""Each of several answers says why it is there, and the front holds those that nothing beats."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import macex as mx
from cohort.town import YES, explainer, refused
from macex.render.whys import front, whys


def answer(sparsity=1, distance=1.0, plausibility=0.5, score=0.6, robustness=None):
    return SimpleNamespace(
        sparsity=sparsity,
        distance=distance,
        plausibility=plausibility,
        score=score,
        robustness=robustness,
    )


def test_each_is_there_for_what_no_other_is_as_good_in():
    found = [
        answer(),
        answer(sparsity=2, distance=0.5),
        answer(sparsity=2, plausibility=0.9),
        answer(sparsity=2, score=0.9),
        answer(sparsity=2),
    ]
    assert whys(found) == (
        "fewest",
        "nearest",
        "plausible",
        "surest",
        "other columns",
    )


def test_one_answer_needs_no_reason():
    assert whys([answer()]) == (None,)
    assert whys([]) == ()


def test_the_front_leaves_out_what_another_beats_or_ties_in_all():
    best, worse, other = answer(), answer(distance=2.0), answer(sparsity=3, score=0.9)
    assert front([best, worse, other]) == (best, other)
    assert front([best, answer()]) == (best, answer())


def test_explanations_have_both_and_write_why():
    (item,) = explainer().explain(refused(5).head(1), want=YES, n=3)
    why = [found.why for found in item.counterfactuals]
    assert len(why) == 3
    assert None not in why
    assert item.counterfactuals[0] in item.front
    for one in why:
        assert f'"why": "{one}"' in item.to_json()
    assert '"why"' not in item.to_json(canonical=True)
    assert str(why[1]).replace("plausible", "most usual") in repr(item)


def test_an_answer_alone_is_there_for_nothing_else():
    (item,) = explainer().explain(refused(5).head(1), want=YES)
    assert item.counterfactuals[0].why is None
    assert '"why"' not in item.to_json()


@pytest.mark.parametrize(
    ("goal", "scores", "surest"),
    [
        (mx.at_most(90), [89.0, 70.0, 89.9], 1),
        (mx.below(90), [89.0, 89.9, 70.0], 2),
        (mx.at_least(90), [91.0, 90.1, 99.0], 2),
        (mx.between(80, 90), [81.0, 84.0, 90.0], 1),
        (mx.rise_by(-5), [20.0, 10.0, 19.0], 1),
        (mx.rise_by(5), [30.0, 29.0, 40.0], 2),
    ],
)
def test_the_surest_is_the_farthest_inside_what_the_goal_asks(goal, scores, surest):
    found = [answer(score=score) for score in scores]
    said = whys(found, goal)
    assert said[surest] == "surest"
    assert "surest" not in said[:surest] + said[surest + 1 :]
    alike = [answer(score=score) for score in scores]
    assert front(alike, goal) == (alike[surest],)


def test_no_answer_has_no_front():
    (item,) = explainer().explain(refused(5).head(1), want=YES, constraints={"only": ["gender"]})
    assert item.status == "none"
    assert item.front == ()
