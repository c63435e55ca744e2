"""How good a set of counterfactuals is: array functions on the codes of one query's answers.

`codes` (m, d) are the counterfactuals of one query, `query` (d,) is its own row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from macex.schema import Array


class Diversity(NamedTuple):
    """Three readings of how much the counterfactuals of one query differ, each from 0 to 1.

    `all_columns` is the mean share of columns in which two of them differ, `changed_columns` the
    share among the columns that either of the two changes, `column_sets` the Jaccard distance of
    the two sets of changed columns.
    """

    all_columns: float
    changed_columns: float
    column_sets: float


def changed(codes: Array, query: Array) -> Array:
    """Which columns each counterfactual changes, (m, d).

    >>> changed(np.array([[1, 2], [3, 4]]), np.array([1, 4])).tolist()
    [[False, True], [True, False]]
    """
    marks: Array = np.asarray(codes) != np.asarray(query)
    return marks


def sparsity(changed: Array) -> Array:
    """How many columns each counterfactual changes, (m,); fewer is sparser.

    >>> sparsity(np.array([[True, False, True], [False, False, True]])).tolist()
    [2, 1]
    """
    counts: Array = np.asarray(changed).sum(axis=1)
    return counts


def undominated(costs: Sequence[Sequence[float]]) -> Array:
    """Which lines no other line beats: it is as low everywhere and lower somewhere, (m,) bool.

    >>> undominated([[1, 5], [2, 2], [2, 3]]).tolist()
    [True, True, False]
    """
    if not len(costs):
        return np.zeros(0, bool)
    table = np.asarray(costs, dtype=float).reshape(len(costs), -1)
    as_low = (table[:, None] <= table[None]).all(axis=2)
    lower = (table[:, None] < table[None]).any(axis=2)
    return np.asarray(~(as_low & lower).any(axis=0))


def diversity(codes: Array, query: Array, wanted: int | None = None) -> Diversity:
    """The mean over all pairs of `wanted` counterfactuals; a missing answer counts 0.

    One changes columns 0 and 1, the other 0 (to another value) and 2:

    >>> diversity(np.array([[1, 1, 0, 0], [2, 0, 1, 0]]), np.zeros(4))
    Diversity(all_columns=0.75, changed_columns=1.0, column_sets=0.6666666666666666)
    """
    codes = np.asarray(codes)
    wanted = len(codes) if wanted is None else max(wanted, len(codes))
    first, second = np.triu_indices(len(codes), k=1)
    if not len(first):
        return Diversity(0.0, 0.0, 0.0)
    marks = changed(codes, query)
    differ = (codes[first] != codes[second]).sum(axis=1)  # (pair,)
    either = (marks[first] | marks[second]).sum(axis=1)
    unshared = (marks[first] != marks[second]).sum(axis=1)
    pairs = wanted * (wanted - 1) / 2
    touched = np.maximum(either, 1)
    return Diversity(
        float(differ.sum() / codes.shape[1] / pairs),
        float((differ / touched).sum() / pairs),
        float((unshared / touched).sum() / pairs),
    )
