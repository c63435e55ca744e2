"""LightGBM: `x <= threshold` goes to the left, in double precision. Classes and `Booster`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from macex.models.trees.splits import Splits
from macex.schema import Array

ZERO = float(np.float32(1e-35))  # LightGBM takes what is as near to 0 for 0


def read(model: Any) -> list[Splits]:
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
