"""Stage 1 for trees: one value for each cell that the model's own splits cut a column into.

Within a cell the answer cannot depend on the column. So the value of the cell that is nearest to
the query stands for all of them, and what is true of every cell is true of every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.errors import require_counts
from macex.schema import MISSING, Array, Column, special
from macex.schema.moments import resolution_of
from macex.stages.shapes import Candidates

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.ask.units import Unit


MOST_CELLS = 5000  # values of one number that are offered
MOST_CATEGORIES = 1000  # categories of one column that are offered
MOST_ROWS = 20_000  # values of all columns together, about


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Every category, and of every number one value for each cell between the trees' splits.

    The splits are read from the model, or from `trees` where the model is a function around them.
    Where no example of some number of changes is found, all of them are scored, so that none
    exists, as long as these are at most `proof_rows` rows for a query.
    """

    trees: Any = field(default=None, repr=False)
    proof_rows: int = 200_000

    def __post_init__(self) -> None:
        require_counts(self, "proof_rows")


class ColumnCells(NamedTuple):
    """The cells of one column of numbers: the first and last value that each can be set to."""

    first: Array  # (C,)
    last: Array  # (C,)
    middle: float  # what counts as near to a query whose own value is missing

    def nearest(self, own: Array, floor: Array, ceiling: Array) -> tuple[Array, Array]:
        """The values of all cells nearest to the queries' own (Q,), and which there are, (Q, C)."""
        first = np.maximum(self.first, floor[:, None])
        last = np.minimum(self.last, ceiling[:, None])
        start = np.where(special(own), self.middle, own)[:, None]
        return np.clip(start, first, np.maximum(first, last)), first <= last

    def thinned(self, most: int) -> ColumnCells:
        """The cells, or `most` of them, evenly spread."""
        if len(self.first) <= most:
            return self
        kept = np.linspace(0, len(self.first) - 1, most).astype(int)
        return ColumnCells(self.first[kept], self.last[kept], self.middle)

    def home(self, values: Array) -> Array:
        """In which cell each value lies, or which it comes after."""
        return np.maximum(np.searchsorted(self.first, values, side="right") - 1, 0)


def cells_of(column: Column, borders: Array) -> ColumnCells:
    """The cells of a column whose values change the answer at some borders only."""
    starts = np.concatenate([[column.low], borders[(borders > column.low)]])
    first = upward(column, starts)
    last = np.append(
        downward(column, _beside(column, starts[1:], -1)), downward(column, column.high)
    )
    off_grid = column.seen[column.held(column.seen) != column.seen]
    lost = first > last
    for cell in np.flatnonzero(lost):  # no value on the grid; perhaps one seen
        stop = starts[cell + 1] if cell + 1 < len(starts) else np.inf
        inside = off_grid[(off_grid >= starts[cell]) & (off_grid < stop)]
        if len(inside):
            first[cell] = last[cell] = inside[len(inside) // 2]
            lost[cell] = False
    median = np.median(column.seen) if len(column.seen) else column.low
    middle = float(column.snap(np.array([median]))[0])
    return ColumnCells(first[~lost], last[~lost], middle)


def upward(column: Column, values: Any) -> Array:
    """The least values on the grid that are not below some numbers."""
    values = np.atleast_1d(np.asarray(values, dtype=float))
    near = column.held(values)
    return np.where(near < values, _next(column, near, 1), near)


def downward(column: Column, values: Any) -> Array:
    """The greatest values on the grid that are not above some numbers."""
    values = np.atleast_1d(np.asarray(values, dtype=float))
    near = column.held(values)
    return np.where(near > values, _next(column, near, -1), near)


def _next(column: Column, values: Array, way: int) -> Array:
    """The next values on the grid, upward or downward."""
    if column.step:
        return column.held(values + way * column.step)
    return _beside(column, values, way)


def _beside(column: Column, values: Array, way: int) -> Array:
    """The next values that the column's dtype can hold."""
    kind = column.storage.numbers
    if column.kind == "datetime":
        return values + way * resolution_of(kind)
    if kind.kind != "f":
        return values + way
    return np.nextafter(values.astype(kind), kind.type(way * np.inf)).astype(np.float64)


@dataclass(frozen=True)
class CellGrid:
    """The cells of all columns of numbers, by their position in the schema."""

    columns: tuple[Column, ...]
    cells: Mapping[int, ColumnCells]
    proof_rows: int

    @staticmethod
    def of(columns: tuple[Column, ...], cuts: Mapping[str, Array], proof_rows: int) -> CellGrid:
        """The cells that cuts make, by name of the column."""
        cells = {
            at: cells_of(column, cuts[column.name])
            for at, column in enumerate(columns)
            if column.name in cuts
        }
        return CellGrid(columns, cells, proof_rows)

    @cached_property
    def most(self) -> dict[int, int]:
        """How many values of each column are offered at most; fewer where they are too many."""
        counts = {at: self.width(at) or len(column.seen) for at, column in enumerate(self.columns)}
        share = MOST_CELLS
        while sum(min(count, share) for count in counts.values()) > MOST_ROWS and share > 2:
            share = share * 3 // 4
        few = min(MOST_CATEGORIES, share)
        return {at: share if at in self.cells else few for at in counts}

    @cached_property
    def rows(self) -> int:
        """How many single changes a query may be offered."""
        counts = {at: self.width(at) or len(column.seen) for at, column in enumerate(self.columns)}
        return sum(min(count, self.most[at]) for at, count in counts.items())

    def thinned(self, unit: Unit) -> bool:
        """Whether a unit has more values than are offered."""
        if unit.joint:
            return len(unit.seen) > MOST_CATEGORIES
        return (self.width(unit.members[0]) or len(unit.seen)) > self.most[unit.members[0]]

    def offer(self, space: Space) -> Candidates:
        """Every value that can make a difference, for a batch."""
        parts = [
            self._entries(space, place, values, whose)
            for place, unit in enumerate(space.units)
            if space.changeable[:, place].any()
            for values, whose in self._values(space, unit)
        ]
        nothing = (np.zeros(0, int), np.zeros((len(space), 0)), np.zeros((len(space), 0), bool))
        unit, value, real = (
            np.concatenate(part, axis=-1) for part in zip(nothing, *parts, strict=True)
        )
        return Candidates(unit.astype(int), value, real, real, whole=self.whole(space))

    def whole(self, space: Space) -> Array:
        """For which queries what is offered stands for every value, (Q,) bool.

        A rule or a derived column may tell values of one cell apart, unless it knows categories
        alone, and a column may have too many values for all of them to be offered.
        """
        whole = np.full(len(space), self._by_category(space))
        for test, bound, _ in space.rules:
            if not getattr(test, "by_category", False):
                whole &= ~bound
        for place, unit in enumerate(space.units):
            if self.thinned(unit):
                whole &= ~space.changeable[:, place]
        return whole

    def _by_category(self, space: Space) -> bool:
        """Whether everything that follows from others follows from categories."""
        following = (*space.derived, *space.implied)
        return all(self.columns[at].discrete for _, one in following for at in one.columns)

    def settled(self, space: Space, codes: Array, at: Array) -> Array:
        """Rows with one change only, which is the nearest of its cell and needs no fine-tuning."""
        settled: Array = self.whole(space)[at] & (space.changed(codes, at).sum(axis=1) == 1)
        return settled

    def width(self, column: int) -> int:
        """How many cells a column has; 0 for one without numbers."""
        return len(self.cells[column].first) if column in self.cells else 0

    def bounds(self, space: Space, column: int) -> tuple[Array, Array]:
        """How far each query's value may go, on the grid: floor and ceiling, (Q,) each."""
        kind = self.columns[column]
        floor, ceiling = space.bounds.floor[:, column], space.bounds.ceiling[:, column]
        floor = np.maximum(floor, kind.low)
        ceiling = np.minimum(ceiling, kind.high)
        return upward(kind, floor), downward(kind, ceiling)

    def _values(self, space: Space, unit: Unit) -> list[tuple[Array, Array]]:
        """The values of a unit (Q, v), and which of them are whose, (Q, v) bool."""
        column = unit.members[0]
        most = MOST_CATEGORIES if unit.joint else self.most[column]
        if unit.joint or column not in self.cells:
            frequent = np.sort(np.lexsort((unit.seen, -unit.counts))[:most])
            wide = (len(space), len(frequent))
            found = [(np.broadcast_to(unit.seen[frequent], wide), np.ones(wide, bool))]
        else:
            cells = self.cells[column].thinned(most)
            found = [cells.nearest(space.own[:, column], *self.bounds(space, column))]
        if unit.joint:
            return found
        menu = space.bounds.menus.get(column)
        if menu is not None:
            found = [(values, real & ~menu.bound[:, None]) for values, real in found]
            found.append((np.broadcast_to(menu.values, menu.allowed.shape), menu.allowed))
        blank = space.bounds.blank[:, [column]]
        return [*found, (np.full(blank.shape, MISSING), blank)] if blank.any() else found

    @staticmethod
    def _entries(
        space: Space, place: int, values: Array, whose: Array
    ) -> tuple[Array, Array, Array]:
        at = np.broadcast_to(np.arange(len(space))[:, None], values.shape)
        real = whose & space.changeable[:, [place]] & space.admits_one(at, place, values)
        return np.full(values.shape[1], place), values, real
