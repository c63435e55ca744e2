from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("xgboost")

import torch
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

from device.worlds import LIKE_A_DEVICE, World, own_answers
from macex import Explainer, ModelError, OptionError, accelerate
from macex.datasets import load
from macex.device import DeviceExplainer, TreeScores, tree_scores
from macex.device.arrays import on_host
from macex.device.tree_readers import read_forest
from macex.models.kinds import adapted

FEW = {"n_estimators": 20, "max_depth": 4, "n_jobs": 1, "random_state": 0}


def numbers(count: int = 800, *, gaps: float = 0.0) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(count, 4)), columns=list("abcd"))
    frame["e"] = draw.integers(-3, 40, count)
    return frame.mask(draw.random(frame.shape) < gaps) if gaps else frame


def labels(frame: pd.DataFrame, classes: int = 2) -> np.ndarray:
    filled = frame.fillna(0.3)
    lead = filled["a"] * filled["b"] + 0.05 * filled["e"] - filled["c"]
    return pd.qcut(lead, classes, labels=False).to_numpy()


def mixed(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of numbers and, of some of them, categories."""
    names = np.array(["red", "green", "blue", "grey"])
    return frame.assign(
        a=names[np.digitize(frame["a"], [-1, 0, 1])], yes=np.where(frame["b"] > 0.5, "y", "n")
    )


def assert_same(explainer: Explainer, rows: pd.DataFrame, **options) -> TreeScores:
    """Scores of codes are the model's own for the rows, and for rows mixed from them."""
    scores = TreeScores(explainer, device="cpu", **options)
    draw = np.random.default_rng(1)
    shuffled = rows.apply(lambda column: draw.permutation(column.array)).astype(rows.dtypes)
    for some in (rows, shuffled):
        codes = explainer.schema.read(some).codes
        found = scores(torch.as_tensor(codes)).numpy()
        told = explainer.engine.fitted.oracle.own(explainer.schema.frame(codes), len(codes)).scores
        told = told[:, 1] if found.ndim == 1 else told
        assert found.dtype == (np.float32 if "odds" in scores._sums[1:] else np.float64)
        np.testing.assert_allclose(found, told, rtol=3e-6, atol=1e-7)
    return scores


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_codes_score_as_rows_do(classes, gaps):
    frame = numbers(gaps=gaps)
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame, classes))
    assert_same(Explainer(model, frame), frame)


def test_a_booster_scores_as_itself():
    frame = numbers(gaps=0.1)
    for classes, objective in ((2, "binary:logistic"), (4, "multi:softprob")):
        told = {"objective": objective, "nthread": 1, "max_depth": 3, "base_score": 0.3}
        told |= {"num_class": classes} if classes > 2 else {}
        data = xgboost.DMatrix(frame, labels(frame, classes))
        assert_same(Explainer(xgboost.train(told, data, 15), frame), frame)


def test_a_number_as_near_a_threshold_as_numbers_are_goes_where_xgboost_sends_it():
    frame = numbers()
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame))
    explainer = Explainer(model, frame)
    scores = TreeScores(explainer, device="cpu")
    pieces = read_forest(adapted(model)).pieces[0]
    cuts = np.unique(np.concatenate([p.threshold[p.feature == 0] for p in pieces])).astype(float)
    around = [cuts]
    for end in (-np.inf, np.inf):
        half = (cuts + np.nextafter(cuts.astype(np.float32), np.float32(end))) / 2
        around += [np.nextafter(cuts, end), half, np.nextafter(half, end), np.nextafter(half, cuts)]
    codes = np.repeat(explainer.engine.fitted.ground.codes[:1], 9 * len(cuts), axis=0)
    codes[:, 0] = np.concatenate(around)
    told = model.predict_proba(codes)[:, 1]
    assert len(np.unique(told)) > 10
    np.testing.assert_allclose(scores(torch.as_tensor(codes)).numpy(), told, rtol=3e-6)


def test_only_the_trees_of_the_best_rounds_count():
    frame = numbers()
    model = xgboost.XGBClassifier(**{**FEW, "n_estimators": 200}, early_stopping_rounds=3)
    noise = np.random.default_rng(2).integers(0, 2, 300)
    model.fit(frame[:500], labels(frame)[:500], eval_set=[(frame[500:], noise)], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    assert_same(Explainer(model, frame), frame)


def test_several_trees_a_round_count():
    frame = numbers()
    model = xgboost.XGBClassifier(**FEW, num_parallel_tree=3, subsample=0.7, colsample_bynode=0.6)
    assert_same(Explainer(model.fit(frame, labels(frame, 3)), frame), frame)


@pytest.mark.parametrize(("depth", "policy"), [(9, "depthwise"), (0, "lossguide")])
def test_a_tree_with_more_than_64_leaves_is_several_pieces(depth, policy):
    frame = numbers(gaps=0.1)
    noisy = np.random.default_rng(0).integers(0, 2, len(frame))
    model = xgboost.XGBClassifier(
        **{**FEW, "max_depth": depth, "n_estimators": 8},
        grow_policy=policy,
        max_leaves=150,
        min_child_weight=0,
        reg_lambda=0.1,
        gamma=0.0,
    ).fit(frame, noisy)
    forest = read_forest(adapted(model))
    assert len(forest.pieces[0]) > 16
    assert_same(Explainer(model, frame), frame)


def test_a_tree_without_splits_is_known():
    frame = numbers()
    model = xgboost.XGBClassifier(**{**FEW, "gamma": 1e9}).fit(frame, labels(frame))
    found = TreeScores(Explainer(model, frame), device="cpu")(torch.zeros((3, 5)))
    np.testing.assert_allclose(found, model.predict_proba(frame.head(3))[:, 1], rtol=1e-6)


def test_many_small_tables_and_batches_score_the_same(monkeypatch):
    monkeypatch.setattr(tree_scores, "MOST_CELLS", 1)
    monkeypatch.setattr(tree_scores, "MOST_PIECES", 7)
    monkeypatch.setattr("macex.device.tree_scores.CELLS_ON_HOST", 500)
    frame = numbers(gaps=0.1)
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame, 3))
    scores = assert_same(Explainer(model, frame), frame)
    assert len(scores._batches) == 10
    assert len(scores._batches[0].masks) >= 5


PIPELINES = {
    "one-hot, numbers as they are": "passthrough",
    "one-hot, standard scaler": StandardScaler(),
    "one-hot, imputer and scaler": make_pipeline(SimpleImputer(), MinMaxScaler()),
}


def one_hot(step, *, sparse=False):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    parts = (encoder, ["a", "yes"]), (step, ["b", "c", "d", "e"])
    return make_column_transformer(*parts, sparse_threshold=1.0)


@pytest.mark.parametrize("step", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_a_pipeline_is_looked_up(step, gaps):
    frame = mixed(numbers())
    if gaps:
        holes = np.random.default_rng(5).random((len(frame), 2)) < gaps
        frame[["b", "a"]] = frame[["b", "a"]].mask(holes)
    model = make_pipeline(one_hot(step), xgboost.XGBClassifier(**FEW))
    model.fit(frame, labels(numbers()))
    assert_same(Explainer(model, frame), frame)


def test_an_ordinal_encoder_and_a_column_used_twice_are_known():
    frame = mixed(numbers())
    step = make_column_transformer(
        (OrdinalEncoder(), ["yes", "a"]),
        (StandardScaler(), ["b", "c"]),
        ("passthrough", ["e", "b"]),
    )
    model = make_pipeline(step, xgboost.XGBClassifier(**FEW)).fit(frame, labels(numbers(), 3))
    assert_same(Explainer(model, frame), frame)


def test_one_hot_blocks_of_the_frame_are_known():
    frame = pd.get_dummies(mixed(numbers()), columns=["a", "yes"], dtype=float)
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(numbers()))
    explainer = Explainer(model, frame)
    assert len(explainer.schema.columns) < frame.shape[1]
    codes = explainer.schema.read(frame).codes
    found = TreeScores(explainer, device="cpu")(torch.as_tensor(codes))
    np.testing.assert_allclose(found, model.predict_proba(frame)[:, 1], rtol=3e-6)


def test_arrays_and_columns_in_another_order_are_known():
    frame = numbers()
    model = xgboost.XGBClassifier(**FEW).fit(frame.to_numpy(), labels(frame))
    explainer = Explainer(model, frame.to_numpy())
    codes = torch.as_tensor(explainer.schema.read(frame.to_numpy()).codes)
    told = model.predict_proba(frame.to_numpy())[:, 1]
    np.testing.assert_allclose(TreeScores(explainer, device="cpu")(codes), told, rtol=3e-6)
    model.fit(frame, labels(frame))
    turned = frame[["e", "c", "a", "d", "b"]]
    assert_same(Explainer(adapted(model), turned), turned)


def test_a_model_may_be_given():
    frame = numbers()
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame))

    def score(rows):
        return model.predict_proba(rows)

    hidden = Explainer(score, frame, classes=("no", "yes"))
    with pytest.raises(ModelError, match="the model is a function"):
        TreeScores(hidden, device="cpu")
    assert_same(hidden, frame, model=model)
    assert_same(hidden, frame, model=model.get_booster())


def test_a_forest_and_the_best_of_a_search_are_known():
    frame = numbers()
    forest = xgboost.XGBRFClassifier(**FEW).fit(frame, labels(frame))
    search = GridSearchCV(xgboost.XGBClassifier(**FEW), {"max_depth": [2, 3]}, cv=2)
    for model in (forest, search.fit(frame, labels(frame))):
        assert_same(Explainer(model, frame), frame)


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("normalize", ["tree", "forest"])
def test_trees_with_dropout_count_by_their_weights(normalize):
    frame = numbers()
    options = FEW | {"booster": "dart", "rate_drop": 0.5, "normalize_type": normalize}
    model = xgboost.XGBClassifier(**options).fit(frame, labels(frame, 3))
    assert_same(Explainer(model, frame), frame)


def test_a_booster_without_trees_is_refused():
    frame = numbers()
    model = xgboost.XGBClassifier(booster="gblinear").fit(frame, labels(frame))
    with pytest.raises(ModelError, match="'gblinear', which has no trees: give Dev"):
        TreeScores(Explainer(model, frame), model.get_booster(), "cpu")


def test_another_model_than_the_explainers_is_refused():
    frame = numbers()
    model = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame))
    other = xgboost.XGBClassifier(**FEW).fit(frame, 1 - labels(frame))
    many = xgboost.XGBClassifier(**FEW).fit(frame, labels(frame, 3))
    narrow = xgboost.XGBClassifier(**FEW).fit(frame.to_numpy()[:, :3], labels(frame))
    explainer = Explainer(model, frame)
    with pytest.raises(ModelError, match=r"up to 0\.\d+ apart: is it another model"):
        TreeScores(explainer, other, "cpu")
    with pytest.raises(ModelError, match="3 classes apart, the explainer's model 2"):
        TreeScores(explainer, many, "cpu")
    with pytest.raises(ModelError, match="trained on 3 columns, data has 5"):
        TreeScores(explainer, narrow, "cpu")


REFUSED = {
    "linear": ({"booster": "gblinear"}, "the model is a XGBClassifier"),
    "hinge": ({"objective": "binary:hinge"}, "the objective is 'binary:hinge'"),
    "marker": ({"missing": -3.0}, "the number -3 stands for missing"),
    "leaves": (
        {
            "multi_strategy": "multi_output_tree",
            "tree_method": "hist",
            "objective": "multi:softprob",
        },
        "a leaf holds several numbers",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_a_model_that_is_not_known_is_refused(options, said):
    frame = numbers()
    many = 3 if "multi_strategy" in options else 2
    model = xgboost.XGBClassifier(**FEW | options).fit(frame, labels(frame, many))
    with pytest.raises(ModelError, match=f"{said}.*function of codes of your own"):
        TreeScores(Explainer(model, frame), device="cpu")


def test_what_is_no_classifier_of_trees_is_refused():
    frame = numbers()
    regressor = xgboost.XGBRegressor(**FEW).fit(frame, frame["a"])
    with pytest.raises(ModelError, match="the objective is 'reg:squarederror'"):
        TreeScores(Explainer(regressor, frame), device="cpu")
    linear = LogisticRegression().fit(frame, labels(frame))
    with pytest.raises(ModelError, match="the model is a LogisticRegression"):
        TreeScores(Explainer(linear, frame), device="cpu")
    several = np.stack([labels(frame), 1 - labels(frame)], axis=1)
    model = xgboost.XGBClassifier(**FEW).fit(frame, several)
    with pytest.raises(ModelError, match="the model is a XGBClassifier"):
        TreeScores(Explainer(model, frame), device="cpu")


def test_splits_by_sets_of_categories_are_refused():
    frame = mixed(numbers()).astype({"a": "category", "yes": "category"})
    model = xgboost.XGBClassifier(**FEW, enable_categorical=True).fit(frame, labels(numbers()))
    with pytest.raises(ModelError, match=r"categories.*one-hot"):
        TreeScores(Explainer(model, frame), device="cpu")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([one_hot("passthrough", sparse=True)], r"a sparse matrix.*sparse_output=False"),
        ([one_hot("passthrough"), StandardScaler()], "StandardScaler between the first step"),
        ([one_hot(QuantileTransformer(n_quantiles=20))], "every column by itself"),
        ([one_hot(PCA(2))], "every column by itself"),
    ],
)
def test_a_pipeline_that_cannot_be_looked_up_is_refused(steps, said):
    frame = mixed(numbers())
    model = make_pipeline(*steps, xgboost.XGBClassifier(**FEW)).fit(frame, labels(numbers()))
    with pytest.raises(ModelError, match=said):
        TreeScores(Explainer(model, frame), device="cpu")


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(OptionError, match="no torch device 'gpu'"):
        TreeScores(adult().explainer, device="gpu")


@cache
def adult() -> World:
    data = load("adult")
    frame, truth = data.frame.iloc[:4000], np.asarray(data.label)[:4000]
    step = make_column_transformer(
        (OneHotEncoder(sparse_output=False), list(data.categorical)),
        ("passthrough", list(data.continuous)),
    )
    model = make_pipeline(step, xgboost.XGBClassifier(**FEW)).fit(frame, truth)
    explainer = Explainer(model, frame, **LIKE_A_DEVICE)
    return World(explainer, TreeScores(explainer, device="cpu"), data.frame.iloc[4000:4080])


def test_answers_are_those_of_the_explainer_and_hold_by_its_own_model():
    world = adult()
    answers = world.fast("cpu", confirm=False).explain(world.codes)
    schema, oracle = world.explainer.schema, world.explainer.engine.fitted.oracle.own
    before, after = (
        oracle(schema.frame(codes), len(codes)).decision
        for codes in (world.codes, answers.codes.numpy())
    )
    assert (before != after)[answers.found.numpy()].all()
    codes, changes = own_answers(world)
    both = answers.found.numpy() & (changes >= 0)
    assert (answers.found.numpy() | (changes < 0)).all()
    assert both.sum() >= 70
    assert (answers.changed.numpy()[both] <= changes[both]).all()
    assert np.mean((answers.codes.numpy() == codes).all(axis=1)[both]) >= 0.8


def test_answers_are_those_that_the_model_itself_gives_on_the_host():
    world, oracle = adult(), adult().explainer.engine.fitted.oracle.own
    asked = DeviceExplainer(
        world.explainer,
        lambda codes: oracle(world.explainer.schema.frame(codes), len(codes)).scores,
    )
    np.testing.assert_array_equal(
        world.fast("cpu").explain(world.codes).codes, asked.explain(world.codes).codes
    )


@pytest.mark.slow
def test_what_torch_compiles_scores_the_same():
    compiled = TreeScores(adult().explainer, device="cpu")
    codes = torch.as_tensor(adult().codes)
    compiled._compile(codes)
    assert compiled._leaf_sums is not adult().scores._leaf_sums
    for some in (codes, codes[:1], codes[:7]):
        np.testing.assert_allclose(compiled(some), adult().scores(some), rtol=1e-6)


def test_where_torch_cannot_compile_the_trees_are_still_looked_up(monkeypatch):
    def without_compiler(way, dynamic):
        def fail(*_):
            raise RuntimeError(f"no compiler for {way.__name__} ({dynamic})")

        return fail

    monkeypatch.setattr(torch, "compile", without_compiler)
    scores = TreeScores(adult().explainer, device="cpu")
    scores._compile(torch.as_tensor(adult().codes))
    assert scores(adult().codes).shape == (80,)


def test_no_rows_have_no_scores():
    assert adult().scores(torch.zeros((0, 8), dtype=torch.float64)).shape == (0,)


def test_the_model_behind_a_quicker_twin_is_found():
    pytest.importorskip("onnxmltools")
    rows = numbers().to_numpy()
    model = xgboost.XGBClassifier(**FEW).fit(rows, labels(numbers()))
    explainer = Explainer(accelerate(model, rows), rows)
    codes = torch.as_tensor(explainer.schema.read(rows).codes)
    told = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(TreeScores(explainer, device="cpu")(codes), told, rtol=3e-6)


@pytest.mark.gpu
def test_a_gpu_scores_and_answers_as_a_cpu_does():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    world = adult()
    scores = TreeScores(world.explainer)
    codes = torch.as_tensor(world.codes, device="cuda")
    np.testing.assert_allclose(
        scores(codes).cpu(), world.scores(torch.as_tensor(world.codes)), rtol=1e-6
    )
    found = DeviceExplainer(world.explainer, scores, device="cuda").explain(codes)
    expected = world.fast("cpu").explain(world.codes)
    assert np.mean(on_host(found.codes == expected.codes.to("cuda"))) >= 0.99
