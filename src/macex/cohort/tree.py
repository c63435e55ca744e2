"""A small tree that divides rows, as conditions that people can read."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.schema import Array, Rows, special

if TYPE_CHECKING:
    from macex.schema import Column

    Test = tuple[Column, float | None]  # a number, or whether a category has this code

FREQUENT = 12  # values of a category that the tree may ask for
LEAST = 0.02  # of the rows, in every part


@dataclass(frozen=True)
class RuleTest:
    """One test of a rule: a number `over` or `up_to` a bound, or a value that is or `is_not`."""

    column: str
    over: Any = None
    up_to: Any = None
    value: Any = None
    is_not: Any = None


def divided(rows: Rows, target: list[str], most: int) -> list[tuple[tuple[RuleTest, ...], Array]]:
    """Parts whose rows have mostly one target: their conditions, and their positions."""
    if most == 1:
        return [((), np.arange(len(target)))]
    from sklearn.tree import DecisionTreeClassifier

    table, tests = _features(rows)
    least = max(1, int(LEAST * len(target)))
    tree = DecisionTreeClassifier(max_leaf_nodes=most, min_samples_leaf=least, random_state=0)
    leaf = tree.fit(table, target).apply(table)
    ways = _ways(tree.tree_, tests)
    return [(_merged(ways[node]), np.flatnonzero(leaf == node)) for node in np.unique(leaf)]


def _features(rows: Rows) -> tuple[Array, list[Test]]:
    """What the tree may ask: numbers as they are, and for categories each frequent value."""
    parts: list[Array] = []
    tests: list[Test] = []
    for place, column in enumerate(rows.schema.columns):
        codes = rows.codes[:, place]
        if column.kind != "categorical":
            parts.append(np.where(special(codes), column.low - 1, codes))
            tests.append((column, None))
            continue
        for code in column.seen[np.argsort(-column.counts, kind="stable")[:FREQUENT]].tolist():
            parts.append((codes == code).astype(float))
            tests.append((column, code))
    return np.column_stack(parts), tests


def _ways(tree: Any, tests: list[Test]) -> dict[int, tuple[RuleTest, ...]]:
    """For every node the conditions from the root down."""
    ways: dict[int, tuple[RuleTest, ...]] = {0: ()}
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            continue
        column, code = tests[tree.feature[node]]
        bound = float(tree.threshold[node])
        ways[left] = (*ways[node], _condition(column, code, bound, up=False))
        ways[right] = (*ways[node], _condition(column, code, bound, up=True))
    return ways


def _condition(column: Column, code: float | None, bound: float, *, up: bool) -> RuleTest:
    if code is not None:
        value = column.value(code)
        return RuleTest(column.name, value=value) if up else RuleTest(column.name, is_not=value)
    whole = column.integer or column.discrete
    value = column.value(max(float(floor(bound)), column.low) if whole else bound)
    return RuleTest(column.name, over=value) if up else RuleTest(column.name, up_to=value)


def _merged(way: tuple[RuleTest, ...]) -> tuple[RuleTest, ...]:
    """Only the last, tightest, of the conditions that bound one column from one side."""
    kept: dict[tuple[Any, ...], RuleTest] = {}
    for c in way:
        side = (c.column, c.over is not None, c.up_to is not None, c.value, c.is_not)
        kept.pop(side, None)
        kept[side] = c
    named = {c.column for c in kept.values() if c.value is not None}
    return tuple(c for c in kept.values() if c.is_not is None or c.column not in named)
