"""Between two cuts of a column no answer depends on it; at a cut one does."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("catboost")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

import xgboost
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from macex.errors import OptionError
from macex.models.trees import cuts
from macex.schema import OneHot, Schema
from models.trees.zoo import AROUND, FORESTS, cat, encoded, fitted, label, lgb, rows, xgb

DATA = rows()
MODELS = FORESTS | AROUND


def just_below(column, values):
    kind = column.storage.numbers
    if column.step:
        return column.held(values - column.step)
    return np.nextafter(values.astype(kind), kind.type(-np.inf)).astype(float)


def probabilities(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.predict_proba(data)


def at_values(data, name, values, kind):
    """Every row with every value of one column."""
    repeated = data.loc[data.index.repeat(len(values))]
    return repeated.assign(**{name: np.tile(values.astype(kind), len(data))})


def check_cells(model, data, found, schema, sample=12):
    some = data.sample(sample, random_state=1)
    for column in schema.columns:
        if column.discrete:
            continue
        borders, kind = found[column.name], column.storage.numbers
        first = np.concatenate([[column.low], borders])
        last = np.concatenate([just_below(column, borders), [column.high]])
        here = probabilities(model, at_values(some, column.name, first, kind))
        there = probabilities(model, at_values(some, column.name, last, kind))
        assert np.array_equal(here, there), column.name


@pytest.mark.parametrize("name", MODELS)
def test_the_answer_is_the_same_from_end_to_end_of_a_cell(name):
    model, schema = fitted(MODELS[name], DATA, label(DATA)), Schema.infer(DATA)
    found = cuts(model, schema)
    assert sum(map(len, found.values())) > 3
    check_cells(model, DATA, found, schema)


STUMPS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=1),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=1, max_depth=1),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=1, max_leaf_nodes=2),
    "xgboost": lambda: xgb(n_estimators=1, max_depth=1),
    "lightgbm": lambda: lgb(n_estimators=1, num_leaves=2),
    "catboost": lambda: cat(iterations=1, depth=1),
}


@pytest.mark.parametrize("column", ["a", "b", "c", "d"])
@pytest.mark.parametrize("name", STUMPS)
def test_the_answer_of_a_stump_changes_at_its_cut(name, column):
    data = DATA[[column]]
    model = fitted(STUMPS[name], data, (data[column] > data[column].median()).astype(int))
    schema = Schema.infer(data)
    (border,) = cuts(model, schema)[column]
    kind = schema.columns[0].storage.numbers
    sides = np.array([just_below(schema.columns[0], np.array([border]))[0], border])
    below, above = probabilities(model, pd.DataFrame({column: sides.astype(kind)}))
    assert not np.array_equal(below, above)


def test_cuts_outside_the_range_are_left_out():
    model, schema = fitted(FORESTS["tree"], DATA, label(DATA)), Schema.infer(DATA.query("a > 40"))
    borders = cuts(model, schema)["a"]
    assert (borders > 40).all()


@pytest.mark.parametrize("make", [xgb, lgb])
def test_a_booster_is_read_by_the_names_of_its_columns(make):
    model = fitted(make, DATA, label(DATA))
    booster = model.get_booster() if hasattr(model, "get_booster") else model.booster_
    turned = Schema.infer(DATA[DATA.columns[::-1]])
    whole, again = cuts(model, Schema.infer(DATA)), cuts(booster, turned)
    assert all(np.array_equal(whole[name], again[name]) for name in DATA.columns)


def mixed():
    data = DATA.assign(
        town=np.random.default_rng(2).choice(["Oslo", "Rome", "Bern"], len(DATA)),
        size=pd.Categorical(np.random.default_rng(3).choice(["S", "M", "L"], len(DATA))),
    )
    return data[["town", "a", "size", "b", "c", "d"]]


def mixed_label(data):
    return label(data) ^ ((data["town"] == "Rome") & (data["size"] != "L"))


@pytest.mark.parametrize("trees", [xgb, lgb, FORESTS["forest"], FORESTS["histogram boosting"]])
def test_encoded_categories_need_no_cuts(trees):
    data = mixed()
    model = fitted(lambda: encoded(trees(), ["town", "size"]), data, mixed_label(data))
    found = cuts(model, Schema.infer(data))
    assert set(found) == {"a", "b", "c", "d"}
    check_cells(model, data, found, Schema.infer(data))


@pytest.mark.parametrize(
    "make",
    [
        lambda: xgb(enable_categorical=True, n_estimators=20),
        lambda: lgb(n_estimators=20),
        lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20),
        lambda: cat(cat_features=["town", "size"], iterations=20),
    ],
    ids=["xgboost", "lightgbm", "histogram", "catboost"],
)
def test_categories_of_the_library_itself_need_no_cuts(make):
    data = mixed().astype({"town": "category"})
    model = fitted(make, data, mixed_label(data))
    found = cuts(model, Schema.infer(data))
    assert sum(map(len, found.values())) > 10
    check_cells(model, data, found, Schema.infer(data))


def test_dummies_of_a_block_need_no_cuts():
    data = pd.get_dummies(mixed())
    model = fitted(xgb, data, mixed_label(mixed()))
    schema = Schema.infer(data)
    assert schema.names == ("a", "b", "c", "d", "town", "size")
    assert set(cuts(model, schema)) == {"a", "b", "c", "d"}
    told = Schema.infer(data, {"town": None, "size": OneHot(["size_L", "size_M", "size_S"])})
    assert set(cuts(model, told)) == {"a", "b", "c", "d"}


def test_a_number_encoded_as_a_category_is_to_be_declared():
    data = DATA.assign(a=DATA["a"] % 3)
    model = fitted(lambda: encoded(xgb(), ["a"]), data, label(DATA))
    with pytest.raises(OptionError, match=r"'a' goes through OneHotEncoder.*\"categorical\""):
        cuts(model, Schema.infer(data))
    assert set(cuts(model, Schema.infer(data, {"a": "categorical"}))) == {"b", "c", "d"}


def test_a_number_split_as_a_category_is_to_be_declared():
    data = DATA.assign(a=DATA["a"] % 5)
    split = fitted(
        lambda: HistGradientBoostingClassifier(categorical_features=["a"], max_iter=20),
        data,
        (data["a"] % 2).to_numpy() ^ (data["b"] > 0).to_numpy(),
    )
    with pytest.raises(OptionError, match="take column 'a' for categories"):
        cuts(split, Schema.infer(data))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (LogisticRegression, "LogisticRegression is not made of trees"),
        (lambda: xgb(booster="gblinear"), "gblinear, which has no trees"),
        (lambda: make_pipeline(PolynomialFeatures(), xgb()), "'a' goes through Polynomial"),
        (lambda: make_pipeline(FunctionTransformer(abs), xgb()), "'a' goes through Function"),
        (
            lambda: GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2),
            "starts from a LogisticRegression",
        ),
    ],
)
def test_a_model_that_cannot_be_read_says_why_and_what_can(make, says):
    with pytest.raises(OptionError, match=says) as caught:
        cuts(fitted(make, DATA, label(DATA)), Schema.infer(DATA))
    assert "it reads XGBoost, LightGBM, CatBoost" in str(caught.value)


def test_a_function_cannot_be_read():
    with pytest.raises(OptionError, match="the model is a function"):
        cuts(lambda data: data["a"], Schema.infer(DATA))


def test_trees_of_other_columns_are_refused():
    model = fitted(xgb, DATA[["a", "b"]], label(DATA))
    with pytest.raises(OptionError, match="have 2 features, the rows 4"):
        cuts(model, Schema.infer(DATA))


def test_rows_whose_columns_are_all_categories_have_no_cuts():
    data = mixed()[["town", "size"]]
    model = fitted(lambda: make_pipeline(OneHotEncoder(), xgb()), data, mixed_label(mixed()))
    assert cuts(model, Schema.infer(data)) == {}


@pytest.mark.parametrize(
    "trees",
    [
        lambda: DecisionTreeClassifier(max_depth=1),
        lambda: AdaBoostClassifier(n_estimators=3),
        lambda: BaggingClassifier(n_estimators=3),
    ],
    ids=["stump", "adaboost", "bagging"],
)
def test_trees_that_split_on_categories_alone_leave_numbers_uncut(trees):
    data = mixed()
    model = fitted(lambda: encoded(trees(), ["town", "size"]), data, data["town"] == "Rome")
    found = cuts(model, Schema.infer(data))
    assert {name: len(borders) for name, borders in found.items()} == dict.fromkeys("abcd", 0)


def test_a_native_booster_is_read():
    matrix = xgboost.DMatrix(DATA, label(DATA))
    booster = xgboost.train({"max_depth": 3, "objective": "binary:logistic"}, matrix, 5)
    assert sum(map(len, cuts(booster, Schema.infer(DATA)).values())) > 10


def test_a_split_at_zero_is_where_lightgbm_makes_it():
    data = pd.DataFrame({"b": np.round(np.random.default_rng(0).normal(size=200) * 4) * 0.1})
    model = fitted(lambda: lgb(min_child_samples=3), data, (data["b"] >= 0).astype(int))
    found = cuts(model, Schema.infer(data))
    assert (np.abs(found["b"]) < 1e-30).any()
    check_cells(model, data, found, Schema.infer(data))


def test_the_ends_of_a_range_of_single_floats_are_on_its_grid():
    tenths = np.arange(-9, 8, dtype=np.float32)[:, None] / np.float32(10)
    data = pd.DataFrame({"b": np.tile(tenths[:, 0], 4).astype(np.float32)})
    schema = Schema.infer(data)
    assert schema.columns[0].step == 0.1
    for cut in (-0.85, 0.65):
        tree = fitted(FORESTS["tree"], data, (data["b"] > cut).astype(int))
        (border,) = cuts(tree, schema)["b"]
        assert border == pytest.approx(cut + 0.05)
