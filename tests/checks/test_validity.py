"""Every returned row reaches its goal with the caller's own model, in the caller's own dtypes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

import macex as mx
from checks.loans import (
    by_merit,
    chance,
    explainer,
    found_rows,
    grants,
    loans,
    merit,
    model,
    refused,
)

SLACK = 1e-6  # scores are rounded to this before they are compared
BINARY = ("pipeline", "logistic", "tree", "network", "margin", "careful")
TIERS = ("tiers", "tier tree", "labels", "margins")


@pytest.mark.parametrize("name", BINARY)
def test_the_models_own_decision_turns(method, name):
    rows = refused(name, 4)
    found = explainer(name, method).explain(rows, n=2)
    assert all(e.status == "found" for e in found)
    for explanation, counterfactual in found_rows(found):
        assert explanation.label == "refused"
        assert model(name).predict(counterfactual.row)[0] == "granted" == counterfactual.label


@pytest.mark.parametrize("name", TIERS)
def test_a_class_that_was_asked_for_is_the_class_that_comes_out(method, name):
    wanted = np.array(["low", "mid", "high"] * 3)
    found = explainer(name, method).explain(loans().head(9), want=wanted)
    for label, explanation in zip(wanted, found, strict=True):
        assert explanation.status == "found"
        for counterfactual in explanation.counterfactuals:
            assert model(name).predict(counterfactual.row)[0] == label == counterfactual.label


@pytest.mark.parametrize("name", TIERS)
def test_any_other_class_is_another_class(method, name):
    for explanation, counterfactual in found_rows(explainer(name, method).explain(loans().head(4))):
        decided = model(name).predict(counterfactual.row)[0]
        assert decided == counterfactual.label != explanation.label
        assert explanation.label == model(name).predict(explanation.query)[0]


def test_one_of_several_classes_is_enough(method):
    found = explainer("tiers", method).explain(loans().head(4), want=mx.any_of("low", "high"))
    for _, counterfactual in found_rows(found):
        assert model("tiers").predict(counterfactual.row)[0] in ("low", "high")


@pytest.mark.parametrize("label", ["low", "high"])
def test_one_class_may_be_asked_of_all_rows(method, label):
    found = explainer("tiers", method).explain(loans().head(4), want=label)
    assert all(model("tiers").predict(c.row)[0] == label for _, c in found_rows(found))


SCORE_GOALS = {
    "at_least": (mx.at_least(0.7), lambda p, own: p >= 0.7),
    "at_most": (mx.at_most(0.2), lambda p, own: p <= 0.2),
    "between": (mx.between(0.55, 0.6), lambda p, own: 0.55 <= p <= 0.6),
    "above": (mx.above(0.7), lambda p, own: p > 0.7),
    "below": (mx.below(0.2), lambda p, own: p < 0.2),
    "rise_by": (mx.rise_by(0.1), lambda p, own: p >= own + 0.1 - SLACK),
    "fall_by": (mx.rise_by(-0.1), lambda p, own: p <= own - 0.1 + SLACK),
}


@pytest.mark.parametrize("name", SCORE_GOALS)
def test_a_probability_reaches_the_band_that_was_asked_for(method, name):
    goal, holds = SCORE_GOALS[name]
    yes = list(model("network").classes_).index("granted")
    goal = replace(goal, label="granted")
    found = explainer("network", method).explain(loans().head(4), want=goal)
    for explanation, counterfactual in found_rows(found):
        own = model("network").predict_proba(explanation.query)[0, yes]
        score = model("network").predict_proba(counterfactual.row)[0, yes]
        assert holds(score, own)
        assert counterfactual.score == pytest.approx(score, abs=2 * SLACK)


RAW_GOALS = {
    "at_least": (mx.at_least(2.0), lambda s, own: s >= 2),
    "at_most": (mx.at_most(-2.5), lambda s, own: s <= -2.5),
    "between": (mx.between(0.1, 0.6), lambda s, own: 0.1 <= s <= 0.6),
    "above": (mx.above(1.0), lambda s, own: s > 1),
    "below": (mx.below(-1.0), lambda s, own: s < -1),
    "rise_by": (mx.rise_by(1.5), lambda s, own: s >= own + 1.5 - 1e-4),
    "fall_by": (mx.rise_by(-1.5), lambda s, own: s <= own - 1.5 + 1e-4),
}


@pytest.mark.parametrize("name", RAW_GOALS)
def test_a_raw_score_reaches_the_band_that_was_asked_for(method, name):
    goal, holds = RAW_GOALS[name]
    found = mx.Explainer(merit, loans(), method=method).explain(loans().head(4), want=goal)
    assert [e.status for e in found] == ["found"] * 4
    for explanation, counterfactual in found_rows(found):
        assert holds(merit(counterfactual.row)[0], merit(explanation.query)[0])


def test_a_row_is_put_above_another(method):
    rival = loans().iloc[[20]]
    found = mx.Explainer(merit, loans(), method=method).explain(
        loans().head(10), want=mx.above_row(rival)
    )
    for _, counterfactual in found_rows(found):
        assert merit(counterfactual.row)[0] > merit(rival)[0]


@settings(max_examples=5)
@given(place=st.integers(0, 239), bound=st.floats(0.02, 0.98))
def test_any_bound_is_reached_or_said_not_to_be(method, place, bound):
    row = loans().iloc[[place]]
    found = by_merit(method).explain(row, want=mx.at_least(bound))[0]
    assert found.status == "found" or found.reason
    for counterfactual in found.counterfactuals:
        assert chance(counterfactual.row)[0] >= bound


def test_a_margin_is_kept(method):
    found = by_merit(method).explain(loans()[grants(loans()) == "refused"].head(6), margin=0.3)
    assert all(e.status == "found" for e in found)
    for _, counterfactual in found_rows(found):
        yes = chance(counterfactual.row)[0]
        assert yes - (1 - yes) >= 0.3 - 2 * SLACK


def test_a_row_that_is_already_there_needs_no_change(method):
    rows = loans()[grants(loans()) == "granted"].head(3)
    for explanation in by_merit(method).explain(rows, want="granted"):
        (counterfactual,) = explanation.counterfactuals
        assert explanation.status == "found"
        assert counterfactual.changes == ()
        assert counterfactual.sparsity == 0
        pd.testing.assert_frame_equal(counterfactual.row, explanation.query)


def test_a_threshold_that_no_training_row_shows_still_decides(method):
    amount = np.r_[np.arange(0, 4, 0.1), np.arange(8, 12, 0.1)].round(1)
    data = pd.DataFrame({"amount": amount, "other": np.arange(len(amount)) % 5})
    plain = LogisticRegression().fit(data, np.where(amount > 6, "yes", "no"))
    careful = FixedThresholdClassifier(plain, threshold=0.9).fit(data, plain.predict(data))
    assert (careful.predict(data) == plain.predict(data)).all()
    asked = mx.Explainer(careful, data, method=method, prefer="nearest")
    found = asked.explain(data.iloc[[5, 70]])
    assert all(e.status == "found" for e in found)
    for explanation, counterfactual in found_rows(found):
        assert careful.predict(counterfactual.row)[0] != careful.predict(explanation.query)[0]
