"""Greedy channel swaps: what is published, and its price."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.baselines.series_greedy import SeriesGreedy
from series.machines import NAMES, Machine, made_cases

TRAIN, QUERIES = made_cases(), made_cases(6, seed=1)
LABELS = ["calm", "bump", "raised"] * 20


def greedy(**options):
    return SeriesGreedy(Machine(), TRAIN, LABELS, channels=NAMES, **options)


@pytest.mark.parametrize("want", [None, "calm", "bump", "raised"])
def test_every_answer_reaches_its_goal(want):
    for item in greedy().explain(QUERIES, want=want):
        assert item.status == "found"
        decided = Machine().predict(item.counterfactuals[0].sample[None])[0]
        assert decided == item.counterfactuals[0].label
        assert decided == want if want else decided != item.label


def test_row_by_row_answers_the_same_with_a_call_for_each_sample():
    batched, single = greedy().explain(QUERIES), greedy(batched=False).explain(QUERIES)
    assert batched.to_json(canonical=True) == single.to_json(canonical=True)
    for one, other in zip(batched, single, strict=True):
        assert one.cost.rows == other.cost.rows == other.cost.calls
        assert one.cost.calls < one.cost.rows or one.cost.rows == 1


def test_distractors_are_cases_that_the_model_gets_right():
    wrong = ["calm"] * 60
    wrong[4] = "bump"
    only = SeriesGreedy(Machine(), TRAIN, wrong)
    (item,) = only.explain(QUERIES[:1], want="bump")
    assert {change.case for change in item.counterfactuals[0].changes} == {4}


def test_no_channel_left_is_needless():
    rng = np.random.default_rng(0)
    train = rng.normal(size=(60, 12, 8))

    def summed(cases):
        return 1 / (1 + np.exp(-6 * cases.mean(axis=2).sum(axis=1)))

    found = SeriesGreedy(summed, train, classes=("low", "high")).explain(train[:5])
    for case, item in zip(train, found, strict=False):
        answer = item.counterfactuals[0]
        for change in answer.changes:
            back = answer.sample.copy()
            place = int(change.channel.split()[1])
            back[place] = case[place]
            same = (summed(back[None])[0] > 0.5) == (summed(case[None])[0] > 0.5)
            assert same or answer.sparsity == 1


def both_high(cases):
    """Two channels that help only together."""
    high = (cases.mean(axis=2) > 0.5).astype(float)
    return high[:, 0] * high[:, 1]


def test_patience_passes_a_plateau_and_the_published_rule_gives_up():
    train = np.zeros((4, 3, 5))
    train[2:] = 1.0
    for patient, status in ((True, "found"), (False, "not_found")):
        greedy = SeriesGreedy(both_high, train, classes=("low", "high"), patient=patient)
        (item,) = greedy.explain(train[:1])
        assert item.status == status


def test_a_goal_that_no_case_meets_is_not_found():
    class Stubborn(Machine):
        def predict_proba(self, cases):
            return np.tile([0.7, 0.3, 0.0], (len(cases), 1))

    (item,) = SeriesGreedy(Stubborn(), TRAIN).explain(QUERIES[:1], want="raised")
    assert item.status == "not_found"
    assert item.reason


def test_a_score_goal_is_climbed():
    found = SeriesGreedy(lambda cases: cases.mean(axis=(1, 2)), TRAIN).explain(
        QUERIES[:2] + 1, want=mx.below(0.5)
    )
    assert all(item.counterfactuals[0].score < 0.5 for item in found)


def test_wrong_options_are_named():
    with pytest.raises(mx.OptionError, match="distractors"):
        greedy(distractors=0)
    with pytest.raises(mx.OptionError, match="3 labels for 60 cases"):
        SeriesGreedy(Machine(), TRAIN, ["a"] * 3)
    with pytest.raises(mx.OptionError, match="one length"):
        SeriesGreedy(lambda cases: np.zeros(len(cases)), [TRAIN[0], TRAIN[1, :, :9]])
