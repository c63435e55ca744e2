"""Rows as small whole numbers, whose product with a query's weights gives their distance.

The squared distance of `neighbors` is a sum over columns. A row's features hold, for each column,
what that sum needs of the row; a query's weights hold the rest, and 0 for a column that is not
compared. So one set of features serves every choice of columns:

    weights(query) @ features(row) = constant of the query - squared distance

All numbers are whole and small, so the product is exact in float32, in any order of summation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from macex.stages.neighbors import NeighborIndex

GROUPS = 16  # a column with many categories is told apart by so many groups of them
MISSED = 25  # the squared distance between a number and a missing one, beside its own square


@dataclass(frozen=True)
class Features:
    """How the columns of bins become features.

    `levels` are the bins of a column of categories, None for numbers; `wide` columns go by groups
    of their categories, so that rows that differ may seem to agree. Where no row misses a number,
    there is no feature for that.
    """

    levels: tuple[Array | None, ...]
    wide: Array  # (d,) bool
    missed: Array  # (d,) bool

    @staticmethod
    def of(index: NeighborIndex) -> Features:
        """The features that tell the rows of an index apart."""
        low = index.binned.min(axis=0, initial=0)
        wide = ~index.narrow
        levels = [
            None
            if not index.discrete[column]
            else np.arange(GROUPS)
            if wide[column]
            else np.arange(low[column], index.top[column] + 1)
            for column in range(len(wide))
        ]
        return Features(tuple(levels), wide, low < 0)

    @cached_property
    def places(self) -> list[tuple[int, slice]]:
        """Each column, and where its features stand."""
        found, start = [], 0
        for column, levels in enumerate(self.levels):
            stop = start + (2 + int(self.missed[column]) if levels is None else len(levels))
            found.append((column, slice(start, stop)))
            start = stop
        return found

    @property
    def width(self) -> int:
        """How many features a row has."""
        return self.places[-1][1].stop

    @property
    def plain_width(self) -> int:
        """How many coordinates a row has as a point."""
        return self.width - sum(levels is None for levels in self.levels)

    def rows(self, binned: Array) -> Array:
        """The features of rows (n, d), (n, F) float32: of a number itself, its square, missing."""
        made = np.empty((len(binned), self.width), np.float32)
        for column, at in self.places:
            values, levels = binned[:, column], self.levels[column]
            if levels is None:
                missing = values < 0
                number = np.where(missing, 0, values).astype(np.float32)
                parts = (number, number**2, missing)
                made[:, at] = np.column_stack(parts[: at.stop - at.start])
            else:
                made[:, at] = self._grouped(column, values)[:, None] == levels
        return made

    def weights(self, binned: Array, match: Array) -> Array:
        """The weights of queries (n, d) that are compared on some columns, (n, F) float32."""
        made = np.zeros((len(binned), self.width), np.float32)
        for column, at in self.places:
            if not match[column]:
                continue
            values, levels = binned[:, column], self.levels[column]
            if levels is None:
                missing = values < 0
                number = np.where(missing, 0, values).astype(np.float32)
                against = np.where(missing, MISSED, -MISSED)
                parts = (2 * number, np.full(len(values), -1), against)
                made[:, at] = np.column_stack(parts[: at.stop - at.start])
            else:
                made[:, at] = 2 * (self._grouped(column, values)[:, None] == levels)
        return made

    def plain(self, features: Array) -> Array:
        """Features as points whose squared distances are those of the rows, for clustering."""
        numbers = [(column, at.start) for column, at in self.places if self.levels[column] is None]
        points = features.copy()
        for column, start in numbers:
            if self.missed[column]:
                points[:, start + 2] *= np.sqrt(MISSED)
        return np.delete(points, [start + 1 for _, start in numbers], axis=1)

    def gaps(self, binned: Array, others: Array, match: Array) -> Array:
        """The squared distances of queries (n, d) to rows of their own (n, m, d), exactly."""
        total = np.zeros(others.shape[:2], np.float32)
        for column in np.flatnonzero(match):
            mine, theirs = binned[:, column, None].astype(int), others[:, :, column].astype(int)
            if self.levels[column] is not None:
                total += 2 * (mine != theirs)
                continue
            step = np.maximum(mine, 0) - np.maximum(theirs, 0)
            total += step**2 + MISSED * ((mine < 0) != (theirs < 0))
        return total

    def _grouped(self, column: int, values: Array) -> Array:
        return np.where(values < -1, -1, values % GROUPS) if self.wide[column] else values
