"""Random models of scikit-learn, some of which decide against their probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier

from fuzz.subjects import BY_HAND, Maker, Slope, Subject, bare_score, function_of_two, labels_of
from fuzz.tables import Table

DISAGREEING = ("FixedThreshold", "TunedThreshold", "SVC")


def plain_columns(table: Table) -> ColumnTransformer:
    """What scikit-learn's encoders can read: numbers, and text without odd types."""
    data = table.data
    numbers, words = [], []
    for one in table.fields:
        kinds = {str(data[column].dtype) for column in one.columns}
        if one.kind in ("number", "one-hot") and "Int64" not in kinds:
            numbers += one.columns
        elif one.kind in ("category", "ordered") and not kinds & {"Int64", "boolean"}:
            alike = len({type(value) for value in table.known(one)}) == 1
            words += one.columns if alike else ()
    steps = [
        ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
    ]
    return ColumnTransformer([step for step in steps if step[2]])


def learned(make: Callable[[], Any], name: str, *, trees: bool):
    """A maker of fitted pipelines on frames, or on numbers alone where there is nothing else."""

    def made(rng: np.random.Generator, table: Table) -> Subject:
        columns = plain_columns(table)
        if not columns.transformers:
            return function_of_two(rng, table)
        count = 3 if rng.random() < 0.3 and "Threshold" not in name else 2
        classes = tuple(range(count)) if name == "XGBoost" else labels_of(rng, count)
        target = np.array(classes)[some_of_each(rng, table, count)]
        model = make_pipeline(columns, make()).fit(table.data, target)
        known = tuple(model.classes_.tolist())
        agrees = not name.startswith(DISAGREEING)
        if hasattr(model, "predict_proba"):
            asked = (model.predict_proba, None if agrees else model.predict)
            return Subject(name, model, known, False, *asked, trees=trees, agrees=agrees)
        asked = (sides_of(model), model.predict)
        return Subject(name, model, known, False, *asked, probable=False, agrees=agrees)

    return made


def sides_of(model: Any) -> Callable[[pd.DataFrame], np.ndarray]:
    """A decision function as one number a class."""

    def outputs(frame: pd.DataFrame) -> np.ndarray:
        made = model.decision_function(frame)
        return np.column_stack([-made, made]) if made.ndim == 1 else made

    return outputs


def some_of_each(rng: np.random.Generator, table: Table, count: int) -> np.ndarray:
    """Labels that follow a slope, some of them wrong, at least four of each."""
    score = Slope(rng, table)(table.data) + rng.normal(0, 0.1, len(table.data))
    rare = float(rng.choice([0.2, 0.5]))
    at = np.searchsorted(np.quantile(score, np.linspace(1 - rare, 1, count)[:-1]), score, "right")
    at[:4] = 0
    for label in range(count):
        at[4 + 4 * label : 8 + 4 * label] = label
    return at


def regressed(make: Callable[[], Any], name: str, *, trees: bool):
    def made(rng: np.random.Generator, table: Table) -> Subject:
        columns = plain_columns(table)
        if not columns.transformers:
            return bare_score(rng, table)
        score = 5 * Slope(rng, table)(table.data)
        model = make_pipeline(columns, make()).fit(table.data, score)

        def outputs(frame: pd.DataFrame) -> np.ndarray:
            return model.predict(frame)[:, None]

        return Subject(name, model, None, False, outputs, None, False, trees)

    return made


def forest(kind: Any = RandomForestClassifier) -> Any:
    return kind(5, max_depth=3, random_state=0)


def fixed(model: Any, threshold: float) -> Any:
    return FixedThresholdClassifier(model, threshold=threshold)


def stump(depth: int = 2) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


SMOOTH: dict[str, Callable[[], Any]] = {
    "FixedThreshold of a logistic": lambda: fixed(LogisticRegression(), 0.12),
    "TunedThreshold": lambda: TunedThresholdClassifierCV(LogisticRegression(), cv=2, thresholds=9),
    "SVC with probabilities": lambda: SVC(probability=True, random_state=0),
    "SVC": SVC,
    "ridge": RidgeClassifier,
    "logistic": LogisticRegression,
    "naive Bayes": GaussianNB,
}
TREES: dict[str, Callable[[], Any]] = {
    "FixedThreshold of a forest": lambda: fixed(forest(), 0.7),
    "calibrated": lambda: CalibratedClassifierCV(stump(), cv=2),
    "AdaBoost": lambda: AdaBoostClassifier(n_estimators=4, random_state=0),
    "bagging": lambda: BaggingClassifier(stump(), 4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    "forest": forest,
    "extra trees": lambda: forest(ExtraTreesClassifier),
    "tree": lambda: stump(4),
    "XGBoost": lambda: XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1),
    "LightGBM": lambda: LGBMClassifier(n_estimators=3, min_child_samples=3, n_jobs=1, verbose=-1),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=4),
}
REGRESSORS: dict[str, tuple[Callable[[], Any], bool]] = {
    "linear regression": (LinearRegression, False),
    "forest regression": (lambda: forest(RandomForestRegressor), True),
    "tree regression": (lambda: DecisionTreeRegressor(max_depth=3, random_state=0), True),
}
SUBJECTS: dict[str, tuple[Maker, float]] = (
    BY_HAND
    | {name: (learned(make, name, trees=False), 1) for name, make in SMOOTH.items()}
    | {name: (learned(make, name, trees=True), 2) for name, make in TREES.items()}
    | {name: (regressed(make, name, trees=t), 1) for name, (make, t) in REGRESSORS.items()}
)


def random_subject(rng: np.random.Generator, table: Table) -> Subject:
    """A model of any kind."""
    kinds, weights = list(SUBJECTS), np.array([weight for _, weight in SUBJECTS.values()])
    kind = str(rng.choice(kinds, p=weights / weights.sum()))
    return SUBJECTS[kind][0](rng, table)
