"""What may be asked: classes of any type, one of several labels, numbers, anomalies, ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

import macex as mx
from models.people import GRANTED, NUMBERS, POINTS, TIER

ROWS = NUMBERS.iloc[[3, 17, 40, 58]]
MANY = np.column_stack([GRANTED, TIER == 1, NUMBERS["age"] > 50]).astype(int)


@pytest.mark.parametrize(
    "labels",
    [["low", "mid", "high"], [10, 20, 30], [-1, 0, 1]],
    ids=["text", "numbers", "around zero"],
)
def test_classes_keep_their_names(labels):
    model = RandomForestClassifier(10, random_state=0).fit(NUMBERS, np.array(labels)[TIER])
    explainer = mx.Explainer(model, NUMBERS)
    for want in labels:
        for explanation in explainer.explain(ROWS, want=want):
            row = explanation.counterfactuals[0].row
            assert model.predict(row)[0] == want
            assert type(explanation.counterfactuals[0].label) is type(want)


def test_true_and_false_are_classes():
    model = LogisticRegression().fit(NUMBERS, GRANTED)
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=True)
    assert all(model.predict(e.counterfactuals[0].row)[0] for e in found)
    assert found[0].counterfactuals[0].label is True


@pytest.mark.parametrize(
    "classifier",
    [
        MultiOutputClassifier(LogisticRegression()),
        RandomForestClassifier(10, random_state=0),
        KNeighborsClassifier(),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_one_of_several_labels_is_asked_for_by_its_place(classifier):
    model = classifier.fit(NUMBERS, MANY)
    explainer = mx.Explainer(model, NUMBERS)
    assert explainer.classes is None
    found = explainer.explain(ROWS, want=mx.above(0.6, label=2))
    for explanation in found:
        row = explanation.counterfactuals[0].row
        assert model.predict(row)[0, 2] == 1
    with pytest.raises(mx.GoalError, match="label="):
        explainer.explain(ROWS, want=mx.above(0.6))


def test_boosted_labels_are_asked_for_by_their_place():
    library = pytest.importorskip("xgboost")
    model = library.XGBClassifier(n_estimators=10).fit(NUMBERS, MANY)
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=mx.above(0.5, label=2))
    assert all(model.predict(e.counterfactuals[0].row)[0, 2] == 1 for e in found)


def test_a_label_that_training_never_shows_has_probability_zero():
    never = MANY.copy()
    never[:, 1] = 0
    model = RandomForestClassifier(5, random_state=0).fit(NUMBERS, never)
    found = mx.Explainer(model, NUMBERS).explain(ROWS.head(1), want=mx.above(0.1, label=1))
    assert found[0].score == 0
    assert found[0].status != "found"


def test_several_outputs_of_several_classes_are_explained_one_by_one():
    model = RandomForestClassifier(5, random_state=0).fit(NUMBERS, np.column_stack([TIER, TIER]))
    with pytest.raises(mx.ModelError, match=r"output 0 .* 3 classes"):
        mx.Explainer(model, NUMBERS)
    one = mx.Explainer(lambda rows: model.predict_proba(rows)[0], NUMBERS)
    assert one.explain(ROWS)[0].status == "found"


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), RandomForestRegressor(10, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_a_number_is_brought_into_a_band_and_never_rounded(model):
    model.fit(NUMBERS, 100 * POINTS)
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=mx.between(412.25, 437.75))
    for explanation in found:
        value = model.predict(explanation.counterfactuals[0].row)[0]
        assert 412.25 <= value <= 437.75
        assert explanation.counterfactuals[0].score == pytest.approx(value, rel=1e-6)


def test_one_of_several_numbers_is_asked_for_by_its_place():
    model = LinearRegression().fit(NUMBERS, np.column_stack([POINTS, -POINTS]))
    explainer = mx.Explainer(model, NUMBERS)
    assert explainer.classes is None
    found = explainer.explain(ROWS, want=mx.between(-4.5, -4, label=1))
    assert all(-4.5 <= model.predict(e.counterfactuals[0].row)[0, 1] <= -4 for e in found)


def test_catboost_s_numbers_are_no_classes():
    library = pytest.importorskip("catboost")
    model = library.CatBoostRegressor(iterations=20, verbose=0, allow_writing_files=False)
    model.fit(NUMBERS, POINTS)
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=mx.rise_by(0.2))
    for explanation in found:
        for answer in explanation.counterfactuals:
            rise = model.predict(answer.row)[0] - model.predict(explanation.query)[0]
            assert rise >= 0.2 - 1e-5


@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor"])
def test_boosted_numbers_are_brought_into_a_band(name):
    library = pytest.importorskip({"X": "xgboost", "L": "lightgbm"}[name[0]])
    more = {"verbose": -1} if name[0] == "L" else {}
    model = getattr(library, name)(n_estimators=20, **more).fit(NUMBERS, 100 * POINTS)
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=mx.between(410, 440))
    for explanation in found:
        assert 410 <= model.predict(explanation.counterfactuals[0].row)[0] <= 440


def test_an_anomaly_is_made_usual():
    model = IsolationForest(n_estimators=30, random_state=0).fit(NUMBERS)
    odd = pd.DataFrame({"age": [79.0], "income": [140.0], "owns": [1.0]})
    assert model.predict(odd)[0] == -1
    found = mx.Explainer(model, NUMBERS).explain(odd, want=mx.above(0.0))
    assert found[0].status == "found"
    assert model.decision_function(found[0].counterfactuals[0].row)[0] > 0
    usual = mx.Explainer(model, NUMBERS).explain(ROWS.head(1), want=mx.below(0.0))
    assert model.predict(usual[0].counterfactuals[0].row)[0] == -1


def test_a_row_overtakes_another():
    model = LinearRegression().fit(NUMBERS, POINTS)
    order = np.argsort(model.predict(NUMBERS))
    behind, ahead = NUMBERS.iloc[[order[50]]], NUMBERS.iloc[[order[200]]]
    found = mx.Explainer(model, NUMBERS).explain(behind, want=mx.above_row(ahead))
    assert model.predict(found[0].counterfactuals[0].row)[0] > model.predict(ahead)[0]


def test_a_class_with_few_rows_can_be_reached():
    rare = (NUMBERS["income"] > NUMBERS["income"].nlargest(9).min()).to_numpy().astype(int)
    model = RandomForestClassifier(30, random_state=0).fit(NUMBERS, rare)
    assert 0 < model.predict(NUMBERS).sum() < 30
    found = mx.Explainer(model, NUMBERS).explain(ROWS, want=1)
    assert all(model.predict(e.counterfactuals[0].row)[0] == 1 for e in found)


def test_a_class_that_is_never_predicted_is_an_answer_and_no_error():
    class Never(LogisticRegression):
        def predict_proba(self, rows):
            return np.tile([0.9, 0.1, 0.0], (len(rows), 1))

        def predict(self, rows):
            return np.zeros(len(rows), int)

    model = Never().fit(NUMBERS, TIER)
    found = mx.Explainer(model, NUMBERS).explain(ROWS.head(2), want=2)
    assert all(explanation.status in ("none", "not_found") for explanation in found)
    assert all(explanation.reason for explanation in found)
