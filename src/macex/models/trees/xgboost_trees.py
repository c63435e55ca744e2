"""XGBoost: `float32(x) < threshold` goes to the left. Scikit-learn classes and `Booster`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from macex.models.trees.splits import Splits, below_as_float32, unreadable

CATEGORICAL = 1  # the split_type of a node that asks for a set of categories


def read(model: Any) -> list[Splits]:
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
