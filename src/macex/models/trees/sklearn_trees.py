"""scikit-learn: `float32(x) <= threshold` goes to the left; in histogram boosting, `x <= ...`.

`readings` also looks into what joins, calibrates or tunes tree models: their answers are functions
of the trees' answers, so they have no cuts of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from macex.models.trees.splits import Splits, unreadable, up_to, up_to_as_float32
from macex.schema import Array

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


def read(model: Any) -> list[Splits]:
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
