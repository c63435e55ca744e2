"""Which number or moment is never above another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from macex.schema import Array, Schema, special
from macex.structure.categories import CERTAIN, RARE
from macex.structure.numbers import LEAST, numbers_of
from macex.structure.relations import Order, Relation
from macex.structure.sample import sample

FAILING = 0.25  # the share of rows in which it must fail by chance, of the rarest that count
CELLS = 20_000_000  # comparisons of the first sample
STRIDE = 256  # rows in which pairs that are left are tried at once
MOST_ROWS = 2000
MOST_TRIED = 20_000  # pairs, in the second sample
MOST_PAIRS = 1000  # in all rows


def orders(schema: Schema, codes: Array) -> list[Relation]:
    """Which number or moment is never above another, without what follows from two others."""
    found: dict[tuple[int, int], Relation] = {}
    for places, values in _comparable(schema, codes):
        for first, second in _ordered(values):
            relation = _order(schema, places, values, first, second)
            if relation is not None:
                found[places[first], places[second]] = relation
    return [
        relation
        for (first, second), relation in found.items()
        if not any((first, k) in found and (k, second) in found for k in range(codes.shape[1]))
    ]


def _comparable(schema: Schema, codes: Array) -> Iterator[tuple[list[int], Array]]:
    """Columns whose values can be compared: numbers, and moments by the unit of their clock."""
    numbers = numbers_of(schema, codes, least=3)
    if len(numbers.places) > 1:
        yield numbers.places, numbers.values
    clocks: dict[tuple[str, str], list[int]] = {}
    for at, column in enumerate(schema.columns):
        if column.kind == "datetime" and len(column.seen) > 2:
            clocks.setdefault((column.storage.numbers.kind, column.clock.unit), []).append(at)
    for places in clocks.values():
        if len(places) > 1:
            ticks = [schema.columns[at].clock.ticks_of(codes[:, at]) for at in places]
            least = min(int(t.min()) for t in ticks)
            yield (
                places,
                np.column_stack(
                    [
                        np.where(special(codes[:, at]), np.nan, t - least)
                        for at, t in zip(places, ticks, strict=True)
                    ]
                ),
            )


def _ordered(values: Array) -> list[tuple[int, int]]:
    """Pairs of columns of which a sample of rows says that the first is never above the second.

    Of very many those that chance would break in most rows: the others mostly follow from them.
    """
    some = values[sample(len(values), max(64, CELLS // values.shape[1] ** 2))][:MOST_ROWS]
    over = np.eye(values.shape[1], dtype=bool)
    chance = np.zeros(over.shape, np.int16)
    for row, other in zip(some, np.roll(some, 1, axis=0), strict=True):
        over |= row[:, None] > row
        chance += row[:, None] > other
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    pairs = np.argwhere(~over & (high[:, None] > low))
    if len(pairs) > MOST_PAIRS:
        order = np.argsort(-chance[tuple(pairs.T)], kind="stable")
        pairs = _fewer(pairs[order[:MOST_TRIED]], values[sample(len(values), MOST_ROWS)])
    return [(int(i), int(j)) for i, j in pairs]


def _fewer(pairs: Array, some: Array) -> Array:
    """Of pairs, the surest first, those that more rows do not refute."""
    for start in range(0, len(some), STRIDE):
        part = some[start : start + STRIDE]
        over = (part[:, pairs[:, 0]] > part[:, pairs[:, 1]]).sum(axis=0)
        pairs = pairs[over <= 1 + RARE * len(part)]
    return np.array(sorted(pairs[:MOST_PAIRS].tolist())).reshape(-1, 2)


def _order(
    schema: Schema, places: list[int], values: Array, first: int, second: int
) -> Relation | None:
    a, b = values[:, first], values[:, second]
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if len(a) < LEAST:
        return None
    above = np.searchsorted(np.sort(b), a, side="left").sum() / len(b)  # exceptions by chance
    exceptions = int(np.count_nonzero(a > b))
    if above < max(CERTAIN, FAILING * RARE * len(a)) or exceptions > min(RARE * len(a), above / 20):
        return None
    row = np.flatnonzero(known)[int(np.argsort(b - a, kind="stable")[len(a) // 2])]
    columns = [schema.columns[places[at]] for at in (first, second)]
    return Order(
        columns=(columns[0].name, columns[1].name),
        support=len(a),
        exceptions=exceptions,
        example=None
        if columns[0].kind == "datetime"
        else tuple(
            column.value(float(values[row, at]))
            for column, at in zip(columns, (first, second), strict=True)
        ),
    )
