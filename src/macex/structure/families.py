"""Families of flags: columns of zeros and ones, and those of which exactly one is 1."""

from __future__ import annotations

import numpy as np

from macex.schema import Array, Column, Schema
from macex.structure.categories import CERTAIN
from macex.structure.relations import Flag, OneOf

MOST_FLAGS = 1000


def is_flag(column: Column) -> bool:
    """Whether a number is 0 or 1 in training, and both."""
    return column.kind == "continuous" and column.seen.tolist() == [0.0, 1.0]


def flags(schema: Schema, codes: Array) -> list[Flag]:
    """The whole numbers that are truth values."""
    return [
        Flag(
            columns=(column.name,),
            support=int((codes[:, at] >= 0).sum()),
            example=(column.value(1.0),),
        )
        for at, column in enumerate(schema.columns)
        if is_flag(column)
    ]


def families(schema: Schema, codes: Array) -> list[OneOf]:
    """Flags of which exactly one is 1 in every row; three or more, as two determine each other."""
    places = [
        at for at, column in enumerate(schema.columns) if is_flag(column) and not column.missing
    ][:MOST_FLAGS]
    if len(places) < 3:
        return []
    ones = codes[:, places].astype(np.float32)
    met = ones.T @ ones
    counts = np.diag(met).astype(int)
    found: list[OneOf] = []
    free = set(range(len(places)))
    for start in np.argsort(-counts, kind="stable").tolist():
        if start not in free:
            continue
        members = _family(start, free, met, counts, len(codes))
        if len(members) > 2 and _certain(counts[members], len(codes)):
            free -= set(members)
            names = [schema.names[places[at]] for at in sorted(members)]
            example = (1, *([0] * (len(names) - 1)))
            found.append(OneOf(columns=tuple(names), support=len(codes), example=example))
    return found


def _family(start: int, free: set[int], met: Array, counts: Array, rows: int) -> list[int]:
    """Flags that never meet, the most frequent first, until every row has one; else none."""
    members, left = [start], rows - int(counts[start])
    order = np.array([at for at in np.argsort(-counts, kind="stable").tolist() if at in free])
    while left and len(order):
        order = order[(met[members[-1], order] == 0) & (counts[order] <= left)]
        members += order[:1].tolist()
        left -= int(counts[order[:1]].sum())
    return members if left == 0 else []


def _certain(counts: Array, rows: int) -> bool:
    """Whether independent flags would surely have met somewhere."""
    pairs = (counts.sum() ** 2 - (counts**2).sum()) / 2
    return bool(pairs / rows >= CERTAIN)
