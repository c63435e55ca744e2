"""The trees of XGBoost, LightGBM and scikit-learn as those of a `Forest`.

Every split becomes "a number below the threshold goes to the left". Where a library has "up to the
threshold" it is below the next number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from macex.device.forest import INSTEAD, Forest, Tree
from macex.errors import ModelError
from macex.models.kinds.lightgbm import BoostedLightGBM
from macex.models.kinds.xgboost import BoostedXGBoost
from macex.models.trees.readers import ZERO, grown
from macex.schema import Array

OBJECTIVES = ("binary:logistic", "multi:softprob")
AVERAGED = {
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "ExtraTreesClassifier",
    "RandomForestClassifier",
}
CATEGORIES = "a tree splits by sets of categories; train on one-hot columns, or"


def read_forest(model: Any) -> Forest:
    """The trees that count when a model predicts."""
    if isinstance(model, BoostedXGBoost):
        return _of_xgboost(model)
    if isinstance(model, BoostedLightGBM):
        return _of_lightgbm(model)
    kind = type(model).__name__
    if not type(model).__module__.startswith("sklearn.") or kind not in OF_SKLEARN:
        raise ModelError(
            f"the model is a {kind}, and classifiers of XGBoost, LightGBM and scikit-learn with "
            f"trees are known here, alone or as the last step of a pipeline: {INSTEAD}"
        )
    return OF_SKLEARN[kind](model)


def _refuse(said: str) -> None:
    """Raise if there is something to say about trees whose sums are not known here."""
    if said:
        raise ModelError(f"{said}{' ' if said.endswith(' or') else ': '}{INSTEAD}")


def _narrow(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _of_xgboost(model: BoostedXGBoost) -> Forest:
    learner = json.loads(bytes(model.booster.save_raw(raw_format="json")))["learner"]
    booster = learner["gradient_booster"]
    made = grown(booster)
    _refuse(_against_xgboost(learner, made, model))
    shape, trees = learner["learner_model_param"], made["trees"]
    count = max(1, int(shape["num_class"]))
    if model.rounds[1]:
        each = len(trees) // max(1, model.booster.num_boosted_rounds())
        ends = made.get("iteration_indptr", range(0, len(trees) + 1, max(1, each)))
        trees = trees[: ends[model.rounds[1]]]
    found: list[list[Tree]] = [[] for _ in range(count)]
    weights = booster.get("weight_drop") or made.get("weight_drop") or [1.0] * len(trees)
    for tree, number, weight in zip(trees, made["tree_info"], weights, strict=False):
        found[number].append(_boosted_tree(tree, weight))
    start = np.broadcast_to(np.array(json.loads(shape["base_score"]), dtype=np.float32), (count,))
    if count == 1:
        start = -np.log(1 / start - 1)
    width = int(shape["num_feature"])
    return Forest(found, start.astype(float), width, _narrow, "narrow odds")


def _against_xgboost(learner: dict[str, Any], made: dict[str, Any], model: BoostedXGBoost) -> str:
    objective = learner["objective"]["name"]
    if not made:
        return f"the booster is {learner['gradient_booster']['name']!r}, which has no trees"
    if objective not in OBJECTIVES:
        return f"the objective is {objective!r}, and only {' and '.join(OBJECTIVES)} are known"
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        return "the model has several targets"
    if not np.isnan(model.missing):
        return f"the number {model.missing:g} stands for missing values; train with missing=NaN, or"
    if any(any(tree.get("split_type", ())) for tree in made["trees"]):
        return CATEGORIES
    if any(int(tree["tree_param"].get("size_leaf_vector", 0)) > 1 for tree in made["trees"]):
        return "a leaf holds several numbers; train with one tree for each class, or"
    return ""


def _boosted_tree(tree: dict[str, Any], weight: float) -> Tree:
    number = np.array(tree["split_conditions"], dtype=np.float32)
    return Tree(
        tree["left_children"],
        tree["right_children"],
        np.array(tree["split_indices"], dtype=np.int64),
        number,
        np.array(tree["default_left"], dtype=bool),
        number * np.float32(weight),
    )


def _of_lightgbm(model: BoostedLightGBM) -> Forest:
    document = model.booster.dump_model()
    name, _, options = document["objective"].partition(" ")
    count = document["num_tree_per_iteration"]
    trees = [_flat_tree(tree["tree_structure"]) for tree in document["tree_info"]]
    if name not in ("binary", "multiclass"):
        _refuse(f"the objective is {name!r}, and only binary and multiclass are known")
    if name == "binary" and options.split()[:1] != ["sigmoid:1"]:
        _refuse(f"the objective has options of its own ({options})")
    share = count / len(trees) if document["average_output"] and trees else 1.0
    trees = [tree._replace(value=tree.value * share) for tree in trees]
    found = [trees[number::count] for number in range(count)]
    width = document["max_feature_idx"] + 1
    return Forest(found, np.zeros(count), width, _without_tiny, "odds")


def _without_tiny(values: Array) -> Array:
    """LightGBM takes what is as near to 0 for 0."""
    return np.where(np.abs(values) <= ZERO, 0.0, values)


def _flat_tree(root: dict[str, Any]) -> Tree:
    """A tree of LightGBM, node after node."""
    nodes, left, right = [root], [], []
    for node in nodes:  # grows while it is walked
        inner = "split_feature" in node
        left.append(len(nodes) if inner else -1)
        right.append(len(nodes) + 1 if inner else -1)
        nodes += [node["left_child"], node["right_child"]] if inner else []
    if any("leaf_coeff" in node for node in nodes):
        _refuse("a leaf holds a linear model")
    if any(node.get("decision_type", "<=") != "<=" for node in nodes):
        _refuse(CATEGORIES)
    if any(node.get("missing_type") == "Zero" for node in nodes):
        _refuse("0 stands for missing values; train with zero_as_missing=False, or")
    threshold = np.array([node.get("threshold", 0.0) for node in nodes], dtype=float)
    blank = [node.get("missing_type") == "NaN" for node in nodes]  # else it counts as 0
    default = np.array([node.get("default_left", False) for node in nodes], dtype=bool)
    return Tree(
        left,
        right,
        np.array([node.get("split_feature", 0) for node in nodes], dtype=np.int64),
        np.nextafter(threshold, np.inf),
        np.where(blank, default, threshold >= 0.0),
        np.array([node.get("leaf_value", 0.0) for node in nodes], dtype=float),
    )


def _of_average(model: Any) -> Forest:
    """Trees whose shares of classes are averaged."""
    if model.n_outputs_ > 1:
        _refuse("the model has several targets")
    members = [one.tree_ for one in getattr(model, "estimators_", [model])]
    shares = [tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True) for tree in members]
    classes = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    found = [
        [
            _sklearn_tree(tree, share[:, label] / len(members))
            for tree, share in zip(members, shares, strict=True)
        ]
        for label in classes
    ]
    return Forest(found, np.zeros(len(found)), model.n_features_in_, _narrow, "shares")


def _sklearn_tree(tree: Any, value: Array) -> Tree:
    return Tree(
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        np.maximum(tree.feature, 0).astype(np.int64),
        np.nextafter(tree.threshold, np.inf),
        tree.missing_go_to_left.astype(bool),
        value,
    )


def _of_gradient_boosting(model: Any) -> Forest:
    start, prior = model.init_, getattr(model.init_, "class_prior_", None)
    if model.loss != "log_loss":
        _refuse(f"the loss is {model.loss!r}, and only log_loss is known")
    if prior is None and not isinstance(start, str):
        _refuse(f"the boosting starts from a {type(start).__name__}")
    count = model.estimators_.shape[1]
    odds = np.zeros(count)
    if prior is not None:
        odds = np.log(prior) if count > 1 else np.log(prior[1:] / prior[:1])
    found = [
        [_sklearn_tree(one.tree_, model.learning_rate * one.tree_.value[:, 0, 0]) for one in mine]
        for mine in model.estimators_.T
    ]
    return Forest(found, odds, model.n_features_in_, _narrow, "odds")


def _of_histograms(model: Any) -> Forest:
    rounds: Sequence[Sequence[Any]] = model._predictors  # noqa: SLF001 - there is no other way to them
    if any(one.nodes["is_categorical"].any() for mine in rounds for one in mine):
        _refuse(CATEGORIES)
    if getattr(model, "_preprocessor", None) is not None:
        _refuse("the model takes categories; train on one-hot columns, or")
    found = [[_histogram_tree(one.nodes) for one in mine] for mine in zip(*rounds, strict=True)]
    start = np.asarray(model._baseline_prediction, dtype=float).reshape(-1)  # noqa: SLF001
    return Forest(found, start, model.n_features_in_, np.asarray, "odds")


def _histogram_tree(nodes: Array) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        np.where(leaf, -1, nodes["left"].astype(int)).tolist(),
        np.where(leaf, -1, nodes["right"].astype(int)).tolist(),
        nodes["feature_idx"].astype(np.int64),
        np.nextafter(nodes["num_threshold"], np.inf),
        nodes["missing_go_to_left"].astype(bool),
        nodes["value"].astype(float),
    )


OF_SKLEARN: dict[str, Callable[[Any], Forest]] = {
    **dict.fromkeys(AVERAGED, _of_average),
    "GradientBoostingClassifier": _of_gradient_boosting,
    "HistGradientBoostingClassifier": _of_histograms,
}
