"""What is said of classes is true: whose score is shown, and whose channels are taken."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from series.machines import CLASSES, Machine, explainer, made_cases

QUERIES = made_cases(12, seed=1)
model = Machine()


def test_the_score_beside_a_class_is_the_score_of_that_class():
    for item in explainer().explain(QUERIES):
        (answer,) = item.counterfactuals
        (scores,) = model.predict_proba(answer.sample[None])
        assert answer.label_score == pytest.approx(scores[CLASSES.index(answer.label)], abs=1e-5)
        assert answer.score == pytest.approx(1 - scores[CLASSES.index(item.label)], abs=1e-5)
        assert f"{answer.label} {answer.label_score:.2f}" in repr(item)
        assert f"{answer.label_score:.2f}" in item.to_html()


def test_a_single_wanted_class_has_no_other_score():
    for item in explainer().explain(QUERIES[:2], want="raised"):
        assert item.counterfactuals[0].label_score is None


@pytest.mark.parametrize("finetune", ["segments", None])
def test_channels_are_taken_from_a_case_of_the_class_that_is_reached(finetune):
    for item in explainer(finetune=finetune).explain(QUERIES):
        (answer,) = item.counterfactuals
        assert {change.label for change in answer.changes} == {answer.label}
        assert not answer.of_other_class


def test_it_is_said_where_no_case_is_of_the_class_that_is_reached():
    train = np.zeros((20, 1, 10))
    train[10:] = 1.0

    def between(cases):
        level = cases[:, 0].mean(axis=1)
        scores = np.stack([level < 0.3, (level >= 0.3) & (level < 0.9), level >= 0.9], axis=1)
        return (scores + 0.05) / 1.15

    asked = mx.SeriesExplainer(between, train, classes=["low", "middle", "high"])
    (item,) = asked.explain(train[:1], want=mx.any_of("middle"), max_rows=None)
    if item.status == "found":
        assert item.counterfactuals[0].of_other_class
        assert "taken from another class" in repr(item)
    else:
        assert item.reason
