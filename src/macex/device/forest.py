"""The trees of an XGBoost classifier as pieces of at most 64 leaves, read from its JSON.

Every leaf of a piece has a bit, but for one. A split takes away the bits of the side that a row
does not go to, so what is left after all splits, in whatever order, is the bit of the row's leaf.
A tree with more leaves is several pieces: each is a branch of it, and adds nothing elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from macex.errors import ModelError
from macex.models.kinds.xgboost import BoostedXGBoost
from macex.models.trees.readers import grown
from macex.schema import Array

MOST_LEAVES = 64
OBJECTIVES = ("binary:logistic", "multi:softprob")
INSTEAD = "give DeviceExplainer a function of codes of your own instead"


class Piece(NamedTuple):
    """Splits (S,) with the bits on either side of them, and what the leaves add."""

    feature: Array
    threshold: Array  # float32: a lower number goes to the left
    default: Array  # bool: a missing one does
    left: Array  # int64
    right: Array  # int64
    bits: int  # of all leaves
    values: Array  # (64,) float32: of the leaf without a bit, or of elsewhere; then bit by bit


class Forest(NamedTuple):
    """The pieces of each class, one class for yes or no, and where their sums start."""

    pieces: list[list[Piece]]
    start: Array  # (classes,) float64
    width: int  # features


NONE = np.zeros(0, np.int64)
NOTHING = Piece(NONE, NONE, NONE, NONE, NONE, bits=0, values=np.zeros(MOST_LEAVES, np.float32))


def read_forest(model: BoostedXGBoost) -> Forest:
    """The trees that count when a model predicts."""
    learner = json.loads(bytes(model.booster.save_raw(raw_format="json")))["learner"]
    booster = learner["gradient_booster"]
    made = grown(booster)
    _refuse(learner, made, model)
    shape, trees = learner["learner_model_param"], made["trees"]
    count = max(1, int(shape["num_class"]))
    if model.rounds[1]:
        each = len(trees) // max(1, model.booster.num_boosted_rounds())
        ends = made.get("iteration_indptr", range(0, len(trees) + 1, max(1, each)))
        trees = trees[: ends[model.rounds[1]]]
    pieces: list[list[Piece]] = [[] for _ in range(count)]
    weights = booster.get("weight_drop") or made.get("weight_drop") or [1.0] * len(trees)
    for tree, number, weight in zip(trees, made["tree_info"], weights, strict=False):
        pieces[number].extend(
            piece._replace(values=piece.values * np.float32(weight)) for piece in _pieces(tree)
        )
    start = np.broadcast_to(np.array(json.loads(shape["base_score"]), dtype=np.float32), (count,))
    if count == 1:
        start = -np.log(1 / start - 1)
    return Forest(pieces, start.astype(float), int(shape["num_feature"]))


def _refuse(learner: dict[str, Any], made: dict[str, Any], model: BoostedXGBoost) -> None:
    """Raise for trees whose sums are not known here."""
    objective, said = learner["objective"]["name"], ""
    if not made:
        said = f"the booster is {learner['gradient_booster']['name']!r}, which has no trees"
    elif objective not in OBJECTIVES:
        said = f"the objective is {objective!r}, and only {' and '.join(OBJECTIVES)} are known"
    elif int(learner["learner_model_param"].get("num_target", 1)) > 1:
        said = "the model has several targets"
    elif not np.isnan(model.missing):
        said = f"the number {model.missing:g} stands for missing values; train with missing=NaN, or"
    elif any(any(tree.get("split_type", ())) for tree in made["trees"]):
        said = "a tree splits by sets of categories; train on one-hot columns, or"
    elif any(int(tree["tree_param"].get("size_leaf_vector", 0)) > 1 for tree in made["trees"]):
        said = "a leaf holds several numbers; train with one tree for each class, or"
    if said:
        raise ModelError(f"{said}{' ' if said.endswith(' or') else ': '}{INSTEAD}")


def _pieces(tree: dict[str, Any]) -> Iterator[Piece]:
    left, right = tree["left_children"], tree["right_children"]
    order = _from_the_root(left, right)
    leaves = [1] * len(left)
    for node in reversed(order):
        if left[node] >= 0:
            leaves[node] = leaves[left[node]] + leaves[right[node]]
    heads = [0]
    while heads:
        head = heads.pop()
        if leaves[head] <= MOST_LEAVES - (head != 0):
            yield _piece(tree, order, head)
        else:
            heads += [left[head], right[head]]


def _piece(tree: dict[str, Any], order: list[int], head: int) -> Piece:
    """The branch of a tree below a node."""
    left, right, number = tree["left_children"], tree["right_children"], tree["split_conditions"]
    below, values, bit = [0] * len(left), np.zeros(MOST_LEAVES, np.float32), 0
    ends = [node for node in _from_the_root(left, right, head) if left[node] < 0]
    if head == 0:
        values[0] = number[ends.pop()]
    for bit, leaf in enumerate(ends):
        below[leaf], values[1 + bit] = 1 << bit, number[leaf]
    for node in reversed(order):
        if left[node] >= 0:
            below[node] = below[left[node]] | below[right[node]]
    splits = [node for node in order if left[node] >= 0 and below[node]]
    return Piece(
        np.array([tree["split_indices"][node] for node in splits], dtype=np.int64),
        np.array([number[node] for node in splits], dtype=np.float32),
        np.array([tree["default_left"][node] for node in splits], dtype=bool),
        np.array([below[left[node]] for node in splits], dtype=np.int64),
        np.array([below[right[node]] for node in splits], dtype=np.int64),
        below[0],
        values,
    )


def _from_the_root(left: list[int], right: list[int], head: int = 0) -> list[int]:
    """The nodes below one, each after its parent."""
    found, pending = [], [head]
    while pending:
        node = pending.pop()
        found.append(node)
        if left[node] >= 0:
            pending += [right[node], left[node]]
    return found
