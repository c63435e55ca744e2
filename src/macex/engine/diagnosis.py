"""Which single constraint, if dropped, would give a row an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from macex.engine.batch import BatchOf


def diagnosed(
    batch: BatchOf[Any, Any], items: list[Any], explain: Callable[[Any], list[Any]]
) -> list[Any]:
    """Name, for rows without an answer, each single constraint that stands in the way."""
    relief: dict[int, list[str]] = {
        i: [] for i, item in enumerate(items) if item.status != "found" and np.isfinite(item.score)
    }
    cut = dict.fromkeys(relief, False)
    tests: dict[tuple[int, str], dict[int, Any]] = {}
    for place in relief:
        for turn, (text, without) in enumerate(batch.constraints[place].parts()):
            tests.setdefault((turn, text), {})[place] = without
    for (_, text), relaxed in tests.items():
        places = np.array(list(relaxed))
        trial = replace(
            batch.take(places),
            constraints=list(relaxed.values()),
            question=replace(batch.question, n=1),
        )
        for place, item in zip(places.tolist(), explain(trial), strict=True):
            if item.status == "found":
                relief[place].append(text)
            cut[place] |= item.status == "budget"
    return [
        replace(
            item,
            diagnosis=tuple(relief[i]),
            reason=with_relief(item.reason, relief[i], cut=cut[i]),
        )
        if i in relief
        else item
        for i, item in enumerate(items)
    ]


def with_relief(reason: str | None, relief: list[str], *, cut: bool) -> str:
    """A reason for no answer, and the constraints that stand in the way."""
    said = reason or ""
    if not relief and cut:
        return f"{said} Rows or time ran out before every constraint could be tried without."
    if not relief:
        return f"{said} No single constraint, if dropped, would give an answer."
    return f"{said} Dropping one of these would give an answer: {'; '.join(relief)}."
