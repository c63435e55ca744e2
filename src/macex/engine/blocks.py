"""Cutting a call into blocks of rows that are answered together.

Rows in one block share their groups and derived columns, and a block is small enough for its arrays
to stay in memory. Nothing in an answer depends on how the rows are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from macex.engine.batch import Batch


MOST_QUERIES = 2048
MOST_CELLS = 16_000_000
ROWS_A_QUERY = 600


def blocks(batch: Batch, columns: int, singles: int = 0) -> Iterator[tuple[Array, Batch]]:
    """The blocks of a call: positions of their rows, and what is asked of them.

    `singles` is how many single changes a query may be offered, where that is much.
    """
    rows = max(ROWS_A_QUERY, 2 * columns, singles)
    size = max(1, min(MOST_QUERIES, MOST_CELLS // (rows * columns)))
    for places in _alike(batch):
        if len(places) == len(batch.rows) <= size:
            yield places, batch
            continue
        for start in range(0, len(places), size):
            part = places[start : start + size]
            yield part, batch.take(part)


def _alike(batch: Batch) -> list[Array]:
    """Positions of rows whose constraints have the same groups and derived columns.

    Rows that are tested whole are apart too: they are searched more widely.
    """
    found: dict[Any, list[int]] = {}
    for place, wish in enumerate(batch.constraints):
        derived = tuple(sorted((name, str(text)) for name, text in wish.derived.items()))
        key = wish.groups, derived, bool(wish.rules) or wish.strict
        found.setdefault(key, []).append(place)
    return [np.array(places) for places in found.values()]
