"""Equal questions in one call: answered once, and said again for each row that asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.engine.progress import Progress
from macex.explanation import Cost, Counterfactual, Explanation, Source
from macex.schema import Array, Rows, row_keys

if TYPE_CHECKING:
    from macex.engine.batch import Batch


def answered_once(
    batch: Batch, answer: Callable[[Batch], list[Explanation]], report: Progress
) -> list[Explanation]:
    """The explanations of all rows, where `answer` is given each question once."""
    first = first_alike(batch)
    if first is None:
        return answer(batch)
    once, which = np.unique(first, return_inverse=True)
    found = answer(batch.take(once))
    report(len(batch.rows))
    return [
        found[at] if first[place] == place else said_again(found[at], batch.rows, place)
        for place, at in enumerate(which.reshape(-1).tolist())
    ]


def first_alike(batch: Batch) -> Array | None:
    """For each row the position of the first that asks the same, (n,); None where all differ.

    Only calls are looked at that keep rows with faults and ask the same of all rows: those are the
    long ones. A row with a cell that its code does not tell is like no other.
    """
    alike = {id(goal) for goal in batch.goals}, {id(wish) for wish in batch.constraints}
    if not batch.keep or len(batch.rows) < 2 or any(len(ids) > 1 for ids in alike):
        return None
    keys = row_keys(batch.rows.codes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    places, odd = np.arange(len(keys)), np.asarray(batch.rows.odd.any(axis=1))
    found = first[which.reshape(-1)]
    found = np.where(odd | odd[found], places, found)
    return None if (found == places).all() else found


def said_again(item: Explanation, rows: Rows, place: int) -> Explanation:
    """An explanation for another row that asked the same; it cost nothing."""

    def moved(found: Counterfactual) -> Counterfactual:
        return replace(found, source=Source(rows, place, found.source.codes))

    return replace(
        item,
        counterfactuals=tuple(map(moved, item.counterfactuals)),
        miss=None if item.miss is None else moved(item.miss),
        cost=Cost(0, 0, 0.0),
        source=Source(rows, place, item.source.codes),
        asked=item.asked._replace(query=item.source.query),
    )
