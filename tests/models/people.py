"""People with columns of every kind, and models of every library fitted on them.

Each kind comes with its own way of deciding, written with the library's own interface and without
macex, so that answers are checked by the caller's model and not by ours.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

os.environ.setdefault("KERAS_BACKEND", "torch")
draw = np.random.default_rng(7)
COUNT = 400

PEOPLE = pd.DataFrame(
    {
        "age": draw.integers(18, 80, COUNT),
        "income": np.round(draw.normal(50, 20, COUNT), 1),
        "job": draw.choice(["none", "part-time", "full-time"], COUNT, p=[0.3, 0.3, 0.4]),
        "owns": draw.random(COUNT) < 0.5,
    }
)
POINTS = (
    PEOPLE["income"] / 20
    + PEOPLE["age"] / 40
    + 1.5 * (PEOPLE["job"] == "full-time")
    + PEOPLE["owns"]
)
GRANTED = (POINTS.median() < POINTS).to_numpy()
TIER = np.digitize(POINTS, POINTS.quantile([0.33, 0.66]))
NUMBERS = PEOPLE.drop(columns="job").astype(float)
GAPS = PEOPLE.assign(income=PEOPLE["income"].where(draw.random(COUNT) > 0.15))
CATEGORIES = GAPS.assign(job=GAPS["job"].astype("category"))


class Kind(NamedTuple):
    """A model, the rows it was trained on, and how its own library decides."""

    model: Any
    data: pd.DataFrame
    decide: Callable[[pd.DataFrame], Any]


def words(labels: np.ndarray) -> np.ndarray:
    return np.where(labels, "granted", "refused")


def encoded():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["job", "owns"]),
        (StandardScaler(), ["age", "income"]),
    )


def of_sklearn(classifier: Any, data: pd.DataFrame = PEOPLE, first: Any = None) -> Kind:
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(first or encoded(), classifier).fit(data, words(GRANTED))
    return Kind(model, data, model.predict)


def logistic() -> Kind:
    from sklearn.linear_model import LogisticRegression

    return of_sklearn(LogisticRegression())


def imputed() -> Kind:
    """Gaps filled in and categories replaced by the mean of their targets."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, TargetEncoder

    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    first = make_column_transformer(
        (TargetEncoder(cv=KFold(5)), ["job"]),
        (numbers, ["age", "income"]),
        ("passthrough", ["owns"]),
    )
    return of_sklearn(LogisticRegression(), GAPS, first)


def forest() -> Kind:
    from sklearn.ensemble import RandomForestClassifier

    return of_sklearn(RandomForestClassifier(20, max_depth=6, random_state=0))


def calibrated() -> Kind:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.naive_bayes import GaussianNB

    return of_sklearn(CalibratedClassifierCV(GaussianNB(), cv=3))


def machine() -> Kind:
    """Support vectors without probabilities."""
    from sklearn.svm import SVC

    return of_sklearn(SVC())


def fixed_threshold() -> Kind:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import FixedThresholdClassifier

    return of_sklearn(
        FixedThresholdClassifier(LogisticRegression(), threshold=0.8, pos_label="granted")
    )


def tuned_threshold() -> Kind:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import fbeta_score, make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    careful = make_scorer(fbeta_score, beta=0.2, pos_label="granted")
    return of_sklearn(
        TunedThresholdClassifierCV(LogisticRegression(), scoring=careful, cv=3, random_state=0)
    )


def histograms() -> Kind:
    """Native categories and gaps."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    model.fit(CATEGORIES, words(GRANTED))
    return Kind(model, CATEGORIES, model.predict)


def xgboost_estimator() -> Kind:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=20, max_depth=4, enable_categorical=True)
    model.fit(CATEGORIES, GRANTED.astype(int))
    return Kind(model, CATEGORIES, model.predict)


def xgboost_booster() -> Kind:
    import xgboost

    data = xgboost.DMatrix(NUMBERS, label=GRANTED)
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 4}, data, 20)
    return Kind(booster, NUMBERS, lambda rows: booster.predict(xgboost.DMatrix(rows)) > 0.5)


def xgboost_classes() -> Kind:
    import xgboost

    data = xgboost.DMatrix(NUMBERS, label=TIER)
    how = {"objective": "multi:softmax", "num_class": 3, "max_depth": 3}
    booster = xgboost.train(how, data, 10)
    return Kind(booster, NUMBERS, lambda rows: booster.predict(xgboost.DMatrix(rows)).astype(int))


def lightgbm_estimator() -> Kind:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=20, verbose=-1).fit(CATEGORIES, words(GRANTED))
    return Kind(model, CATEGORIES, model.predict)


def lightgbm_booster() -> Kind:
    import lightgbm

    data = lightgbm.Dataset(CATEGORIES, label=TIER)
    how = {"objective": "multiclass", "num_class": 3, "verbose": -1}
    booster = lightgbm.train(how, data, 10)
    return Kind(booster, CATEGORIES, lambda rows: booster.predict(rows).argmax(axis=1))


def catboost_estimator() -> Kind:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        iterations=20, depth=4, verbose=0, cat_features=["job", "owns"], allow_writing_files=False
    )
    model.fit(GAPS, words(GRANTED))
    return Kind(model, GAPS, lambda rows: model.predict(rows).reshape(-1))


def tensor(rows: pd.DataFrame) -> np.ndarray:
    full_time = (rows["job"] == "full-time").to_numpy(float)
    numbers = [rows["age"] / 40, rows["income"] / 20, full_time, rows["owns"].to_numpy(float)]
    return np.column_stack(numbers).astype(np.float32)


def torch_module() -> Kind:
    import torch

    import macex as mx

    torch.manual_seed(0)
    layers = [torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)]
    module = torch.nn.Sequential(*layers)
    inputs, labels = torch.as_tensor(tensor(PEOPLE)), torch.as_tensor(GRANTED.astype(int))
    steps = torch.optim.Adam(module.parameters(), 0.05)
    for _ in range(60):
        steps.zero_grad()
        torch.nn.functional.cross_entropy(module(inputs), labels).backward()
        steps.step()

    def decide(rows: pd.DataFrame) -> np.ndarray:
        module.eval()
        with torch.no_grad():
            return words(module(torch.as_tensor(tensor(rows))).argmax(dim=1).numpy() == 1)

    model = mx.Network(module, tensor, classes=("refused", "granted"), logits=True)
    return Kind(model, PEOPLE, decide)


def keras_model() -> Kind:
    import keras

    import macex as mx

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(tensor(PEOPLE), GRANTED.astype(float), epochs=30, verbose=0)

    def decide(rows: pd.DataFrame) -> np.ndarray:
        return words(model.predict(tensor(rows), verbose=0)[:, 0] > 0.5)

    return Kind(mx.Network(model, tensor, classes=("refused", "granted")), PEOPLE, decide)


def function() -> Kind:
    def tiers(rows: pd.DataFrame) -> np.ndarray:
        points = rows["income"] / 20 + rows["age"] / 40 + (rows["job"] == "full-time")
        high = 1 / (1 + np.exp(6 - points))
        return np.column_stack([(1 - high) ** 2, 1 - (1 - high) ** 2 - high**2, high**2])

    return Kind(tiers, PEOPLE, lambda rows: tiers(rows).argmax(axis=1))


def onnx_session() -> Kind:
    import onnxruntime
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    model, data, _ = of_sklearn(logistic().model[-1], PEOPLE)
    types = {"age": FloatTensorType, "income": FloatTensorType, "job": StringTensorType}
    inputs = [(name, types.get(name, Int64TensorType)([None, 1])) for name in data.columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = convert_sklearn(model, initial_types=inputs)
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )

    def decide(rows: pd.DataFrame) -> np.ndarray:
        feed = {
            "age": rows[["age"]].to_numpy(np.float32),
            "income": rows[["income"]].to_numpy(np.float32),
            "job": rows[["job"]].to_numpy(object),
            "owns": rows[["owns"]].to_numpy(np.int64),
        }
        return session.run(None, feed)[0]

    return Kind(session, data, decide)


def mlflow_model() -> Kind:
    from mlflow.pyfunc import PythonModel

    plain = logistic()

    class Wrapped(PythonModel):
        def predict(self, context, model_input):
            return plain.model.predict(model_input)

    import mlflow

    folder = str(Path(tempfile.mkdtemp()) / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.pyfunc.save_model(folder, python_model=Wrapped(), pip_requirements=["scikit-learn"])
        model = mlflow.pyfunc.load_model(folder)
    return Kind(model, PEOPLE, model.predict)


KINDS: dict[str, tuple[str | None, Callable[[], Kind]]] = {
    "logistic regression": (None, logistic),
    "imputers and target encoding": (None, imputed),
    "random forest": (None, forest),
    "calibrated": (None, calibrated),
    "support vectors": (None, machine),
    "fixed threshold": (None, fixed_threshold),
    "tuned threshold": (None, tuned_threshold),
    "histogram gradient boosting": (None, histograms),
    "xgboost estimator": ("xgboost", xgboost_estimator),
    "xgboost booster": ("xgboost", xgboost_booster),
    "xgboost classes": ("xgboost", xgboost_classes),
    "lightgbm estimator": ("lightgbm", lightgbm_estimator),
    "lightgbm booster": ("lightgbm", lightgbm_booster),
    "catboost": ("catboost", catboost_estimator),
    "torch": ("torch", torch_module),
    "keras": ("keras", keras_model),
    "function": (None, function),
    "onnx": ("skl2onnx", onnx_session),
    "mlflow": ("mlflow", mlflow_model),
}
