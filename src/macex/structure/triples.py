"""Sums, differences, products and ratios of numbers.

A formula that holds for every row may say nothing: where all numbers are near 1, every product is.
So each operand is moved to another row, and the formula must then fail in at least a quarter of
the rows. Of independent columns that changes nothing, so that a formula that fails so often holds
in all rows with a probability below 0.75 ** n.

A column that is nearly always the same cannot make a formula fail when it is moved, so it enters
none. What is left is tried in a few rows, half of them rows in which the result is not its most
frequent value, since 0 = 0 + 0 tells nothing. Of what these do not refute a bounded number is
looked at closely, the nearest to a formula first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from macex.schema import Array, Schema
from macex.structure.categories import CERTAIN, RARE
from macex.structure.levels import CHECKED, LEAST, Numbers, sample
from macex.structure.relations import Arithmetic, Relation

LADDER = (0.0, 0.01, 0.05, 0.2, 0.5)  # tolerances of products, relative
SUMS = LADDER[:3]  # of sums
FAILING = 0.25  # the share of rows in which a formula must fail when an operand is moved
MOVING = 0.2  # of pairs of rows that must differ in a column, that it may fail so often
FIRST = 8  # rows that refute most formulas
SCREENED = 40  # rows in which all formulas are tried
FEW = 40  # numbers of which all triples are tried; of more, those with a correlated operand
OPERANDS = 8
MOST_TRIED = 2000  # in the sample
MOST_LEFT = 300  # in all rows


class Triple(NamedTuple):
    """`result = a + b`, or `result = a * b`; columns by their place among the numbers."""

    product: bool
    result: int
    a: int
    b: int


def triples(schema: Schema, numbers: Numbers) -> Iterator[Relation]:
    """The formulas of three numbers that nearly all rows keep."""
    rows = sample(len(numbers.values), CHECKED)
    some = numbers.values[rows]
    found = []
    for triple in _screened(some):
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


def _screened(some: Array) -> list[Triple]:
    """The triples that a few rows do not refute, those that fit best first."""
    moving = [at for at in range(some.shape[1]) if _moves(some[:, at])]
    if len(moving) < 3:
        return []
    columns = np.array(moving)
    fullest = np.argsort(np.isnan(some).sum(axis=1), kind="stable")
    found: dict[Triple, float] = {}
    for result, operands in zip(moving, _operands(some, moving), strict=True):
        rows = some[_telling(some, fullest, result)]
        for a in operands:
            others = columns[(columns != result) & (columns != a)]
            if len(moving) <= FEW:
                others = others[others > a]
            for product in (False, True):
                left, gaps = _survivors(product, rows, result, a, others)
                for b, gap in zip(left.tolist(), gaps.tolist(), strict=True):
                    found[Triple(product, result, min(a, b), max(a, b))] = gap
    return sorted(found, key=lambda triple: (found[triple], triple))[:MOST_TRIED]


def _moves(values: Array) -> bool:
    """Whether two rows differ in a column often enough for a formula to fail."""
    known = values[np.isfinite(values)]
    if len(known) < LEAST:
        return False
    shares = np.unique(known, return_counts=True)[1] / len(known)
    return bool(1 - (shares**2).sum() >= MOVING)


def _telling(some: Array, order: Array, result: int) -> Array:
    """Rows in which a result is in turn not its most frequent value, and is; the fullest first."""
    values = some[order, result]
    order, values = order[np.isfinite(values)], values[np.isfinite(values)]
    seen, counts = np.unique(values, return_counts=True)
    usual = values == seen[np.argmax(counts)]
    turn = np.where(usual, np.cumsum(usual), np.cumsum(~usual) - 0.5)
    return order[np.argsort(turn, kind="stable")[:SCREENED]]


def _survivors(
    product: bool, rows: Array, result: int, a: int, others: Array
) -> tuple[Array, Array]:
    """The other operands that all of some rows but one allow, and how far they are off."""
    widest = (LADDER if product else SUMS)[-1]
    for part in (rows[:FIRST], rows):
        gaps = _gap(_said(product, part, (result, a, others)))
        near = np.argsort(gaps, kind="stable")[:FEW]
        near = np.sort(near[gaps[near] <= widest])
        others, gaps = others[near], gaps[near]
        if not len(others):
            return others, gaps
    fails = [
        _said(product, rows, (result, a, others), moved=place) > np.maximum(gaps, 1e-9)
        for place in range(3)
    ]
    said = np.min([fail.sum(axis=0) for fail in fails], axis=0) > 1
    return others[said], gaps[said]


def _said(
    product: bool, rows: Array, columns: tuple[int, int, Array], moved: int | None = None
) -> Array:
    """How far rows are off, one column taken from other rows; NaN where a ratio divides by zero.

    A ratio that mostly divides by zero is no relation.
    """
    result, a, others = columns
    parts = [rows[:, [result]], rows[:, [a]], rows[:, others]]
    if moved is not None:
        parts[moved] = np.roll(parts[moved], 1, axis=0)
    off = _off(product, *parts)
    if not product:
        return off
    by_a, by_b = others > max(result, a), (a > result) & (a > others)  # what is computed, by what
    void = (by_a & (parts[1] == 0)) | (by_b & (parts[2] == 0))
    mostly = 2 * void.sum(axis=0) > len(rows)
    return np.where(mostly, np.inf, np.where(void, np.nan, off))


def _gap(off: Array) -> Array:
    """How far all rows but one are off; rows with missing numbers say nothing."""
    return np.asarray(np.partition(np.fmax(off, 0.0), -2, axis=0)[-2])


def _operands(some: Array, moving: list[int]) -> list[list[int]]:
    """For each result the columns that may enter it: all of few, the most correlated of many."""
    if len(moving) <= FEW:
        return [[a for a in moving if a != result] for result in moving]
    part = some[:, moving]
    filled = np.where(np.isnan(part), np.nanmedian(part, axis=0), part)
    ranks = np.argsort(np.argsort(filled, axis=0), axis=0).astype(np.float32)
    ranks -= ranks.mean(axis=0)
    related = np.abs(ranks.T @ ranks)
    np.fill_diagonal(related, -1)
    best = np.argsort(-related, axis=1, kind="stable")[:, :OPERANDS]
    return np.array(moving)[best].tolist()


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
    known = _telling_rows(triple, parts)
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


def _telling_rows(triple: Triple, parts: tuple[Array, ...]) -> Array:
    """The rows that say something: nothing is missing, and no ratio divides by zero."""
    known = np.isfinite(parts).all(axis=0)
    if triple.product and (place := _dependent(triple)):
        known &= parts[3 - place] != 0
    return np.asarray(known)


def _moved(parts: tuple[Array, ...], at: int) -> tuple[Array, ...]:
    """The numbers, one of them taken from other rows."""
    order = np.random.default_rng(at).permutation(len(parts[at]))
    return tuple(part[order] if place == at else part for place, part in enumerate(parts))


def _exact(triple: Triple, numbers: Numbers, parts: tuple[Array, ...]) -> Array:
    """Where the last column of the table equals the formula up to its rounding."""
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
    known = _telling_rows(triple, parts)
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
