"""The meter on a model: all it is asked is counted once, however it is asked."""

import pandas as pd
import pytest
from joblib.externals.loky.backend.reduction import dumps, loads
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from macex import Explainer
from macex.bench.metered import PlainModel, attach

ROWS = pd.DataFrame({"job": ["a", "b", "c", "a"] * 5, "age": [20, 30, 40, 50] * 5})


@pytest.fixture
def model():
    hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["job"]),
        ("passthrough", ["age"]),
    )
    return make_pipeline(hot, LogisticRegression()).fit(ROWS, [0, 0, 1, 1] * 5)


def test_a_pipeline_and_its_last_step_are_counted_once(model):
    meter = attach(model)
    model.predict_proba(ROWS)
    assert (meter.calls, meter.rows) == (1, len(ROWS))
    model[-1].predict_proba(model[:-1].transform(ROWS))
    assert (meter.calls, meter.rows) == (2, 2 * len(ROWS))


class AsksItself(LogisticRegression):
    """A classifier that asks itself by keywords, as LightGBM's does."""

    def predict(self, rows, raw=False):
        return self.classes_[self.predict_proba(X=rows).argmax(axis=1)]


def test_a_model_may_ask_itself_by_keywords():
    rows = ROWS[["age"]].to_numpy()
    model = make_pipeline(AsksItself()).fit(rows, [0, 0, 1, 1] * 5)
    meter = attach(model)
    assert model.predict(rows).tolist() == [0, 0, 1, 1] * 5
    assert model[-1].predict(rows).tolist() == [0, 0, 1, 1] * 5
    assert (meter.calls, meter.rows) == (2, 2 * len(ROWS))


@pytest.mark.parametrize("wrapped", [False, True])
def test_every_call_of_an_explainer_is_counted(model, wrapped):
    meter = attach(model)
    explainer = Explainer(PlainModel(model) if wrapped else model, ROWS)
    assert explainer.engine.fitted.oracle.takes_codes is not wrapped
    meter.reset()
    found = explainer.explain(ROWS.head(1))
    assert meter.calls == found.metrics()["calls"]
    assert meter.cpu >= 0


def test_a_plain_model_answers_like_its_model(model):
    assert (PlainModel(model).predict_proba(ROWS) == model.predict_proba(ROWS)).all()
    assert list(PlainModel(model).predict(ROWS)) == list(model.predict(ROWS))
    assert list(PlainModel(model).classes_) == [0, 1]


def test_a_metered_pipeline_travels(model):
    attach(model)
    explainer = Explainer(model, ROWS)
    sent = loads(bytes(dumps(explainer)))
    assert sent.engine.fitted.oracle.takes_codes
    assert str(sent.explain(ROWS.head(3))) == str(explainer.explain(ROWS.head(3)))
