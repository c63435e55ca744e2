"""From a model to the splits of its trees, library by library.

`readings` looks through pipelines and into what joins, calibrates or tunes several models: their
answers are functions of the trees' answers, so they have no cuts of their own. What goes to which
side:

- CatBoost: `float32(x) > border` goes to the right. Classes and `CatBoost` itself.
- LightGBM: `x <= threshold` goes to the left, in double precision. Classes and `Booster`.
- scikit-learn: `float32(x) <= threshold` goes to the left; in histogram boosting, `x <= ...`.
- XGBoost: `float32(x) < threshold` goes to the left. Scikit-learn classes and `Booster`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from macex.errors import OptionError
from macex.schema import Array

Test: TypeAlias = Callable[[Array, Array], Array]  # (values, thresholds) -> goes to the left
SUPPORTED = (
    "XGBoost, LightGBM, CatBoost and scikit-learn's trees, forests and boosting, alone or after "
    "scalers, imputers and encoders of categories in a Pipeline"
)


@dataclass(frozen=True)
class Splits:
    """Splits of numbers: small values pass the test and go to the left.

    `feature` (s,) is the position in the matrix that the trees see. `categorical` are features
    that are split by category, which only columns without numbers may be.
    """

    feature: Array
    threshold: Array
    left: Test
    categorical: frozenset[int] = frozenset()
    names: tuple[str, ...] | None = None  # what the trees call their features, if they know


@dataclass(frozen=True)
class Reading:
    """Splits, and the steps that rows go through before them; `subset` are the features seen."""

    splits: Splits
    steps: tuple[Any, ...] = ()
    subset: Array | None = field(default=None)


def unreadable(what: str) -> OptionError:
    """The error for a model whose splits cannot be read."""
    return OptionError(f'candidates="thresholds": {what}; it reads {SUPPORTED}')


def below_as_float32(values: Array, thresholds: Array) -> Array:
    """`float32(value) < threshold`, both rounded as XGBoost has them."""
    return _narrow(values) < _narrow(thresholds)


def up_to_as_float32(values: Array, thresholds: Array) -> Array:
    """`float32(value) <= threshold`, the threshold as it is."""
    return _narrow(values) <= thresholds


def up_to(values: Array, thresholds: Array) -> Array:
    """`value <= threshold`."""
    return values <= thresholds


def _narrow(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def of_catboost(model: Any) -> list[Splits]:
    """The borders of all numbers; categories in any form are split by category."""
    if model.get_text_feature_indices() or model.get_embedding_feature_indices():
        raise unreadable("the CatBoost model has text or embedding features")
    borders = {int(at): found for at, found in model.get_borders().items() if len(found)}
    feature = np.array([at for at, found in borders.items() for _ in found], dtype=int)
    threshold = np.array([border for found in borders.values() for border in found], dtype=float)
    categorical = frozenset(int(at) for at in model.get_cat_feature_indices())
    names = tuple(map(str, model.feature_names_))
    return [Splits(feature, threshold, up_to_as_float32, categorical, names)]


ZERO = float(np.float32(1e-35))  # LightGBM takes what is as near to 0 for 0


def of_lightgbm(model: Any) -> list[Splits]:
    """The splits of all trees."""
    booster = getattr(model, "booster_", model)
    document = booster.dump_model()
    nodes = [
        node for tree in document["tree_info"] for node in _inner_nodes(tree["tree_structure"])
    ]
    numbers = [node for node in nodes if node["decision_type"] == "<="]
    feature = np.array([node["split_feature"] for node in numbers], dtype=int)
    threshold = np.array([node["threshold"] for node in numbers], dtype=float)
    categorical = frozenset(int(n["split_feature"]) for n in nodes if n["decision_type"] != "<=")
    names = tuple(document["feature_names"])
    zeros = np.unique([int(n["split_feature"]) for n in numbers if n["missing_type"] == "Zero"])
    zeros = zeros.astype(int)
    return [Splits(feature, threshold, _up_to, categorical, names)] + [
        Splits(zeros, np.full(len(zeros), end), _up_to, names=names)
        for end in (float(np.nextafter(-ZERO, -1.0)), ZERO)
        if len(zeros)
    ]


def _inner_nodes(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pending = [root]
    while pending:
        node = pending.pop()
        if "split_feature" in node:
            yield node
            pending += [node["left_child"], node["right_child"]]


def _up_to(values: Array, thresholds: Array) -> Array:
    return np.where(np.abs(values) <= ZERO, 0.0, values) <= thresholds


INNER: dict[str, Callable[[Any], list[Any]]] = {
    "AdaBoostClassifier": lambda model: list(model.estimators_),
    "AdaBoostRegressor": lambda model: list(model.estimators_),
    "CalibratedClassifierCV": lambda model: [c.estimator for c in model.calibrated_classifiers_],
    "FixedThresholdClassifier": lambda model: [model.estimator_],
    "GridSearchCV": lambda model: [model.best_estimator_],
    "MultiOutputClassifier": lambda model: list(model.estimators_),
    "OneVsRestClassifier": lambda model: list(model.estimators_),
    "RandomizedSearchCV": lambda model: [model.best_estimator_],
    "TunedThresholdClassifierCV": lambda model: [model.estimator_],
    "VotingClassifier": lambda model: list(model.estimators_),
    "VotingRegressor": lambda model: list(model.estimators_),
}
BAGS = frozenset({"BaggingClassifier", "BaggingRegressor", "IsolationForest"})


def of_sklearn(model: Any) -> list[Splits]:
    """The splits of a tree, a forest or a boosted sequence of trees."""
    if hasattr(model, "_predictors"):
        return [_histogram(model)]
    if hasattr(model, "tree_"):
        return [_joined([model.tree_])]
    grown = getattr(model, "estimators_", None)
    members = [] if grown is None else list(np.asarray(grown, dtype=object).reshape(-1))
    if not members or not all(hasattr(member, "tree_") for member in members):
        raise unreadable(f"{type(model).__name__} is not made of trees")
    _refuse_start(model)
    return [_joined([member.tree_ for member in members])]


def bagged(model: Any) -> list[tuple[Any, Array]]:
    """The members of a bag, each with the features it sees."""
    return list(zip(model.estimators_, model.estimators_features_, strict=True))


def _joined(trees: list[Any]) -> Splits:
    inner = [tree.children_left >= 0 for tree in trees]
    feature = np.concatenate([t.feature[i] for t, i in zip(trees, inner, strict=True)])
    threshold = np.concatenate([t.threshold[i] for t, i in zip(trees, inner, strict=True)])
    return Splits(feature.astype(int), threshold, up_to_as_float32)


def _refuse_start(model: Any) -> None:
    """Gradient boosting may start from any model's predictions; only a constant adds no cut."""
    start = getattr(model, "init_", None)
    if start is not None and not isinstance(start, str) and "Dummy" not in type(start).__name__:
        raise unreadable(f"the boosting starts from a {type(start).__name__}")


def _histogram(model: Any) -> Splits:
    """Histogram boosting, which puts its categories before its numbers."""
    nodes = np.concatenate([p.nodes for round_ in model._predictors for p in round_])  # noqa: SLF001
    inner = nodes[nodes["is_leaf"] == 0]
    feature = inner["feature_idx"].astype(int)
    order = np.arange(model.n_features_in_)
    if getattr(model, "_preprocessor", None) is not None:
        is_categorical = np.asarray(model.is_categorical_, dtype=bool)
        order = np.concatenate([np.flatnonzero(is_categorical), np.flatnonzero(~is_categorical)])
    sets = inner["is_categorical"].astype(bool)
    return Splits(
        order[feature[~sets]],
        inner["num_threshold"][~sets],
        up_to,
        frozenset(order[feature[sets]].tolist()),
    )


CATEGORICAL = 1  # the split_type of a node that asks for a set of categories


def of_xgboost(model: Any) -> list[Splits]:
    """The splits of all trees."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(bytes(booster.save_raw(raw_format="json")))["learner"]
    names = tuple(booster.feature_names) if booster.feature_names else None
    feature, threshold, categorical = [], [], set()
    for tree in _trees(learner["gradient_booster"]):
        inner = np.array(tree["left_children"]) >= 0
        sets = np.array(tree["split_type"], dtype=int) == CATEGORICAL
        index = np.array(tree["split_indices"], dtype=int)
        categorical.update(index[inner & sets].tolist())
        feature.append(index[inner & ~sets])
        threshold.append(np.array(tree["split_conditions"], dtype=float)[inner & ~sets])
    features = np.concatenate([np.zeros(0, int), *feature])
    thresholds = np.concatenate([np.zeros(0), *threshold])
    found = [Splits(features, thresholds, below_as_float32, frozenset(categorical), names)]
    return found + _missing_marker(model, features, names)


def grown(booster: dict[str, Any]) -> dict[str, Any]:
    """What a booster's JSON says of its trees; nothing where it has none."""
    inner = booster.get("gbtree", booster)  # older versions keep trees with dropout one level down
    model: dict[str, Any] = inner.get("model", {})
    return model if "trees" in model else {}


def _trees(booster: dict[str, Any]) -> list[dict[str, Any]]:
    found = grown(booster)
    if not found:
        raise unreadable(f"the model is XGBoost's {booster.get('name')}, which has no trees")
    trees: list[dict[str, Any]] = found["trees"]
    return trees


def _missing_marker(model: Any, features: Any, names: tuple[str, ...] | None) -> list[Splits]:
    """A number that stands for missing is a cell of its own."""
    marker = getattr(model, "missing", None)
    if marker is None or np.isnan(marker):
        return []
    used = np.unique(features)
    ends = (np.float32(marker), np.nextafter(np.float32(marker), np.float32(np.inf)))
    return [
        Splits(used, np.full(len(used), float(end)), below_as_float32, names=names) for end in ends
    ]


READERS: dict[str, Callable[[Any], list[Splits]]] = {
    "catboost": of_catboost,
    "lightgbm": of_lightgbm,
    "sklearn": of_sklearn,
    "xgboost": of_xgboost,
}


def readings(model: Any) -> list[Reading]:
    """Every set of splits in a model, each with the steps before it."""
    library = next(
        (
            room
            for room in (k.__module__.split(".")[0] for k in type(model).__mro__)
            if room in READERS
        ),
        None,
    )
    if library is None:
        raise unreadable(f"the model is a {type(model).__name__}")
    if library == "sklearn":
        return _within(model)
    return _read(library, model)


def _read(library: str, model: Any) -> list[Reading]:
    return [Reading(splits) for splits in READERS[library](model)]


def _within(model: Any) -> list[Reading]:
    kind = type(model).__name__
    if hasattr(model, "steps"):
        *steps, last = [step for _, step in model.steps]
        return [replace(reading, steps=(*steps, *reading.steps)) for reading in readings(last)]
    if kind in INNER:
        return [reading for inner in INNER[kind](model) for reading in readings(inner)]
    if kind in BAGS:
        found = []
        for member, subset in bagged(model):
            for reading in readings(member):
                if reading.steps or reading.subset is not None:
                    raise unreadable(f"the members of the {kind} are no plain trees")
                found.append(replace(reading, subset=subset))
        return found
    return _read("sklearn", model)
