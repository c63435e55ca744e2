"""Training rows as relations are sought in them: a sample, the numbers, and a few levels.

A relation between values is sought among values that enough rows have. A category is a level, and
so is a value of a number that takes few, a number that many rows share (no previous contact: -1),
and missing. All other values of a column are in no level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.schema import MISSING, Array, Column, Schema, special

FEW = 20  # distinct numbers, up to which each is a level
ATOMS = 3  # levels of a number with more
ATOM_SHARE = 0.02  # of the rows that have such a number
MOST = 1500  # levels of all columns together
MOST_IN_COLUMN = 64
LEAST_SAMPLE = 200
CHECKED = 1000  # rows in which those that a few rows do not refute are tried
LEAST = 40  # rows, below which nothing is said


@dataclass(frozen=True)
class Levels:
    """The levels of all columns, by column and code."""

    column: Array  # (V,)
    code: Array  # (V,)
    count: Array  # (V,) rows

    def __len__(self) -> int:
        return len(self.column)

    @cached_property
    def of(self) -> dict[int, Array]:
        """The levels of every column that has some, in the order of their codes."""
        return {int(c): np.flatnonzero(self.column == c) for c in np.unique(self.column)}

    def places(self, column: int, codes: Array) -> Array:
        """For each code of a column, which of its levels it is; the number of them if none."""
        known = self.code[self.of[column]]
        place = np.searchsorted(known, codes)
        found = known[np.minimum(place, len(known) - 1)] == codes
        return np.where(found, place, len(known))

    def indicator(self, codes: Array) -> Array:
        """Rows by level, (n, V) of zeros and ones."""
        found = np.zeros((len(codes), len(self)), np.float32)
        for column, levels in self.of.items():
            place = self.places(column, codes[:, column])
            known = place < len(levels)
            found[np.flatnonzero(known), levels[place[known]]] = 1.0
        return found


def levels_of(schema: Schema, codes: Array, least: int) -> Levels:
    """The levels that at least `least` rows have; of very many the most frequent."""
    found = [
        (at, code, count)
        for at, column in enumerate(schema.columns)
        for code, count in _levels(column, codes[:, at], least)
    ]
    found = sorted(sorted(found, key=lambda level: -level[2])[:MOST])
    columns, values, counts = zip(*found, strict=True) if found else ((), (), ())
    return Levels(np.array(columns, int), np.array(values, float), np.array(counts, int))


def _levels(column: Column, codes: Array, least: int) -> list[tuple[float, int]]:
    """The levels of one column with the number of their rows, most frequent first."""
    missing = int(np.count_nonzero(codes == MISSING))
    values = _candidates(column)
    place = np.searchsorted(values, codes)
    known = place < len(values)
    known[known] = values[place[known]] == codes[known]
    counts = np.bincount(place[known], minlength=len(values))
    if not column.discrete and len(column.seen) > FEW:
        least = max(least, int(ATOM_SHARE * len(codes)))
    frequent = [
        (float(values[at]), int(counts[at]))
        for at in np.argsort(-counts, kind="stable")[:MOST_IN_COLUMN]
        if counts[at] >= least
    ]
    return frequent + [(MISSING, missing)] * (missing >= least)


def _candidates(column: Column) -> Array:
    """The codes that may be levels, sorted."""
    if column.kind == "datetime":
        return np.zeros(0)
    if column.discrete or len(column.seen) <= FEW:
        return column.seen
    frequent = np.argsort(-column.counts, kind="stable")[:ATOMS]
    return np.sort(column.seen[frequent])


def sample(count: int, most: int) -> Array:
    """Positions of at most `most` rows (at least 200), the same every time, in order."""
    most = max(most, LEAST_SAMPLE)
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


class Numbers(NamedTuple):
    """The continuous columns that vary: their places, and their numbers with NaN for missing."""

    places: list[int]
    values: Array  # (n, k)
    steps: Array  # (k,)

    def without(self, dropped: set[int]) -> Numbers:
        """The same without the columns at some places of the table."""
        kept = [at for at, place in enumerate(self.places) if place not in dropped]
        return Numbers([self.places[at] for at in kept], self.values[:, kept], self.steps[kept])


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
