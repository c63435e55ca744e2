"""Which models are asked for a decision of their own, and which are known to need no asking."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import macex as mx
from macex.models.consultation import BY_HIGHEST_SCORE, by_highest_score

DRAW = np.random.default_rng(5)
DATA = pd.DataFrame({"x": DRAW.normal(size=300), "y": DRAW.normal(size=300)})
LABELS = np.where(DATA["x"] + DATA["y"] ** 2 > 0.5, "yes", "no")
KINDS = sorted(BY_HIGHEST_SCORE)
FEWER = {"n_estimators": 12, "max_iter": 40}


def made(room: str, name: str):
    """A small model of a kind, by the names under which it is known."""
    pytest.importorskip(room.partition(".")[0])
    kind = getattr(import_module(room), name)
    known = kind().get_params()
    return kind(**{key: value for key, value in FEWER.items() if key in known})


@pytest.mark.parametrize(("room", "name"), KINDS, ids=[name for _, name in KINDS])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_the_known_ones_decide_for_the_highest_score(room, name, classes):
    labels = np.digitize(DATA["x"] + DATA["y"] ** 2, [0.5, 1.5][: classes - 1])
    model = made(room, name).fit(DATA.to_numpy(), labels)
    assert by_highest_score(model)
    rows = np.random.default_rng(6).normal(size=(2000, 2)) * 2
    scores = (getattr(model, "predict_proba", None) or model.decision_function)(rows)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    lead = np.sort(scores, axis=1)[:, -1] - np.sort(scores, axis=1)[:, -2]
    sure = lead > 1e-6
    assert sure.sum() > 1000
    assert (
        model.predict(rows).reshape(-1)[sure] == model.classes_[scores.argmax(axis=1)][sure]
    ).all()


def test_a_pipeline_and_a_search_decide_as_their_last_step_does():
    line = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(line, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(DATA, LABELS)
    assert by_highest_score(line)
    assert by_highest_score(search)
    assert not by_highest_score(make_pipeline(StandardScaler(), SVC()))


class Cautious(LogisticRegression):
    """A model with second thoughts where training has no rows."""

    def predict(self, rows):
        """Never yes beyond x = 8."""
        decided = super().predict(rows)
        return np.where(np.asarray(rows)[:, 0] > 8, "no", decided)


def test_what_has_a_predict_of_its_own_is_asked():
    own = LogisticRegression().fit(DATA, LABELS)
    assert by_highest_score(own)
    own.predict = Cautious.predict.__get__(own)
    assert not by_highest_score(own)
    assert not by_highest_score(Cautious())
    assert not by_highest_score(None)
    assert not by_highest_score(lambda rows: rows)


class Lenient:
    """Scores of its own, decisions of another model: they differ in a narrow band only."""

    def __init__(self):
        self.strict = LogisticRegression().fit(DATA, LABELS)
        self.classes_, self.predict = self.strict.classes_, self.strict.predict

    def predict_proba(self, rows):
        """The strict model's, a little higher for yes."""
        return moved(self.strict, rows)


def moved(model, rows):
    """Probabilities whose log odds are 0.02 higher."""
    yes = 1 / (1 + np.exp(-(model.decision_function(rows) + 0.02)))
    return np.column_stack([1 - yes, yes])


def test_scores_from_elsewhere_leave_the_last_word_to_predict():
    lent, patched = Lenient(), LogisticRegression().fit(DATA, LABELS)
    patched.predict_proba = lambda rows: moved(patched, rows)
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(DATA, LABELS)
    line.predict_proba = lambda rows: moved(line, rows)
    for model in (lent, patched, line):
        explainer = mx.Explainer(model, DATA)
        assert explainer.engine.fitted.outlook.by_predict
        refused = DATA[model.predict(DATA) == "no"].head(12)
        for answer in explainer.explain(refused):
            for one in answer.counterfactuals:
                assert model.predict(one.row).tolist() == ["yes"]


class Counting(LogisticRegression):
    """Counts how often it is asked to decide."""

    asked = 0

    def predict(self, rows):
        """The decision, counted."""
        type(self).asked += 1
        return super().predict(rows)


def test_a_model_that_is_known_is_not_asked_twice():
    rows = DATA.head(1)
    plain = LogisticRegression().fit(DATA, LABELS)
    counting = Counting().fit(DATA, LABELS)
    found = [mx.Explainer(model, DATA).explain(rows)[0] for model in (plain, counting)]
    assert found[0].counterfactuals[0].changes == found[1].counterfactuals[0].changes
    assert found[1].cost.calls == 2 * found[0].cost.calls
    explainer = mx.Explainer(counting, DATA)
    Counting.asked = 0
    asked = explainer.explain(rows)[0].cost.calls
    assert Counting.asked == asked / 2


def test_without_a_margin_even_a_known_model_is_asked():
    plain = LogisticRegression().fit(DATA, LABELS)
    explainer = mx.Explainer(plain, DATA)
    slight = explainer.explain(DATA.head(1))[0]
    none = explainer.explain(DATA.head(1), margin=0.0)[0]
    assert none.cost.calls == 2 * slight.cost.calls


def test_a_probability_threshold_of_catboost_is_heard(tmp_path):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=12, verbose=0, random_seed=0)
    model.fit(DATA, LABELS == "yes")
    assert by_highest_score(model)
    model.set_probability_threshold(0.2)
    assert not by_highest_score(model)
    model.save_model(tmp_path / "model.cbm")
    for asked in (model, mx.load_model(tmp_path / "model.cbm")):
        explainer = mx.Explainer(asked, DATA, classes=("no", "yes"))
        labels = [one.label for one in explainer.explain(DATA.head(60))]
        decided = model.predict(DATA.head(60))
        assert labels == ["yes" if str(one) == "True" else "no" for one in decided]
