"""Models that do not fit their data, or cannot be relied on, say so."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import macex as mx
from models.people import CATEGORIES, GRANTED, NUMBERS, PEOPLE, logistic

TURNED = NUMBERS[["owns", "income", "age"]]


def boosted(library: str, data: pd.DataFrame):
    module = pytest.importorskip(library)
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=10, enable_categorical=True).fit(data, GRANTED)
    return module.LGBMClassifier(n_estimators=10, verbose=-1).fit(data, GRANTED)


either = pytest.mark.parametrize("library", ["xgboost", "lightgbm"])


@either
def test_a_booster_finds_its_columns_by_name_in_any_order(library):
    model = boosted(library, NUMBERS)
    found = mx.Explainer(model, TURNED).explain(TURNED.head(10))
    rows = pd.concat([explanation.counterfactuals[0].row for explanation in found])
    now = model.predict(NUMBERS.head(10))
    assert (model.predict(rows[NUMBERS.columns]) != now).all()
    assert [explanation.label for explanation in found] == now.tolist()


@either
def test_a_column_the_booster_lacks_is_named(library):
    model = boosted(library, NUMBERS)
    with pytest.raises(mx.ModelError, match="'income' that data does not have"):
        mx.Explainer(model, NUMBERS.rename(columns={"income": "Income"}))
    with pytest.raises(mx.ModelError, match="not trained on: 'extra'"):
        mx.Explainer(model, NUMBERS.assign(extra=1.0))
    with pytest.raises(mx.ModelError, match="trained on 3 columns, data has 2"):
        mx.Explainer(model, NUMBERS.iloc[:, :2].to_numpy())


@either
def test_text_where_the_booster_takes_numbers_is_named(library):
    model = boosted(library, NUMBERS)
    with pytest.raises(mx.ModelError, match=r"column 'income' holds .*number"):
        mx.Explainer(model, NUMBERS.assign(income="much"))


def test_a_category_xgboost_does_not_know_is_named():
    model = boosted("xgboost", CATEGORIES)
    explainer = mx.Explainer(model, PEOPLE)
    strange = PEOPLE.head(3).assign(job=["none", "retired", "full-time"])
    with pytest.raises(
        mx.ModelError, match="'retired', a category the model does not know"
    ) as error:
        explainer.explain(strange)
    assert error.value.row["job"].tolist() == ["retired"]
    kept = explainer.explain(strange, on_error="keep")
    assert [explanation.status == "found" for explanation in kept] == [True, False, True]


def test_a_model_of_another_order_is_refused_by_scikit_learn_itself():
    model = LogisticRegression().fit(NUMBERS, GRANTED)
    with pytest.raises(mx.ModelError, match="order"):
        mx.Explainer(model, TURNED)


def test_classes_that_do_not_fit_the_output_are_refused():
    model = DecisionTreeClassifier(max_depth=3).fit(NUMBERS, GRANTED)
    model.classes_ = np.array(["a", "b", "c"])
    with pytest.raises(mx.ModelError, match="3 classes but returned 2 columns"):
        mx.Explainer(model, NUMBERS)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(mx.ModelError, match="fit"):
        mx.Explainer(LogisticRegression(), NUMBERS)


@either
def test_a_booster_that_is_not_fitted_says_so(library):
    module = pytest.importorskip(library)
    kind = module.XGBClassifier if library == "xgboost" else module.LGBMClassifier
    with pytest.raises(mx.ModelError, match="fit"):
        mx.Explainer(kind(), NUMBERS)


def test_a_model_that_rolls_dice_is_warned_of():
    draw = np.random.default_rng(0)

    def dice(rows):
        return draw.random(len(rows))

    with pytest.warns(UserWarning, match="not deterministic"):
        mx.Explainer(dice, NUMBERS)


def test_a_slow_model_keeps_the_deadline_in_few_calls():
    """A call costs 30 ms whatever its size: it is not cut into many."""
    model = logistic().model
    sizes = []

    def slow(rows):
        sizes.append(len(rows))
        time.sleep(0.03)
        return model.predict_proba(rows)

    explainer = mx.Explainer(slow, PEOPLE, classes=tuple(model.classes_))
    sizes.clear()
    explainer.explain(PEOPLE.head(1))
    free = len(sizes)
    sizes.clear()
    found = explainer.explain(PEOPLE.head(1), timeout_s=60)
    assert found[0].status == "found"
    assert len(sizes) <= free + 4
