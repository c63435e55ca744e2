"""Tree models of every library, small enough to be looked at from all sides."""

from __future__ import annotations

import warnings

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier


def rows(count=300, seed=0):
    """Whole numbers, decimals, doubles and single floats."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.integers(0, 50, count),
            "b": rng.normal(size=count).round(2),
            "c": rng.normal(size=count),
            "d": rng.normal(size=count).astype(np.float32),
        }
    )


def label(data):
    return (data["a"] / 25 + data["b"] + data["c"] * data["d"] > 1).astype(int)


def xgb(**options):
    return xgboost.XGBClassifier(**{"n_estimators": 5, "max_depth": 3, **options})


def lgb(**options):
    return lightgbm.LGBMClassifier(**{"n_estimators": 5, "num_leaves": 8, "verbose": -1, **options})


def cat(**options):
    plain = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False}
    return catboost.CatBoostClassifier(**{**plain, **options})


FORESTS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=4, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(5, max_depth=4, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=5, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "xgboost": xgb,
    "xgboost dart": lambda: xgb(booster="dart"),
    "xgboost marker": lambda: xgb(missing=7.0),
    "lightgbm": lgb,
    "lightgbm zero": lambda: lgb(zero_as_missing=True),
    "catboost": cat,
}
AROUND = {
    "ada boost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4),
    "bag": lambda: BaggingClassifier(FORESTS["tree"](), 4, max_features=2, random_state=0),
    "calibrated": lambda: CalibratedClassifierCV(xgb(n_estimators=3), cv=2),
    "searched": lambda: GridSearchCV(FORESTS["tree"](), {"max_depth": [2, 3]}, cv=2),
    "threshold": lambda: FixedThresholdClassifier(lgb(), threshold=0.3),
    "vote": lambda: VotingClassifier([("x", xgb()), ("f", FORESTS["forest"]())], voting="soft"),
    "scaled": lambda: make_pipeline(StandardScaler(), FORESTS["forest"]()),
    "squeezed": lambda: make_pipeline(MinMaxScaler(), MaxAbsScaler(), xgb()),
    "bent": lambda: make_pipeline(QuantileTransformer(n_quantiles=50), PowerTransformer(), lgb()),
    "side by side": lambda: make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(add_indicator=True), RobustScaler()), ["c", "a"]),
            remainder="passthrough",
        ),
        xgb(),
    ),
}


def fitted(make, data, labels):
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data, labels)
    return model


def encoded(trees, categories):
    """Trees behind a one-hot or ordinal encoder of the categories."""
    one_hot = OneHotEncoder(handle_unknown="ignore")
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    first, *others = categories
    parts = [(one_hot, [first])] + ([(ordinal, others)] if others else [])
    return make_pipeline(make_column_transformer(*parts, remainder="passthrough"), trees)
