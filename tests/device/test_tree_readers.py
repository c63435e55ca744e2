from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("lightgbm")

import lightgbm
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from device.worlds import LIKE_A_DEVICE, World, own_answers
from macex import Explainer, ModelError
from macex.device import DeviceExplainer, TreeScores, on_device
from macex.device.arrays import on_host

Boosted = partial(lightgbm.LGBMClassifier, n_estimators=15, n_jobs=1, verbose=-1, random_state=0)
Averaged = partial(RandomForestClassifier, n_estimators=8, n_jobs=1, random_state=0)
MODELS = {
    "LightGBM": Boosted,
    "LightGBM, dart": partial(Boosted, boosting_type="dart"),
    "LightGBM, forest": partial(
        Boosted, boosting_type="rf", subsample=0.6, subsample_freq=1, num_leaves=90
    ),
    "random forest": Averaged,
    "extra trees": partial(ExtraTreesClassifier, n_estimators=8, random_state=0),
    "tree": partial(DecisionTreeClassifier, max_depth=6, random_state=0),
    "boosting": partial(GradientBoostingClassifier, n_estimators=10, random_state=0),
    "boosting from zero": partial(
        GradientBoostingClassifier, n_estimators=10, init="zero", random_state=0
    ),
    "histograms": partial(HistGradientBoostingClassifier, max_iter=12, random_state=0),
}
BLANKS = [
    name for name in MODELS if "boosting" not in name and name != "extra trees"
]  # take missing values


def numbers(gaps: float = 0.0) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(600, 4)), columns=["a", "b c", "d", "e"])
    frame["e"] = draw.integers(-3, 40, len(frame)) * 0.1
    frame.loc[:50, "a"] = 0.0
    return frame.mask(draw.random(frame.shape) < gaps) if gaps else frame


def labels(frame: pd.DataFrame, classes: int) -> np.ndarray:
    filled = frame.fillna(0.3)
    lead = filled["a"] * filled["b c"] + 0.5 * filled["e"] - filled["d"]
    return pd.qcut(lead, classes, labels=False).to_numpy()


def assert_same(model, frame: pd.DataFrame) -> Explainer:
    """Scores of codes are the model's own, for rows of training and for values between them."""
    explainer = Explainer(model, frame, structure="ignore")
    scores = TreeScores(explainer, device="cpu")
    draw = np.random.default_rng(1)
    codes = explainer.schema.read(frame).codes
    mixed = np.stack([draw.permutation(column) for column in codes.T], axis=1)
    for some in (codes, mixed):
        told = explainer.engine.fitted.oracle.own(explainer.schema.frame(some), len(some)).scores
        found = scores(torch.as_tensor(some)).numpy()
        told = told[:, 1] if found.ndim == 1 else told
        np.testing.assert_allclose(found, told, rtol=1e-9, atol=1e-12)
    return explainer


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_codes_score_as_rows_do(name, classes):
    frame = numbers()
    assert_same(MODELS[name]().fit(frame, labels(frame, classes)), frame)


@pytest.mark.parametrize("name", BLANKS)
def test_missing_values_go_where_the_library_sends_them(name):
    frame = numbers(gaps=0.15)
    assert_same(MODELS[name]().fit(frame, labels(frame, 2)), frame)


@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        ("LightGBM", False),
        ("LightGBM", True),
        ("random forest", False),
        ("random forest", True),
        ("histograms", False),  # scikit-learn refuses sparse matrices there
    ],
)
def test_a_pipeline_is_read_through_its_first_step(name, sparse):
    frame = numbers().assign(job=np.random.default_rng(2).choice(["x", "y", "z"], 600))
    step = make_column_transformer(
        (OneHotEncoder(sparse_output=sparse), ["job"]),
        (StandardScaler(), ["a", "e"]),
        sparse_threshold=float(sparse),
        remainder="passthrough",
    )
    wanted = labels(frame, 2) ^ (frame["job"] == "x").to_numpy()
    assert_same(make_pipeline(step, MODELS[name]()).fit(frame, wanted), frame)


@pytest.mark.parametrize("name", ["LightGBM", "random forest", "histograms"])
def test_the_search_on_a_device_finds_what_the_explainer_finds(name):
    frame = numbers()
    model = MODELS[name]().fit(frame, labels(frame, 2))
    explainer = Explainer(model, frame, **LIKE_A_DEVICE)
    world = World(explainer, TreeScores(explainer, device="cpu"), frame.head(40))
    found = DeviceExplainer(explainer, world.scores).explain(world.codes)
    codes, changes = own_answers(world)
    assert on_host(found.changed).tolist() == changes.tolist()
    assert (on_host(found.codes) == codes).all(axis=1).mean() > 0.8
    there = on_device(explainer, "cpu").explain(world.queries)
    assert {one.method for one in there} == {"device"}


def refused(model, frame: pd.DataFrame) -> str:
    with pytest.raises(ModelError) as told:
        TreeScores(Explainer(model, frame, structure="ignore"), device="cpu")
    return str(told.value)


def test_what_cannot_be_read_is_refused_with_what_to_do():
    frame, wanted = numbers(), labels(numbers(), 2)
    known = "classifiers of XGBoost, LightGBM and scikit-learn with trees are known here"
    assert known in refused(LogisticRegression().fit(frame, wanted), frame)
    assert known in refused(AdaBoostClassifier().fit(frame, wanted), frame)
    zeros = Boosted(zero_as_missing=True).fit(frame, wanted)
    assert "zero_as_missing=False" in refused(zeros, frame)
    assert "linear model" in refused(Boosted(linear_tree=True).fit(frame, wanted), frame)
    several = Boosted(objective="multiclassova").fit(frame, labels(frame, 3))
    assert "multiclassova" in refused(several, frame)
    assert "options of its own" in refused(Boosted(sigmoid=2.0).fit(frame, wanted), frame)
    start = GradientBoostingClassifier(n_estimators=3, init=LogisticRegression())
    assert "starts from a LogisticRegression" in refused(start.fit(frame, wanted), frame)
    steep = GradientBoostingClassifier(n_estimators=3, loss="exponential").fit(frame, wanted)
    assert "exponential" in refused(steep, frame)


def test_splits_by_sets_of_categories_are_refused():
    frame = numbers().assign(job=np.random.default_rng(2).integers(0, 9, 600))
    wanted = np.isin(frame["job"], [1, 3, 7]).astype(int)
    boosted = Boosted().fit(frame, wanted, categorical_feature=["job"])
    assert "one-hot" in refused(boosted, frame)
    histograms = HistGradientBoostingClassifier(max_iter=3, categorical_features=["job"])
    assert "one-hot" in refused(histograms.fit(frame, wanted), frame)
