"""How far a changed number can go where a tree model's cells are known: to the end of a cell.

Every cell is tested by one value, so the run of cells around the new value that all reach the goal
is its interval, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from macex.stages.shapes import Pool, Task


class Span(NamedTuple):
    """The run of tested values of one unit around its new value."""

    low: float
    high: float
    tested: int
    exact: bool


class CellLine(NamedTuple):
    """The cells of one unit, each tested by one value."""

    unit: int
    example: Array  # (E,)
    home: Array  # (E,) the cell of the new value
    points: Array  # (E, C)
    fresh: Array  # (E, C) bool: to be scored
    first: Array  # (E, C) where each cell begins and ends for this query
    last: Array  # (E, C)

    def spans(self, ok: Array) -> Iterator[tuple[int, Span]]:
        """The interval of every example; `ok` says which points reach the goal."""
        lines = np.arange(len(self.home))
        good = ok.copy()
        good[lines, self.home] = True
        cell = np.arange(good.shape[1])
        left = np.where(~good & (cell < self.home[:, None]), cell, -1).max(axis=1) + 1
        stop = np.where(~good & (cell > self.home[:, None]), cell, good.shape[1]).min(axis=1)
        low, high = self.first[lines, left], self.last[lines, stop - 1]
        tested = self.fresh.sum(axis=1) + 1
        parts = (self.example, low, high, tested, np.ones(len(lines), bool))
        for example, *span in zip(*(part.tolist() for part in parts), strict=True):
            yield example, Span(*span)


def known_cells(task: Task, place: int) -> Array:
    """For which queries the cells of a unit are all it can be set to, (Q,) bool."""
    unit = task.space.units[place]
    if task.grid is None or unit.members[0] not in task.grid.cells:
        return np.zeros(len(task.space), bool)
    known = task.grid.whole(task.space) & (not task.grid.thinned(unit))
    menu = task.space.bounds.menus.get(unit.members[0])
    return known if menu is None else known & ~menu.bound


def cell_line(task: Task, pool: Pool, place: int, who: Array) -> CellLine:
    """The cells to test for some examples; the query's own by taking the change back."""
    if task.grid is None:
        raise TypeError("cells are needed")
    column, at = task.space.units[place].members[0], pool.at[who]
    cells = task.grid.cells[column]
    floor, ceiling = (bound[at] for bound in task.grid.bounds(task.space, column))
    own = task.queries[at, place]
    points, inside = cells.nearest(own, floor, ceiling)
    home = cells.home(pool.codes[who, place])
    wide = np.broadcast_to(at[:, None], points.shape)
    fresh = task.space.admits_one(wide, place, points) | (points == own[:, None])
    fresh &= inside
    fresh[np.arange(len(who)), home] = False
    first = np.maximum(cells.first, floor[:, None])
    last = np.minimum(cells.last, ceiling[:, None])
    return CellLine(place, who, home, points, fresh, first, last)
