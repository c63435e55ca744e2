"""Relations of two numbers: a column is another one times a factor, or is never above it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from macex.schema import Array, Schema, special
from macex.structure.categories import CERTAIN, RARE
from macex.structure.levels import CHECKED, LEAST, Numbers, numbers_of, sample
from macex.structure.relations import Linear, Order, Relation

STRAIGHT = 0.9999  # correlation
DIGITS = (1, 2, 3, 4, 5, 6, 9, 15)
TRIES = 4  # columns that one is compared with
FEWEST_VALUES = 3
Line = tuple[float, float, Array]
FAILING = 0.25  # the share of rows in which it must fail by chance, of the rarest that count
CELLS = 20_000_000  # comparisons of the first sample
STRIDE = 256  # rows in which pairs that are left are tried at once
MOST_ROWS = 2000  # in which columns are compared for their order
MOST_TRIED = 20_000  # pairs, in the second sample
MOST_PAIRS = 1000  # in all rows


def lines(schema: Schema, numbers: Numbers) -> Iterator[Relation]:
    """Columns that are another one times a factor, or shifted; each is derived from the first."""
    some = numbers.values[sample(len(numbers.values), CHECKED)]
    taken: set[int] = set()
    tries = np.zeros(some.shape[1], int)
    for first, second in np.argwhere(np.triu(_alike(some), 1)).tolist():
        if second in taken or first in taken or tries[second] == TRIES:
            continue
        tries[second] += 1
        rough = _line(some[:, first], some[:, second], numbers.steps[second], spare=1)
        found = rough and _line(
            numbers.values[:, first], numbers.values[:, second], numbers.steps[second]
        )
        if found:
            taken.add(second)
            yield _relation(schema, numbers, (first, second), found)


def _alike(some: Array) -> Array:
    """Which columns are as good as a line of each other, (k, k) bool."""
    filled = np.where(np.isnan(some), np.nanmean(some, axis=0), some)
    spread = filled.std(axis=0)
    scaled = (filled - filled.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    alike = np.abs(scaled.T @ scaled) / len(some) >= STRAIGHT
    many = [len(np.unique(column)) >= FEWEST_VALUES for column in filled.T]
    return np.asarray(alike & np.outer(many, many))


def _line(a: Array, b: Array, step: float, spare: int = 0) -> Line | None:
    """Factor and offset, and which rows keep them up to rounding."""
    known = np.isfinite(a) & np.isfinite(b)
    if np.count_nonzero(known) < LEAST or len(np.unique(a[known][:10_000])) < FEWEST_VALUES:
        return None
    multiple = float(a[known] @ b[known] / max(a[known] @ a[known], 1e-300))
    slope, shift = (float(part) for part in np.polyfit(a[known], b[known], 1))
    room = 0.55 * step + 1e-6 * np.maximum(1, np.abs(b))
    for line in ((multiple, 0.0), (slope, shift)):
        for digits in DIGITS:  # the number that was meant: 2.54 rather than 2.5400000001
            factor, offset = (float(f"{part:.{digits}g}") for part in line)
            fits = known & (np.abs(factor * a + offset - b) <= room)
            if np.count_nonzero(known & ~fits) <= RARE * known.sum() + spare:
                return factor, offset, fits
    return None


def _relation(schema: Schema, numbers: Numbers, pair: tuple[int, int], line: Line) -> Relation:
    factor, offset, fits = line
    columns = [schema.columns[numbers.places[at]] for at in pair]
    row = np.flatnonzero(fits)[len(fits) // 2 % max(1, int(fits.sum()))]
    both = np.isfinite(numbers.values[:, pair]).all(axis=1)
    return Linear(
        columns=tuple(column.name for column in columns),
        factor=factor,
        offset=offset,
        support=int(both.sum()),
        exceptions=int(np.count_nonzero(~fits & both)),
        example=tuple(
            column.value(float(numbers.values[row, at]))
            for column, at in zip(columns, pair, strict=True)
        ),
    )


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
