"""Columns that are another one times a factor, or shifted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from macex.schema import Array, Schema
from macex.structure.categories import RARE
from macex.structure.numbers import CHECKED, LEAST, Numbers
from macex.structure.relations import Linear, Relation
from macex.structure.sample import sample

STRAIGHT = 0.9999  # correlation
DIGITS = (1, 2, 3, 4, 5, 6, 9, 15)
TRIES = 4  # columns that one is compared with
FEWEST_VALUES = 3


def lines(schema: Schema, numbers: Numbers) -> Iterator[Relation]:
    """Columns that are another one times a factor, or shifted: each hangs on the first."""
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


Line = tuple[float, float, Array]


def _line(a: Array, b: Array, step: float, spare: int = 0) -> Line | None:
    """Factor and offset, and which rows keep them but for rounding."""
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
