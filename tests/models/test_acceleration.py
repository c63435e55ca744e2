"""A quicker twin agrees with its model, is asked where it pays, and never has the last word."""

from __future__ import annotations

from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import macex as mx
from macex.models.quick import Quick
from models.people import GRANTED, NUMBERS, PEOPLE, POINTS, encoded, logistic, words

pytest.importorskip("skl2onnx")
pytest.importorskip("onnxruntime")


def always(quick: Quick) -> Quick:
    """The twin at every size, whatever was measured."""
    report = replace(quick.report, sizes=(1,), model_ms=(2.0,), twin_ms=(1.0,))
    return replace(quick, report=report)


def pipeline(classifier):
    return make_pipeline(encoded(), classifier).fit(PEOPLE, words(GRANTED))


def boosted(library: str):
    module = pytest.importorskip(library)
    if library == "xgboost":
        model = make_pipeline(encoded(), module.XGBClassifier(n_estimators=15))
    else:
        model = make_pipeline(encoded(), module.LGBMClassifier(n_estimators=15, verbose=-1))
    return model.fit(PEOPLE, GRANTED.astype(int))


MODELS = {
    "logistic": lambda: pipeline(LogisticRegression()),
    "forest": lambda: pipeline(RandomForestClassifier(20, random_state=0)),
    "support vectors": lambda: pipeline(SVC()),
    "xgboost": lambda: boosted("xgboost"),
    "lightgbm": lambda: boosted("lightgbm"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_twin_gives_the_same_answers_in_the_same_order(name):
    model = MODELS[name]()
    quick = mx.accelerate(model, PEOPLE)
    assert isinstance(quick, Quick)
    assert quick.report.difference < 1e-4
    rows = PEOPLE.iloc[[3, 17, 40]]
    plain = mx.Explainer(model, PEOPLE).explain(rows, n=2)
    fast = mx.Explainer(always(quick), PEOPLE).explain(rows, n=2)
    for one, other in zip(plain, fast, strict=True):
        assert one.label == other.label
        assert [a.row.to_dict() for a in one.counterfactuals] == [
            a.row.to_dict() for a in other.counterfactuals
        ]


def test_a_matrix_of_numbers_has_a_twin():
    model = RandomForestClassifier(10, random_state=0).fit(NUMBERS.to_numpy(), GRANTED)
    quick = mx.accelerate(model, NUMBERS.to_numpy())
    rows = NUMBERS.to_numpy()
    assert np.allclose(quick.twin(rows), model.predict_proba(rows), atol=1e-5)


def test_a_number_has_a_twin():
    model = make_pipeline(encoded(), LinearRegression()).fit(PEOPLE, POINTS)
    quick = mx.accelerate(model, PEOPLE)
    found = mx.Explainer(always(quick), PEOPLE).explain(PEOPLE.head(2), want=mx.between(4, 4.5))
    assert all(4 <= model.predict(e.counterfactuals[0].row)[0] <= 4.5 for e in found)


def test_the_report_says_what_was_gained():
    quick = mx.accelerate(logistic().model, PEOPLE)
    assert quick.report.sizes == (1, 16, 128, 1024, 8192)
    assert "1 row " in str(quick.report)
    assert "differ by at most" in repr(quick)


def lying(quick: Quick) -> Quick:
    """A twin that says the opposite."""
    return replace(always(quick), twin=lambda frame: quick.twin(frame)[:, ::-1])


def test_a_twin_that_lies_never_returns_an_answer_that_does_not_hold():
    kind = logistic()
    liar = lying(mx.accelerate(kind.model, PEOPLE))
    rows = PEOPLE.head(8)
    found = mx.Explainer(liar, PEOPLE).explain(rows)
    own = kind.decide(rows)
    assert [explanation.label for explanation in found] == own.tolist()
    for label, explanation in zip(own, found, strict=True):
        for answer in explanation.counterfactuals:
            assert kind.decide(answer.row)[0] != label


def test_a_twin_that_fails_is_replaced_by_the_model():
    kind = logistic()

    def broken(frame):
        raise RuntimeError("no")

    quick = replace(always(mx.accelerate(kind.model, PEOPLE)), twin=broken)
    assert mx.Explainer(quick, PEOPLE).explain(PEOPLE.head(2))[0].status == "found"


def test_a_gap_that_training_does_not_show_is_the_model_s_matter():
    quick = always(mx.accelerate(logistic().model, PEOPLE))
    assert quick(PEOPLE.head(3), 3) is not None
    assert quick(PEOPLE.head(3).assign(income=[1.0, np.nan, 2.0]), 3) is None
    assert quick(PEOPLE.head(3).assign(job=["none", None, "none"]), 3) is None


def test_the_faster_one_at_a_size_is_asked():
    quick = mx.accelerate(logistic().model, PEOPLE)
    report = replace(quick.report, sizes=(1, 1000), model_ms=(5.0, 5.0), twin_ms=(1.0, 9.0))
    quick = replace(quick, report=report)
    assert quick(PEOPLE.head(20), 20) is not None
    assert quick(PEOPLE.head(100), 100) is None


class Squared(LogisticRegression):
    """Scores that no converter knows of."""

    def predict_proba(self, rows):
        yes = super().predict_proba(rows)[:, 1] ** 2
        return np.column_stack([1 - yes, yes])


@pytest.mark.parametrize(
    ("model", "why"),
    [(lambda rows: rows["age"] / 100, "only scikit-learn"), (Squared(), "shape calculator")],
    ids=["function", "class of its own"],
)
def test_what_cannot_be_converted_is_given_back_loudly(model, why):
    if hasattr(model, "fit"):
        model.fit(NUMBERS, GRANTED)
    with pytest.warns(UserWarning, match=why):
        assert mx.accelerate(model, NUMBERS) is model


def test_a_twin_that_disagrees_is_not_taken():
    """The converter knows the class and not what was done to the object."""
    model = LogisticRegression().fit(NUMBERS, GRANTED)
    model.predict_proba = lambda rows: np.tile([0.25, 0.75], (len(rows), 1))
    with pytest.warns(UserWarning, match="its ONNX form differ by"):
        assert mx.accelerate(model, NUMBERS) is model


def test_missing_text_is_left_to_the_model():
    """Missing text has no ONNX form."""
    data = PEOPLE.assign(job=PEOPLE["job"].where(np.arange(len(PEOPLE)) % 9 > 0))
    model = make_pipeline(encoded(), LogisticRegression()).fit(data, GRANTED)
    with pytest.warns(UserWarning, match="asked as it is"):
        assert mx.accelerate(model, data) is model


def test_a_polars_frame_has_a_twin_too():
    polars = pytest.importorskip("polars")
    model = make_pipeline(encoded(), LogisticRegression())
    frame = polars.from_pandas(PEOPLE)
    model.fit(frame, GRANTED)
    quick = mx.accelerate(model, frame)
    assert np.allclose(quick.twin(frame), model.predict_proba(frame), atol=1e-5)
    assert quick(frame.with_columns(polars.lit(None).cast(float).alias("income")), 400) is None


def test_a_model_from_a_file_has_a_twin(tmp_path):
    joblib.dump(logistic().model, tmp_path / "model.joblib")
    stored = mx.load_model(tmp_path / "model.joblib", allow_pickle=True)
    quick = mx.accelerate(stored, PEOPLE)
    assert isinstance(quick, Quick)
    assert quick.original is stored
    assert mx.Explainer(always(quick), PEOPLE).explain(PEOPLE.head(1))[0].status == "found"
