"""Sparsity and the three readings of diversity."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import macex as mx
from cohort.town import YES, explainer, refused
from macex.metrics import changed, diversity, front, sparsity, whys

CODES = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 2)
)


@given(CODES)
def test_sparsity_counts_what_differs_from_the_query(codes):
    counts = sparsity(changed(codes, codes[0]))
    assert counts.tolist() == [sum(a != b for a, b in zip(r, codes[0], strict=True)) for r in codes]


@given(CODES)
def test_diversity_is_a_share_that_duplicates_lower_and_order_leaves(codes):
    query = np.zeros(codes.shape[1])
    readings = diversity(codes, query)
    assert all(0 <= reading <= 1 for reading in readings)
    assert diversity(codes[::-1], query) == pytest.approx(readings)
    assert diversity(np.repeat(codes[:1], 3, axis=0), query) == (0, 0, 0)


@given(CODES)
def test_columns_changed_by_either_are_at_least_as_diverse_as_all_columns(codes):
    readings = diversity(codes, np.zeros(codes.shape[1]))
    assert readings.changed_columns >= readings.all_columns - 1e-12
    assert readings.changed_columns >= readings.column_sets - 1e-12


def test_other_values_of_the_same_columns_differ_but_not_as_sets():
    assert diversity(np.array([[1, 0], [2, 0]]), np.zeros(2)) == (0.5, 1.0, 0.0)


def test_a_missing_answer_counts_nothing():
    two = np.array([[1, 0], [0, 1]])
    assert diversity(two, np.zeros(2), wanted=3) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert diversity(two[:1], np.zeros(2), wanted=3) == (0, 0, 0)
    assert diversity(np.empty((0, 2)), np.zeros(2)) == (0, 0, 0)


def test_a_pair_without_changes_has_no_diversity():
    assert diversity(np.zeros((2, 3)), np.zeros(3)) == (0, 0, 0)


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
