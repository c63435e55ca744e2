"""Which single constraint, if dropped, would give a row an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from macex.engine.batch import BatchOf
from macex.explanation.values import Cost
from macex.schema import Array

MOST_ROWS = 50_000  # that finding out may cost a query, where the caller sets no limit
LEAST_ROWS = 2  # the query itself, and a change


def diagnosed(
    batch: BatchOf[Any, Any], items: list[Any], explain: Callable[[Any], list[Any]]
) -> list[Any]:
    """Name, for rows without an answer, each single constraint that stands in the way.

    What that costs is counted, and `max_rows` of the question holds for all of it.
    """
    relief: dict[int, list[str]] = {
        i: [] for i, item in enumerate(items) if item.status != "found" and np.isfinite(item.score)
    }
    cut = dict.fromkeys(relief, False)
    cost = {i: items[i].cost for i in relief}
    for text, relaxed in _tests(batch, relief):
        places = np.array([place for place in relaxed if _affordable(batch, items, cost, place)])
        cut |= {place: True for place in relaxed if place not in places}
        if not len(places):
            continue
        trial = _without(batch, places, [relaxed[place] for place in places], cost)
        for place, item in zip(places.tolist(), explain(trial), strict=True):
            if item.status == "found":
                relief[place].append(text)
            cut[place] |= item.status == "budget"
            cost[place] = _sum(cost[place], item.cost)
    return [
        replace(
            item,
            diagnosis=tuple(relief[i]),
            reason=with_relief(item.reason, relief[i], cut=cut[i]),
            cost=cost[i],
        )
        if i in relief
        else item
        for i, item in enumerate(items)
    ]


def _tests(batch: BatchOf[Any, Any], places: Any) -> list[tuple[str, dict[int, Any]]]:
    """Each single constraint in words, and by row what remains of the constraints without it."""
    tests: dict[tuple[int, str], dict[int, Any]] = {}
    for place in places:
        for turn, (text, without) in enumerate(batch.constraints[place].parts()):
            tests.setdefault((turn, text), {})[place] = without
    return [(text, relaxed) for (_, text), relaxed in tests.items()]


def _affordable(
    batch: BatchOf[Any, Any], items: list[Any], cost: dict[int, Cost], place: int
) -> bool:
    """Whether a query can pay for one more try."""
    if batch.question.max_rows is None:
        return cost[place].rows - items[place].cost.rows < MOST_ROWS
    return cost[place].rows + LEAST_ROWS + 1 + batch.requirements.price <= batch.question.max_rows


def _without(
    batch: BatchOf[Any, Any], places: Array, constraints: list[Any], cost: dict[int, Cost]
) -> BatchOf[Any, Any]:
    limited = batch.question.max_rows is not None
    spent = np.array([cost[place].rows for place in places]) if limited else 0
    return replace(
        batch.take(places),
        constraints=constraints,
        question=replace(batch.question, n=1, diagnose=False),
        spent=spent,
    )


def _sum(first: Cost, second: Cost) -> Cost:
    calls, rows, seconds = first
    return Cost(calls + second.calls, rows + second.rows, seconds + second.seconds)


def with_relief(reason: str | None, relief: list[str], *, cut: bool) -> str:
    """A reason for no answer, and the constraints that stand in the way."""
    said = reason or ""
    if not relief and cut:
        return f"{said} Rows or time ran out before every constraint could be tried without."
    if not relief:
        return f"{said} No single constraint, if dropped, would give an answer."
    return f"{said} Dropping one of these would give an answer: {'; '.join(relief)}."
