"""Queries of a batch that are answered alike: those with the same goal, or the same choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.schema import Array, row_keys

if TYPE_CHECKING:
    from macex.ask.answers import Goals


def same_goal(goals: Goals, queries: Array, match: Array | None = None) -> list[Array]:
    """Queries that share their goal and, with `match`, the columns they are compared on."""
    mine = goals.alike[queries][:, None]
    return alike_lines(queries, mine if match is None else np.hstack([mine, match[queries]]))


def alike_lines(queries: Array, table: Array) -> list[Array]:
    """Queries that have the same line in `table`, together."""
    if len(queries) < 2:
        return [queries] if len(queries) else []
    keys = row_keys(table.astype(float))
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    return np.split(queries[order], cuts)
