"""What a model decides is what its `predict` says, in every label, goal and proof."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import macex as mx

DRAW = np.random.default_rng(3)
X = pd.DataFrame({"x": np.arange(60) % 12, "y": DRAW.integers(0, 4, 60)})
RARE = ((X["x"] > 9) & (DRAW.random(60) < 0.7)).astype(int)


def rare_and_tuned():
    """Every training row's highest probability is class 0, and `predict` still says 1 for some."""
    model = FixedThresholdClassifier(LogisticRegression(C=0.01), threshold=0.12)
    model.fit(X[["x"]], RARE)
    assert (model.predict_proba(X[["x"]])[:, 1] < 0.5).all()
    assert set(model.predict(X[["x"]])) == {0, 1}
    return model


def disagreeing():
    """Models whose decisions are not their highest probabilities."""
    forest = RandomForestClassifier(12, max_depth=3, random_state=0)
    columns = make_column_transformer((OneHotEncoder(), ["y"]), remainder="passthrough")
    yield "fixed", FixedThresholdClassifier(LogisticRegression(C=0.01), threshold=0.12)
    yield "fixed forest", FixedThresholdClassifier(forest, threshold=0.2)
    yield "tuned forest", TunedThresholdClassifierCV(forest, cv=2, random_state=0)
    yield "line", make_pipeline(columns, FixedThresholdClassifier(forest, threshold=0.2))
    yield "svc", SVC(probability=True, random_state=0)
    yield "boosted", AdaBoostClassifier(n_estimators=5, random_state=0)


MODELS = dict(disagreeing())


@pytest.fixture(params=MODELS)
def fitted(request):
    return MODELS[request.param].fit(X, RARE)


def combinations():
    return pd.DataFrame(
        list(product(sorted(set(X["x"])), sorted(set(X["y"])))), columns=["x", "y"]
    ).astype(X.dtypes)


def test_a_rare_class_that_predict_reaches_is_never_certified_out_of_reach():
    model = rare_and_tuned()
    rows = X[["x"]][model.predict(X[["x"]]) == 0].head(5)
    for candidates in ("domain", "both", "neighbors"):
        found = mx.Explainer(model, X[["x"]], candidates=candidates).explain(rows, want=1)
        assert [one.status for one in found] == ["found"] * len(rows)


def test_the_label_of_a_row_is_what_the_model_decides(fitted):
    found = mx.Explainer(fitted, X).explain(X.head(24))
    assert [one.label for one in found] == fitted.predict(X.head(24)).tolist()
    for one in found:
        for counterfactual in one.counterfactuals:
            assert fitted.predict(counterfactual.row).tolist() == [counterfactual.label]
            assert counterfactual.label != one.label


@pytest.mark.parametrize("candidates", ["domain", "both"])
def test_what_is_certified_holds_for_predict(fitted, candidates):
    every = combinations()
    decided = fitted.predict(every)
    found = mx.Explainer(fitted, X, candidates=candidates, finetune=None).explain(
        X.head(24), want=1
    )
    for row, one in zip(X.head(24).itertuples(index=False), found, strict=True):
        changes = (every != list(row)).sum(axis=1)[decided == 1]
        if one.status == "none":
            assert not len(changes)
        if one.minimal:
            assert one.counterfactuals[0].sparsity == changes.min()


@pytest.mark.parametrize("name", ["fixed forest", "tuned forest", "line"])
def test_thresholds_certify_nothing_that_predict_reaches(name):
    model = MODELS[name].fit(X, RARE)
    decided = model.predict(combinations())
    schema = {"y": "categorical"}
    explainer = mx.Explainer(model, X, schema=schema, candidates="thresholds")
    found = explainer.explain(X.head(24), want=1)
    assert 1 in decided
    assert {one.status for one in found} == {"found"}


def test_decisions_of_renamed_classes_go_by_position():
    model = SVC(probability=True, random_state=0).fit(X, RARE)
    found = mx.Explainer(model, X, classes=("no", "yes")).explain(X.head(12))
    assert [one.label for one in found] == [("no", "yes")[p] for p in model.predict(X.head(12))]


class Scored:
    """Signs as classes, a decision function whose sign is not the decision."""

    classes_ = np.array([-1, 1])

    def decision_function(self, rows):
        """How far x is past 5."""
        return np.asarray(rows["x"], float) - 5

    def predict(self, rows):
        """It takes 3 more to be decided."""
        return np.where(self.decision_function(rows) > 3, 1, -1)


@pytest.mark.parametrize("margin", [1e-6, 0])
def test_a_decision_function_does_not_outvote_predict(margin):
    model = Scored()
    found = mx.Explainer(model, X).explain(X.head(12), margin=margin)
    assert [one.label for one in found] == model.predict(X.head(12)).tolist()
    for one in found:
        after = one.counterfactuals[0]
        assert model.predict(after.row)[0] == after.label != one.label


class Undecided(LogisticRegression):
    """A model that has probabilities and no decision."""

    def predict(self, rows):
        """It has none."""
        raise NotImplementedError


class Broken(LogisticRegression):
    """A model that fails to decide."""

    def predict(self, rows):
        """It fails."""
        raise ValueError("no dice")


class Foreign(LogisticRegression):
    """A model that decides for what is none of its classes."""

    def predict(self, rows):
        """It returns words."""
        return np.where(np.asarray(rows)[:, 0] > 5, "up", "down")


def test_a_model_without_a_decision_decides_by_its_scores():
    found = mx.Explainer(Undecided().fit(X, X["x"] > 5), X).explain(X.head(3))
    assert [one.status for one in found] == ["found"] * 3


@pytest.mark.parametrize(("kind", "said"), [(Broken, "no dice"), (Foreign, "predict returned")])
def test_a_predict_that_fails_is_an_error_and_not_passed_over(kind, said):
    with pytest.raises(mx.ModelError, match=said):
        mx.Explainer(kind().fit(X, X["x"] > 5), X)
