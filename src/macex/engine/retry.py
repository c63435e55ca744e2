"""A second try for rows whose answers were found but are not robust enough.

The nearest answer lies just past the decision, where a small change undoes it. So the examples with
the highest score of one change are tried next, then of two, and of three.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.explanation.values import Cost

if TYPE_CHECKING:
    from macex.engine.batch import BatchOf
    from macex.engine.engine import EngineOf
    from macex.schema import Array

MOST_CHANGES = 3


def retried(
    engine: EngineOf[Any, Any, Any, Any], batch: BatchOf[Any, Any], fragile: Array, made: list[Any]
) -> list[Any]:
    """The explanations with the surest examples in place of those that were too fragile."""
    options = replace(engine.fitted.options, prefer="surest", fallback=False)
    surest = engine.with_options(options)
    found = list(made)
    open_ = np.flatnonzero(fragile)
    for most in range(1, MOST_CHANGES + 1):
        spent = np.array([item.cost.rows for item in found])
        open_ = open_[_room(batch, spent[open_])]
        if not len(open_):
            break
        limit = type(engine.constraints)(max_changes=most)
        part = batch.take(open_)
        merged = [one.merge(limit) for one in part.constraints]
        part = replace(part, constraints=merged, spent=spent[open_])
        for at, item in zip(open_, surest.answered(part)[0], strict=True):
            (calls, rows, seconds), more = found[at].cost, item.cost
            cost = Cost(calls + more.calls, rows + more.rows, seconds + more.seconds)
            found[at] = replace(item if item.counterfactuals else found[at], cost=cost)
        open_ = open_[[not found[at].counterfactuals for at in open_]]
    return found


def _room(batch: BatchOf[Any, Any], spent: Array) -> Array:
    """Which queries, of which each has cost some rows, can pay for one more try, (n,) bool."""
    if batch.max_rows is None:
        return np.ones(len(spent), bool)
    room: Array = spent + 2 + batch.set_aside <= batch.max_rows  # itself and a change
    return room
