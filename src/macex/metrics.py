"""How good a set of counterfactuals is, and why each is in it.

The array functions work on codes: `codes` (m, d) are the counterfactuals of one query, `query` (d,)
is its own row. `whys` says what each of several counterfactuals is the best in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from macex.ask.goals import AnyOf, Goal, inside
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


Why = Literal["fewest", "nearest", "plausible", "surest", "other columns"]
OTHER: Why = "other columns"
DECISION = AnyOf()
FoundT = TypeVar("FoundT")
Costs = Mapping[Why, Callable[[Any], float]]  # the lower, the better


def costs(goal: Goal) -> Costs:
    """What counterfactuals are compared by; which of them is surest depends on the goal."""

    def surest(found: Any) -> float:
        sure = inside(goal, found.score) if found.robustness is None else found.robustness
        return -float(sure)

    return {
        "fewest": lambda found: found.sparsity,
        "nearest": lambda found: found.distance,
        "plausible": lambda found: -(found.plausibility or 0.0),
        "surest": surest,
    }


def whys(found: Sequence[Any], goal: Goal = DECISION) -> tuple[Why | None, ...]:
    """Why each of several counterfactuals is there, best first; None where there is one.

    The first is the best in what comes first; each other one in what no other is as good in.
    """
    if len(found) < 2:
        return (None,) * len(found)
    compared = costs(goal)
    return tuple(_why(found, place, compared) for place in range(len(found)))


def _why(found: Sequence[Any], place: int, compared: Costs) -> Why:
    for name, cost in compared.items():
        mine, others = cost(found[place]), [cost(one) for one in found if one is not found[place]]
        if mine < min(others) or (place == 0 and mine == min(others)):
            return name
    return OTHER


def with_whys(found: Sequence[FoundT], goal: Goal) -> tuple[FoundT, ...]:
    """The counterfactuals, each of which knows why it is there."""
    made: list[Any] = [
        one if one.why == why else replace(one, why=why)
        for one, why in zip(list[Any](found), whys(found, goal), strict=True)
    ]
    return tuple(made)


def front(found: Sequence[Any], goal: Goal = DECISION) -> tuple[Any, ...]:
    """The counterfactuals than which no other is better in one respect and as good in the rest."""
    compared = costs(goal).values()
    best = undominated([[cost(one) for cost in compared] for one in found])
    return tuple(one for one, kept in zip(found, best, strict=True) if kept)
