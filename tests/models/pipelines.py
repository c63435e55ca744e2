"""People with columns of every dtype, and first steps of every kind for pipelines over them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from macex.schema import Schema

draw = np.random.default_rng(3)
COUNT = 240


def some(values: list[Any], count: int = COUNT) -> np.ndarray:
    return np.array(values, dtype=object)[draw.integers(0, len(values), count)]


FRAME = pd.DataFrame(
    {
        "age": draw.integers(18, 80, COUNT),
        "income": np.round(draw.normal(50, 20, COUNT), 1),
        "height": draw.normal(170, 10, COUNT).astype(np.float32),
        "far": 2**60 + draw.integers(0, 2**20, COUNT) * 512,
        "gaps": np.where(draw.random(COUNT) < 0.2, np.nan, draw.normal(0, 1, COUNT)),
        "count": pd.array(draw.integers(0, 9, COUNT) * 1.5, dtype="Float64"),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 900, COUNT), "D"),
        "job": pd.Series(some(["none", "part-time", "full-time"]), dtype="str"),
        "town": pd.Series(some(["Ulm", "Bonn", "Kiel", "Trier", "Hof"]), dtype=object),
        "zone": pd.Categorical(some(["a", "b", "c"]), ["a", "b", "c", "never"], ordered=True),
        "owns": draw.random(COUNT) < 0.5,
        "rooms": pd.Categorical(draw.integers(1, 5, COUNT)),
        "maybe": pd.Series(some(["yes", "no", None]), dtype="str"),
        "blank": pd.Series(some(["x", "y", np.nan]), dtype=object),
    }
)
YES = (FRAME["income"] + 20 * (FRAME["job"] == "full-time") + 9 * FRAME["owns"] > 58).to_numpy()
NUMBERS = ["age", "income"]
TEXTS = ["job", "town", "zone", "owns", "rooms"]
LOST = ["maybe", "blank"]


def encoder(**options: Any) -> OneHotEncoder:
    return OneHotEncoder(sparse_output=False, **options)


def columns(*parts: Any, **options: Any) -> ColumnTransformer:
    return make_column_transformer(*parts, **options)


def filled_in() -> ColumnTransformer:
    """What most pipelines look like: gaps filled in, categories encoded, numbers scaled."""
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder(handle_unknown="ignore"))
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return columns((texts, TEXTS + LOST), (numbers, [*NUMBERS, "gaps"]))


STEPS: dict[str, Any] = {
    "dense": columns((encoder(), TEXTS), (StandardScaler(), NUMBERS)),
    "sparse": columns((OneHotEncoder(), TEXTS), (StandardScaler(), NUMBERS), sparse_threshold=1),
    "drop first": columns((encoder(drop="first"), TEXTS), ("passthrough", NUMBERS)),
    "drop binary": columns((encoder(drop="if_binary"), TEXTS), remainder="drop"),
    "infrequent": columns(
        (encoder(min_frequency=60, handle_unknown="infrequent_if_exist"), TEXTS + LOST)
    ),
    "most": columns((encoder(max_categories=2), TEXTS), (StandardScaler(), NUMBERS)),
    "ordinal": columns((OrdinalEncoder(), TEXTS + LOST), (MinMaxScaler(), NUMBERS)),
    "ordinal unknown": columns(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), TEXTS)
    ),
    "target": columns((TargetEncoder(cv=KFold(3)), TEXTS), (RobustScaler(), NUMBERS)),
    "no mean": columns((encoder(), TEXTS), (StandardScaler(with_mean=False), NUMBERS)),
    "no std": columns((encoder(), TEXTS), (StandardScaler(with_std=False), NUMBERS)),
    "neither": columns(
        (encoder(), TEXTS), (StandardScaler(with_mean=False, with_std=False), NUMBERS)
    ),
    "robust": columns((encoder(), TEXTS), (RobustScaler(with_centering=False), NUMBERS)),
    "clipped": columns((encoder(), TEXTS), (MinMaxScaler(clip=True), NUMBERS)),
    "filled in": filled_in(),
    "indicated": columns(
        (encoder(), TEXTS), (SimpleImputer(add_indicator=True), [*NUMBERS, "gaps"])
    ),
    "constant": columns(
        (encoder(), TEXTS),
        (SimpleImputer(strategy="constant", fill_value=-1), [*NUMBERS, "gaps"]),
    ),
    "gaps handed on": columns((encoder(), TEXTS + LOST), ("passthrough", ["gaps", "age"])),
    "scaled gaps": columns((encoder(), TEXTS), (StandardScaler(), ["gaps", "income"])),
    "remainder": columns(
        (encoder(), TEXTS + LOST), ("drop", ["day", "count", "far"]), remainder="passthrough"
    ),
    "scaled remainder": columns(
        (encoder(), TEXTS + LOST), ("drop", ["day", "count"]), remainder=StandardScaler()
    ),
    "function": columns((encoder(), TEXTS), (FunctionTransformer(np.log1p), ["age"])),
    "no function": columns((encoder(), TEXTS), (FunctionTransformer(), NUMBERS)),
    "places": columns((encoder(), [7, -1, 9]), (StandardScaler(), [1, 0])),
    "slices": columns((encoder(), slice("job", "rooms")), (StandardScaler(), slice(0, 2))),
    "masks": columns(
        (encoder(), [name in TEXTS for name in FRAME]),
        (StandardScaler(), np.array([name in NUMBERS for name in FRAME])),
    ),
    "callables": columns(
        (encoder(), make_column_selector(dtype_include=["category", "bool"])),
        (StandardScaler(), lambda frame: [name for name in frame if name in NUMBERS]),
    ),
    "turned": columns((StandardScaler(), ["income", "age"]), (encoder(), TEXTS[::-1])),
    "twice": columns(
        (encoder(), ["job", "zone"]),
        (OrdinalEncoder(), ["zone", "job"]),
        (StandardScaler(), NUMBERS),
        ("passthrough", ["income"]),
    ),
    "components": columns((encoder(), TEXTS), (PCA(2), NUMBERS)),
    "crossed": columns((PolynomialFeatures(), ["owns", "age"]), (encoder(), ["job"])),
    "mixed": columns((StandardScaler(), ["owns", "age", "rooms"]), (encoder(), ["job"])),
    "floats": columns((encoder(dtype=np.float32), TEXTS), ("passthrough", ["height"])),
    "only floats": columns((encoder(dtype=np.float32), TEXTS)),
    "whole": columns((OrdinalEncoder(dtype=int), TEXTS)),
    "far numbers": columns((encoder(), TEXTS), (StandardScaler(), ["far", "age"])),
    "nullable": columns((encoder(), TEXTS), (StandardScaler(), ["count", "age"])),
    "bins": columns(
        (encoder(), TEXTS),
        (KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), NUMBERS),
    ),
    "pandas": columns((encoder(), TEXTS), (StandardScaler(), NUMBERS)).set_output(
        transform="pandas"
    ),
    "workers": columns((encoder(), TEXTS), (StandardScaler(), NUMBERS), n_jobs=1),
    "inner": make_pipeline(columns((encoder(), TEXTS), (StandardScaler(), NUMBERS))),
    "after nothing": make_pipeline("passthrough", columns((encoder(), TEXTS))),
}
DECLINED: dict[str, Any] = {
    "pandas of several dtypes": columns((encoder(), TEXTS), ("passthrough", NUMBERS)).set_output(
        transform="pandas"
    ),
    "weights": ColumnTransformer(
        [("texts", encoder(), TEXTS), ("numbers", StandardScaler(), NUMBERS)],
        transformer_weights={"numbers": 2.0},
    ),
    "a series": columns((FunctionTransformer(lambda texts: texts.to_frame() == "Ulm"), "town")),
    "nothing known": columns((PCA(2), NUMBERS)),
    "union": FeatureUnion([("a", filled_in()), ("b", filled_in())]),
    "rows by length": columns((make_pipeline(encoder(), Normalizer()), ["job", "town"])),
}


@cache
def fitted(name: str) -> Pipeline:
    """A pipeline with a first step of some kind."""
    step = (STEPS | DECLINED)[name]
    return make_pipeline(step, RandomForestClassifier(5, random_state=0)).fit(FRAME, YES)


SCHEMA = Schema.infer(FRAME)
CODES = SCHEMA.read(FRAME).codes
