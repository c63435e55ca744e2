"""Sums, differences, products and ratios, multiples, and order between numbers.

A formula that holds for every row may say nothing: where all numbers are near 1, every product is.
So each operand is moved to another row, and the formula must then fail in at least a quarter of
the rows. Of independent columns that changes nothing, so that a formula that fails so often holds
in all rows with a probability below 0.75 ** n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from macex.schema import Array, Schema, special
from macex.structure.categories import CERTAIN, RARE
from macex.structure.relations import Arithmetic, Linear, Order, Relation
from macex.structure.sampling import sample

LADDER = (0.0, 0.01, 0.05, 0.2, 0.5)  # tolerances of products, relative
SUMS = LADDER[:3]  # of sums
FAILING = 0.25  # the share of rows in which a formula must fail when an operand is moved
FIRST = 8  # rows that refute most formulas
SCREENED = 40  # rows in which all formulas are tried
CHECKED = 1000  # rows in which those that are left are tried
FEW = 40  # numbers of which all triples are tried; of more, those with a correlated operand
OPERANDS = 8
MOST_LEFT = 300
LEAST = 40  # rows, below which nothing is said
STRAIGHT = 0.9999  # correlation
DIGITS = (1, 2, 3, 4, 5, 6, 9, 15)


class Numbers(NamedTuple):
    """The continuous columns that vary: their places, and their numbers with NaN for missing."""

    places: list[int]
    values: Array  # (n, k)
    steps: Array  # (k,)


def numbers_of(schema: Schema, codes: Array, least: int = 2) -> Numbers:
    """The continuous columns with at least `least` values."""
    places = [
        at
        for at, column in enumerate(schema.columns)
        if column.kind == "continuous" and len(column.seen) >= least
    ]
    values = codes[:, places]
    steps = np.array([schema.columns[at].step for at in places])
    return Numbers(places, np.where(special(values), np.nan, values), steps)


def formulas(schema: Schema, codes: Array) -> list[Relation]:
    """The formulas that nearly all rows keep."""
    numbers = numbers_of(schema, codes)
    if len(codes) < LEAST or len(numbers.places) < 2:
        return []
    straight = list(_straight(schema, numbers))
    twins = {relation.columns[1] for relation in straight}
    kept = [at for at, place in enumerate(numbers.places) if schema.names[place] not in twins]
    numbers = Numbers(
        [numbers.places[at] for at in kept], numbers.values[:, kept], numbers.steps[kept]
    )
    return [*straight, *_triples(schema, numbers)]


class Triple(NamedTuple):
    """`result = a + b`, or `result = a * b`; columns by their place among the numbers."""

    product: bool
    result: int
    a: int
    b: int


def _triples(schema: Schema, numbers: Numbers) -> Iterator[Relation]:
    if len(numbers.places) < 3:
        return
    found = []
    rows = sample(len(numbers.values), CHECKED)
    some = numbers.values[rows]
    for triple in _screened(numbers, some):
        tolerance = _tolerance(triple, numbers, some, sure=False)
        if tolerance is not None:
            found.append((tolerance, triple))
    taken: set[frozenset[int]] = set()
    for _, triple in sorted(found)[:MOST_LEFT]:
        columns = frozenset(triple[1:])
        if columns in taken:
            continue
        tolerance = _tolerance(triple, numbers, numbers.values, sure=True)
        if tolerance is not None:
            taken.add(columns)
            yield _arithmetic(schema, numbers, triple, tolerance)


def _screened(numbers: Numbers, some: Array) -> Iterator[Triple]:
    """The triples that a few rows do not refute."""
    whole = some[np.isfinite(some).all(axis=1)]
    few = (whole if len(whole) >= SCREENED else some)[:SCREENED]
    operands = _operands(some)
    width = len(numbers.places)
    for result in range(width):
        for a in operands[result]:
            others = np.arange(width)
            others = others[(others != result) & (others != a)]
            if width <= FEW:
                others = others[others > a]
            for product in (False, True):
                left = others
                for rows in (few[:FIRST], few):
                    left = left[_fits(product, rows, result, a, left)]
                for b in left:
                    yield Triple(product, result, min(a, int(b)), max(a, int(b)))


def _fits(product: bool, rows: Array, result: int, a: int, others: Array) -> Array:
    """Which of the other operands all of some rows but one allow at the largest tolerance."""
    off = _off(product, rows[:, [result]], rows[:, [a]], rows[:, others])
    broken = np.count_nonzero(off > (LADDER if product else SUMS)[-1], axis=0)
    return np.asarray(broken <= 1)


def _operands(some: Array) -> list[list[int]]:
    """For each result the columns that may enter it: all of few, the most correlated of many."""
    width = some.shape[1]
    if width <= FEW:
        return [[a for a in range(width) if a != result] for result in range(width)]
    filled = np.where(np.isnan(some), np.nanmedian(some, axis=0), some)
    ranks = np.argsort(np.argsort(filled, axis=0), axis=0).astype(np.float32)
    ranks -= ranks.mean(axis=0)
    related = np.abs(ranks.T @ ranks)
    np.fill_diagonal(related, -1)
    return np.argsort(-related, axis=1, kind="stable")[:, :OPERANDS].tolist()


def _off(product: bool, result: Array, a: Array, b: Array) -> Array:
    """How far a result is from its formula, relative to the numbers that enter."""
    with np.errstate(all="ignore"):
        made = a * b if product else a + b
        size = np.maximum(np.abs(result), np.abs(made))
        if not product:
            size = np.maximum(size, np.maximum(np.abs(a), np.abs(b)))
        return np.where(size > 0, np.abs(result - made) / size, 0.0)


def _tolerance(triple: Triple, numbers: Numbers, values: Array, *, sure: bool) -> float | None:
    """The least tolerance under which nearly all rows keep it and moved operands do not."""
    _, result, a, b = triple
    parts: tuple[Array, ...] = values[:, result], values[:, a], values[:, b]
    known = np.isfinite(parts).all(axis=0)
    if np.count_nonzero(known) < LEAST:
        return None
    parts = tuple(part[known] for part in parts)
    off = _off(triple.product, *parts)
    exact = _exact(triple, numbers, parts)
    moved = np.stack([_off(triple.product, *_moved(parts, at)) for at in range(3)])
    for tolerance in LADDER if triple.product else SUMS:
        broken = ~exact if tolerance == 0 else (off > tolerance) & ~exact
        fails = (moved > max(tolerance, 1e-9)).mean(axis=1).min()
        if fails < FAILING or fails * len(off) < (CERTAIN if sure else 0):
            return None
        if np.count_nonzero(broken) <= RARE * len(off) + (0 if sure else 1):
            return tolerance
    return None


def _moved(parts: tuple[Array, ...], at: int) -> tuple[Array, ...]:
    """The numbers, one of them taken from other rows."""
    order = np.random.default_rng(at).permutation(len(parts[at]))
    return tuple(part[order] if place == at else part for place, part in enumerate(parts))


def _exact(triple: Triple, numbers: Numbers, parts: tuple[Array, ...]) -> Array:
    """Where the last column of the table equals the formula but for its rounding."""
    place = _dependent(triple)
    with np.errstate(all="ignore"):
        made = _solved(triple.product, place)(*parts)
    step = numbers.steps[triple[1 + place]]
    room = 0.501 * step + 1e-9 * np.maximum(1, np.abs(made))
    return np.asarray(np.abs(parts[place] - made) <= room)


def _dependent(triple: Triple) -> int:
    """Which of (result, a, b) stands last in the table: computed columns are added last."""
    return int(np.argmax(triple[1:]))


def _solved(product: bool, place: int) -> Callable[[Array, Array, Array], Array]:
    """The formula solved for the result, or for one of the operands."""
    if place == 0:
        return (lambda _, a, b: a * b) if product else (lambda _, a, b: a + b)
    if place == 1:
        return (lambda c, _, b: c / b) if product else (lambda c, _, b: c - b)
    return (lambda c, a, _: c / a) if product else (lambda c, a, _: c - a)


def _arithmetic(schema: Schema, numbers: Numbers, triple: Triple, tolerance: float) -> Relation:
    place = _dependent(triple)
    result, a, b = triple[1:]
    order = {0: (a, b, result), 1: (result, b, a), 2: (result, a, b)}[place]
    operation = {
        (False, True): "sum",
        (False, False): "difference",
        (True, True): "product",
        (True, False): "ratio",
    }[triple.product, place == 0]
    parts = tuple(numbers.values[:, at] for at in triple[1:])
    known = np.isfinite(parts).all(axis=0)
    if operation == "ratio":  # nothing can be said of a row that divides by zero
        known &= parts[2 if place == 1 else 1] != 0
    parts = tuple(part[known] for part in parts)
    fits = _exact(triple, numbers, parts)
    if tolerance:
        fits |= _off(triple.product, *parts) <= tolerance
    row = np.flatnonzero(known)[np.flatnonzero(fits)[len(fits) // 2 % max(1, int(fits.sum()))]]
    columns = [schema.columns[numbers.places[at]] for at in order]
    return Arithmetic(
        columns=tuple(column.name for column in columns),
        operation=operation,
        tolerance=tolerance,
        support=len(fits),
        exceptions=int(np.count_nonzero(~fits)),
        example=tuple(
            column.value(float(numbers.values[row, at]))
            for column, at in zip(columns, order, strict=True)
        ),
    )


def _straight(schema: Schema, numbers: Numbers) -> Iterator[Relation]:
    """Columns that are another one times a factor, or shifted: each hangs on the first."""
    some = numbers.values[sample(len(numbers.values), CHECKED)]
    filled = np.where(np.isnan(some), np.nanmean(some, axis=0), some)
    spread = filled.std(axis=0)
    scaled = (filled - filled.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    alike = np.abs(scaled.T @ scaled) / len(some) >= STRAIGHT
    taken: set[int] = set()
    for first, second in np.argwhere(np.triu(alike, 1)):
        if second in taken or first in taken:
            continue
        found = _line(numbers, int(first), int(second))
        if found is not None:
            taken.add(int(second))
            factor, offset, fits = found
            columns = [schema.columns[numbers.places[at]] for at in (first, second)]
            row = np.flatnonzero(fits)[len(fits) // 2 % max(1, int(fits.sum()))]
            both = np.isfinite(numbers.values[:, [first, second]]).all(axis=1)
            yield Linear(
                columns=tuple(column.name for column in columns),
                factor=factor,
                offset=offset,
                support=int(both.sum()),
                exceptions=int(np.count_nonzero(~fits & both)),
                example=tuple(
                    column.value(float(numbers.values[row, at]))
                    for column, at in zip(columns, (first, second), strict=True)
                ),
            )


def _line(numbers: Numbers, first: int, second: int) -> tuple[float, float, Array] | None:
    """Factor and offset, and which rows keep them but for rounding."""
    a, b = numbers.values[:, first], numbers.values[:, second]
    known = np.isfinite(a) & np.isfinite(b)
    if np.count_nonzero(known) < LEAST or len(np.unique(a[known][:10_000])) < 3:
        return None
    multiple = float(a[known] @ b[known] / max(a[known] @ a[known], 1e-300))
    slope, shift = (float(part) for part in np.polyfit(a[known], b[known], 1))
    room = 0.55 * numbers.steps[second] + 1e-6 * np.maximum(1, np.abs(b))
    for line in ((multiple, 0.0), (slope, shift)):
        for digits in DIGITS:  # the number that was meant: 2.54 rather than 2.5400000001
            factor, offset = (float(f"{part:.{digits}g}") for part in line)
            fits = known & (np.abs(factor * a + offset - b) <= room)
            if np.count_nonzero(known & ~fits) <= RARE * known.sum():
                return factor, offset, fits
    return None


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
    """Pairs of columns of which a sample of rows says that the first is never above the second."""
    some = values[sample(len(values), max(64, 20_000_000 // values.shape[1] ** 2))][:2000]
    over = np.zeros((values.shape[1],) * 2, int)
    for start in range(0, len(some), 64):
        part = some[start : start + 64]
        over += (part[:, :, None] > part[:, None, :]).sum(axis=0)
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    overlap = (high[:, None] > low[None, :]) & ~np.eye(len(low), dtype=bool)
    return [(int(i), int(j)) for i, j in np.argwhere((over == 0) & overlap)]


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
