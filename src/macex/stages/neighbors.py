"""Exact nearest training rows that meet a goal (the paper's kNN search, Algorithm 1, steps 1-2).

Categories are compared one-hot, numbers by the index of their quantile bin, both in euclidean
distance. Narrow columns go through one matrix product; a column with many categories is compared
by equality, so that no wide one-hot table is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from macex.schema import MISSING, Array, any_special, cell_keys, row_keys, special
from macex.stages.arrays import first_of_each, highest

if TYPE_CHECKING:
    from macex.schema import Schema


WIDE = 64  # categories from which a column is compared by equality
BLOCK = 1_000_000  # distances held at once: few enough for the cache
TOGETHER = 10  # queries that share a look at the rows, where four blocks hold them


@dataclass(frozen=True)
class Bins:
    """Codes as small integers: categories as they are, numbers by quantile bin."""

    edges: tuple[Array | None, ...]  # inner edges per column of numbers, None for categories
    dtype: npt.DTypeLike = np.int32  # the smallest that holds them all

    def __call__(self, codes: Array) -> Array:
        """Bin numbers (n, d); -1 for missing, -2 for unknown."""
        odd = special(codes) if any_special(codes) else None
        plain = codes if odd is None else np.where(odd, 0.0, codes)
        found = np.empty(codes.shape, self.dtype)
        found[:, self._categories] = plain[:, self._categories]
        for place, edges in enumerate(self.edges):
            if edges is not None:
                found[:, place] = np.searchsorted(edges, plain[:, place], side="right")
        if odd is not None:
            found[odd] = np.where(codes[odd] == MISSING, -1, -2)
        return found

    @cached_property
    def _categories(self) -> Array:
        return np.flatnonzero([edges is None for edges in self.edges])


def learn_bins(schema: Schema, codes: Array, bins: int) -> Bins:
    """Quantile bins of the training rows (T, d)."""
    edges: list[Array | None] = []
    largest = 0
    for place, column in enumerate(schema.columns):
        if column.discrete:
            edges.append(None)
            largest = max(largest, len(column.table))
            continue
        known = codes[:, place][codes[:, place] != MISSING]
        edges.append(inner := _edges(column.seen, known, bins))
        largest = max(largest, len(inner))
    return Bins(tuple(edges), np.result_type(np.int8, np.min_scalar_type(-1 - largest)))


class Side(NamedTuple):
    """Some training rows made ready to be compared on some columns."""

    rows: Array  # (R,) which training rows
    match: Array  # (d,) bool: the columns that are compared
    features: Array  # (R, F) float32
    lengths: Array  # (R,) squared length of each row's features
    keys: Array  # (R,) equal for rows that agree in all compared columns


def _edges(seen: Array, known: Array, bins: int) -> Array:
    """Inner edges of bins: one bin a value where there are few, else by quantile.

    Where most rows share a value, quantiles of the distinct values tell the others apart.
    """
    if len(seen) <= bins:
        return seen[1:]
    share = np.linspace(0, 1, bins + 1)[1:-1]
    inner = np.unique(np.quantile(known, share))
    return inner if len(inner) > bins // 2 else np.unique(np.quantile(seen, share))


@dataclass
class NeighborIndex:
    """The training rows by bin, ready to be searched.

    `group` numbers the rows' predicted labels; within a group rows with equal bins are held once.
    """

    binned: Array  # (T, d) int
    discrete: Array  # (d,) bool
    group: Array  # (T,) int
    top: Array = field(init=False)  # (d,) the highest bin of each column
    narrow: Array = field(init=False)  # (d,) bool: compared by matrix product
    distinct: Array = field(init=False)  # rows that are the first of their bins and group

    def __post_init__(self) -> None:
        """Find the rows that differ from all before them."""
        self.top = self.binned.max(axis=0, initial=-1)
        self.narrow = ~self.discrete | (self.top < WIDE)
        keys = row_keys(self.binned) + cell_keys(self.group, np.array([self.binned.shape[1]]))
        _, first = np.unique(keys, return_index=True)
        self.distinct = np.sort(first)

    def side(self, rows: Array, match: Array) -> Side:
        """Training rows ready for `nearest`."""
        binned = self.binned[rows]
        features = self._encode(binned, match)
        lengths = np.einsum("tf,tf->t", features, features)
        return Side(rows, match, features, lengths, row_keys(binned[:, match]))

    def nearest(
        self, binned: Array, side: Side, count: int, among: Array | None = None
    ) -> tuple[Array, Array]:
        """The `count` nearest rows of a side to each query (Q, d), and which of them are real.

        Rows that agree with a nearer one, or with the query, in all compared columns are passed
        over; `among` (Q, R) says which rows count for which query.
        """
        found = np.zeros((len(binned), count), np.intp)
        real = np.zeros((len(binned), count), bool)
        if not len(side.rows) or not side.match.any():
            return found, real
        own = row_keys(binned[:, side.match])
        step = max(1, BLOCK // len(side.rows), min(TOGETHER, 4 * BLOCK // len(side.rows)))
        for start in range(0, len(binned), step):
            part = slice(start, start + step)
            closeness = self._closeness(binned[part], side)
            if among is not None:
                closeness[~among[part]] = -np.inf
            _keep_distinct(closeness, side.keys, own[part], count, found[part], real[part])
        return side.rows[found], real

    def _closeness(self, binned: Array, side: Side) -> Array:
        """A constant per query minus squared distances, (Q, R)."""
        close: Array = (2 * self._encode(binned, side.match)) @ side.features.T
        close -= side.lengths
        for column in np.flatnonzero(side.match & ~self.narrow):
            differs = binned[:, column][:, None] != self.binned[side.rows, column]
            np.subtract(close, np.float32(2), out=close, where=differs)
        return close

    def _encode(self, binned: Array, match: Array) -> Array:
        """Narrow columns as float32 features: one-hot for categories, the bin for numbers."""
        parts = [np.zeros((len(binned), 0), np.float32)]
        for column in np.flatnonzero(match & self.narrow):
            values = binned[:, column]
            if self.discrete[column]:
                parts.append(values[:, None] == np.arange(-1, self.top[column] + 1))
            else:
                missing = values < 0
                parts.append(np.column_stack([np.where(missing, 0, values), missing * 5]))
        return np.concatenate(parts, axis=1, dtype=np.float32)


def _keep_distinct(
    closeness: Array, keys: Array, own: Array, count: int, found: Array, real: Array
) -> None:
    """Write the nearest rows with distinct keys; look further where too many agree."""
    todo = np.arange(len(closeness))
    width = count + 2
    while len(todo):
        width = min(width, closeness.shape[1])
        mine = closeness if len(todo) == len(closeness) else closeness[todo]
        near = highest(mine, width)
        fresh = first_of_each(keys[near]) & (keys[near] != own[todo][:, None])
        fresh &= np.isfinite(np.take_along_axis(mine, near, axis=1))
        rank = np.cumsum(fresh, axis=1) - 1
        fresh &= rank < count
        line, place = np.nonzero(fresh)
        found[todo[line], rank[line, place]] = near[line, place]
        real[todo[line], rank[line, place]] = True
        enough = real[todo].all(axis=1)
        if width == closeness.shape[1]:
            return
        todo = todo[~enough]
        width *= 4
