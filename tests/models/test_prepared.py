"""A pipeline asked by code says what it says of frames; what no code shows is asked of it."""

from __future__ import annotations

import pickle
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

import macex as mx
from macex.bench.metered import PlainModel
from macex.models.oracle import Oracle
from macex.models.prepared import MOST_TABLE, prepared
from macex.scale.workers import restrain
from macex.schema import Schema
from macex.schema.columns import MISSING
from models.pipelines import (
    CODES,
    FRAME,
    NUMBERS,
    SCHEMA,
    TEXTS,
    YES,
    columns,
    draw,
    encoder,
    fitted,
)


def with_code(column: str, code: float) -> np.ndarray:
    codes = CODES[:4].copy()
    codes[1, SCHEMA.position(column)] = code
    return codes


@pytest.mark.parametrize(
    ("column", "code"), [("zone", 3.0), ("job", MISSING), ("income", MISSING), ("town", MISSING)]
)
def test_what_training_does_not_show_is_asked_of_the_pipeline(column, code):
    """What an encoder does with such a value was never looked at."""
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    first = columns((encoder(handle_unknown="ignore"), TEXTS), (scaled, NUMBERS))
    model = make_pipeline(first, LogisticRegression()).fit(FRAME, YES)
    codes = with_code(column, code)
    found = prepared(model, SCHEMA, CODES)
    assert found is not None
    scores = model.predict_proba(SCHEMA.frame(codes))
    np.testing.assert_array_equal(found(codes, "predict_proba"), scores)


def test_an_encoder_that_refuses_a_value_still_refuses_it():
    found = prepared(fitted("dense"), SCHEMA, CODES)
    with pytest.raises(ValueError, match="unknown categories"):
        found(with_code("zone", 3.0), "predict_proba")


def test_ten_thousand_categories_take_little_memory():
    many = pd.DataFrame(
        {"who": [f"{at:05}" for at in range(10_000)], "x": draw.normal(0, 1, 10_000)}
    )
    schema = Schema.infer(many, {"who": "categorical"})
    for coder in (OneHotEncoder(), OrdinalEncoder()):
        model = make_pipeline(
            columns((coder, ["who"]), (StandardScaler(), ["x"])), LinearRegression()
        )
        found = prepared(model.fit(many, many["x"]), schema, schema.read(many).codes)
        held = [] if found is None else [found.whole, *found.parts]
        assert sum(part.rows.size for part in held if hasattr(part, "rows")) <= MOST_TABLE


PEOPLE = FRAME[["age", "income", "gaps", "job", "town", "zone", "owns", "maybe"]]
SCALED = ["age", "income", "gaps"]
ALIKE = ["job", "town", "zone", "owns", "maybe"]


def first_of_people() -> ColumnTransformer:
    texts = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return columns((texts, ALIKE), (numbers, SCALED), sparse_threshold=1)


def network() -> Any:
    return MLPClassifier((8,), max_iter=60, random_state=0)


def boosted() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=15, max_depth=3, random_state=0)


LAST = {
    "logistic": LogisticRegression,
    "network": network,
    "boosted": boosted,
    "threshold": lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
}


@cache
def of_people(name: str) -> Pipeline:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(first_of_people(), LAST[name]()).fit(PEOPLE, YES.astype(int))


@cache
def explainers(name: str) -> tuple[mx.Explainer, mx.Explainer]:
    model = of_people(name)
    return mx.Explainer(model, PEOPLE), mx.Explainer(PlainModel(model), PEOPLE)


def oracle_of(explainer: mx.Explainer) -> Oracle:
    return explainer.engine.fitted.oracle


def queries() -> pd.DataFrame:
    """Rows of training, and rows with categories and gaps that training does not have."""
    odd = PEOPLE.iloc[:5].copy()
    odd["town"] = ["Rom", "Ulm", "Ulm", "Ulm", "Ulm"]
    odd["zone"] = pd.Categorical(["a", "never", "a", "a", "b"], dtype=PEOPLE["zone"].dtype)
    odd.loc[2, "job"] = None
    odd.loc[3, "income"] = np.nan
    odd.loc[4, "gaps"] = np.nan
    return pd.concat([PEOPLE.iloc[20:32], odd], ignore_index=True)


@pytest.mark.parametrize("name", LAST)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n": 3},
        {"n": 2, "constraints": mx.Constraints(fixed=["job"], increase=["age"])},
        {"want": 1, "constraints": mx.Constraints(max_changes=1, only=["income", "job"])},
        {"want": mx.at_least(0.8, label=1)},
        {"n": 2, "constraints": mx.Constraints(may_blank=["job", "income"], fixed=["owns"])},
    ],
    ids=["one", "three", "constrained", "one change", "a score", "blanks"],
)
def test_answers_are_those_of_the_model_that_hides_its_steps(name, options):
    plain, hidden = explainers(name)
    assert oracle_of(plain).takes_codes
    assert not oracle_of(hidden).takes_codes
    expected = hidden.explain(queries(), **options).to_json(canonical=True)
    assert plain.explain(queries(), **options).to_json(canonical=True) == expected
    assert oracle_of(plain).takes_codes


def test_rows_that_the_model_refuses_get_its_own_reason():
    rows = PEOPLE.drop(columns=["maybe", "gaps", "owns"])  # all are read
    first = columns((encoder(), ["job", "town", "zone"]), (StandardScaler(), NUMBERS))
    model = make_pipeline(first, LogisticRegression()).fit(rows, YES)
    asked = queries()[rows.columns]
    plain, hidden = mx.Explainer(model, rows), mx.Explainer(PlainModel(model), rows)
    assert oracle_of(plain).takes_codes
    found = plain.explain(asked, on_error="keep")
    expected = hidden.explain(asked, on_error="keep")
    assert found.to_json(canonical=True) == expected.to_json(canonical=True)
    assert [bool(one.counterfactuals) for one in found[12:]] == [False] * 4 + [True]
    for one in (plain, hidden):
        with pytest.raises(mx.ModelError, match="unknown categories"):
            one.explain(asked)


def test_a_row_alone_is_answered_as_in_its_batch():
    plain, _ = explainers("boosted")
    together = plain.explain(queries())
    for place in (0, 12, 13, 14, 15):
        alone = plain.explain(queries().iloc[[place]])
        assert alone.to_json(canonical=True) == together[place : place + 1].to_json(canonical=True)


def test_one_query_takes_few_calls():
    plain, _ = explainers("logistic")
    assert np.mean([plain.explain(PEOPLE.iloc[[at]])[0].cost.calls for at in range(40)]) <= 8


def test_no_new_warning_is_given():
    model = of_people("network")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mx.Explainer(model, PEOPLE).explain(PEOPLE.head(3), n=2)


def another(step: Any, rows: pd.DataFrame = PEOPLE) -> Any:
    """The step, taught by other rows."""
    return step.fit(rows.assign(income=rows["income"] * 3 + 100), YES)


@pytest.mark.parametrize(
    "change",
    [
        another,
        lambda model: another(model[0]),
        lambda model: another(model[0].named_transformers_["pipeline-2"], PEOPLE[SCALED]),
        lambda model: model[0].named_transformers_["pipeline-2"][-1].set_params(with_mean=False),
        lambda model: model.steps.__setitem__(0, ("new", another(first_of_people()))),
        lambda model: model.set_params(columntransformer=another(first_of_people())),
    ],
    ids=["pipeline", "step", "part", "parameter", "in place", "replaced"],
)
def test_a_first_step_that_has_changed_is_asked_itself(change):
    model = make_pipeline(first_of_people(), LogisticRegression()).fit(PEOPLE, YES)
    explainer = mx.Explainer(model, PEOPLE)
    assert oracle_of(explainer).takes_codes
    change(model)
    assert not oracle_of(explainer).takes_codes
    assert not oracle_of(pickle.loads(pickle.dumps(explainer))).takes_codes  # noqa: S301
    found = explainer.explain(PEOPLE.head(8))
    own = model.predict_proba(PEOPLE.head(8))
    for explanation, scores in zip(found, own, strict=True):
        assert explanation.label == bool(scores.argmax())
        for other in explanation.counterfactuals:
            assert model.predict(other.row)[0] == other.label


def test_a_worker_that_holds_back_threads_still_asks_by_code():
    model = make_pipeline(first_of_people(), RandomForestClassifier(9, random_state=0))
    explainer = mx.Explainer(model.fit(PEOPLE, YES), PEOPLE)
    restrain(explainer, 1)
    assert model[-1].n_jobs == model[0].n_jobs == 1
    assert oracle_of(explainer).takes_codes


def test_a_last_step_that_was_replaced_answers():
    model = make_pipeline(first_of_people(), LogisticRegression()).fit(PEOPLE, YES)
    explainer = mx.Explainer(model, PEOPLE)
    matrix = model[0].transform(PEOPLE)
    model.steps[-1] = ("new", RandomForestClassifier(9, random_state=0).fit(matrix, ~YES))
    assert oracle_of(explainer).takes_codes
    for row, explanation in enumerate(explainer.explain(PEOPLE.head(8))):
        assert explanation.label == model.predict(PEOPLE.iloc[[row]])[0]


def test_steps_between_are_gone_through():
    model = make_pipeline(
        first_of_people(),
        "passthrough",
        StandardScaler(with_mean=False),
        None,
        LogisticRegression(),
    )
    with_between = mx.Explainer(model.fit(PEOPLE, YES), PEOPLE)
    assert oracle_of(with_between).takes_codes
    expected = mx.Explainer(PlainModel(model), PEOPLE).explain(PEOPLE.head(6))
    found = with_between.explain(PEOPLE.head(6))
    assert found.to_json(canonical=True) == expected.to_json(canonical=True)


def test_a_pickled_explainer_still_takes_codes():
    plain, _ = explainers("logistic")
    again = pickle.loads(pickle.dumps(plain))  # noqa: S301 - our own
    assert oracle_of(again).takes_codes
    expected = plain.explain(queries(), n=2).to_json(canonical=True)
    assert again.explain(queries(), n=2).to_json(canonical=True) == expected


@pytest.mark.slow
def test_a_model_from_a_file_still_takes_codes_elsewhere(tmp_path):
    skops = pytest.importorskip("skops.io")
    rows = PEOPLE[["age", "income", "job"]]
    first = columns((encoder(), ["job"]), (StandardScaler(), ["age", "income"]))
    skops.dump(make_pipeline(first, LogisticRegression()).fit(rows, YES), tmp_path / "model.skops")
    explainer = mx.Explainer(mx.load_model(tmp_path / "model.skops"), rows)
    again = pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own
    assert oracle_of(explainer).takes_codes
    assert oracle_of(again).takes_codes
    expected = explainer.explain(rows.head(4)).to_json(canonical=True)
    assert again.explain(rows.head(4)).to_json(canonical=True) == expected


TIERS = np.array(["low", "mid", "high"])[np.digitize(PEOPLE["income"], [40, 60])]
AMOUNT = PEOPLE["income"] * 2 + PEOPLE["age"]


@pytest.mark.parametrize(
    ("last", "target", "want"),
    [
        (LogisticRegression(), TIERS, "mid"),
        (SVC(), TIERS, "high"),
        (SVC(), YES, None),
        (CalibratedClassifierCV(LogisticRegression(), cv=2), YES, None),
        (LinearRegression(), AMOUNT, mx.above(150)),
    ],
    ids=["classes", "margins of classes", "margins", "calibrated", "regression"],
)
def test_models_of_every_task_take_codes(last, target, want):
    model = make_pipeline(first_of_people(), last).fit(PEOPLE, target)
    explainer = mx.Explainer(model, PEOPLE)
    assert oracle_of(explainer).takes_codes
    for explanation in explainer.explain(PEOPLE.iloc[40:46], want=want):
        for found in explanation.counterfactuals:
            said = model.predict(found.row)[0]
            assert said == found.label if found.label is not None else said > 150


def test_a_search_over_parameters_is_asked_through_its_best_pipeline():
    model = make_pipeline(first_of_people(), LogisticRegression())
    search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(PEOPLE, YES)
    explainer = mx.Explainer(search, PEOPLE)
    assert oracle_of(explainer).takes_codes
    expected = mx.Explainer(PlainModel(search), PEOPLE).explain(queries()).to_json(canonical=True)
    assert explainer.explain(queries()).to_json(canonical=True) == expected
    search.fit(PEOPLE, ~YES)
    assert not oracle_of(explainer).takes_codes
    assert explainer.explain(PEOPLE.head(1))[0].label == search.predict(PEOPLE.head(1))[0]


class Own(Pipeline):
    """A pipeline that does something of its own."""

    def predict_proba(self, X, **params):
        return super().predict_proba(X, **params)[:, ::-1]

    def predict(self, X, **params):
        return ~super().predict(X, **params)


@pytest.mark.parametrize(
    "model",
    [
        Own([("first", first_of_people()), ("last", LogisticRegression())]),
        CalibratedClassifierCV(make_pipeline(first_of_people(), LogisticRegression()), cv=2),
    ],
    ids=["a pipeline of its own", "a wrapper"],
)
def test_a_model_with_ways_of_its_own_is_asked_as_it_is(model):
    model.fit(PEOPLE, YES)
    explainer = mx.Explainer(model, PEOPLE)
    assert not oracle_of(explainer).takes_codes
    for row, explanation in enumerate(explainer.explain(PEOPLE.head(4))):
        assert explanation.label == model.predict(PEOPLE.iloc[[row]])[0]
        assert model.predict(explanation.counterfactuals[0].row)[0] != explanation.label


def test_blocks_of_zeros_and_ones_are_unfolded():
    wide = pd.get_dummies(PEOPLE[["age", "income", "job"]], columns=["job"], dtype=float)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wide, YES)
    explainer = mx.Explainer(model, wide)
    assert explainer.schema.folding is not None
    assert oracle_of(explainer).takes_codes
    expected = mx.Explainer(PlainModel(model), wide).explain(wide.head(8)).to_json(canonical=True)
    assert explainer.explain(wide.head(8)).to_json(canonical=True) == expected
