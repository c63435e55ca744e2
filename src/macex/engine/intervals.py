"""Values around a changed number that reach the goal, too, other changes kept.

Points beyond the new value are tried: the next ones on the grid, then in growing steps up to the
end of the range. Toward the query one grid step is tried, which fails if the change is as small as
possible. Stable answers change more than that, so more points are tried there. The run of points
around the new value that all reach the goal is its interval. It is exact where no value
of the grid was left out; elsewhere a value between two tested ones may fail. Where a tree model's
cells are known, every cell is tested by one value, and the run of cells is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.models.judge import Judge
    from macex.stages.shapes import Pool, Task


class TestedRun(NamedTuple):
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

    def spans(self, ok: Array) -> Iterator[tuple[int, TestedRun]]:
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
            yield example, TestedRun(*span)


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


POINTS = 24
BACK = 12  # points toward the query, where answers are stable


class GridLine(NamedTuple):
    """The points tested for one unit: the first `back` are inward, the others outward."""

    unit: int
    example: Array  # (E,)
    after: Array  # (E,)
    points: Array  # (E, back + POINTS)
    fresh: Array  # (E, back + POINTS) bool: to be scored
    closed: Array  # (E, back) bool: the inward points that cannot be set, or fail for certain
    dense: Array  # (E, 2) int: how many points inward and outward are neighbours on the grid
    end: Array  # (E,) the end of the range outward
    back: int

    def spans(self, ok: Array) -> Iterator[tuple[int, TestedRun]]:
        """The interval of every example; `ok` says which points reach the goal."""
        back, (inward, outward) = self.back, self.dense.T
        held, near = self._run(ok[:, :back], self.points[:, :back])
        length, far = self._run(ok[:, back:], self.points[:, back:])
        ended = (length < outward) | ((far == self.end) & (outward == POINTS))
        fails = self.closed | (self.fresh[:, :back] & ~ok[:, :back])
        first = np.take_along_axis(fails, np.minimum(held, back - 1)[:, None], axis=1)[:, 0]
        exact = ended & (held < inward) & first
        tested = self.fresh.sum(axis=1) + 1
        low, high = np.minimum(near, far), np.maximum(near, far)
        parts = (self.example, low, high, tested, exact)
        for example, *span in zip(*(part.tolist() for part in parts), strict=True):
            yield example, TestedRun(*span)

    def _run(self, ok: Array, points: Array) -> tuple[Array, Array]:
        """How many points in a row hold, (E,), and the last of them."""
        old = np.concatenate([self.after[:, None], points[:, :-1]], axis=1)
        length = np.logical_and.accumulate(ok | (points == old), axis=1).sum(axis=1)
        last = points[np.arange(len(points)), np.maximum(length, 1) - 1]
        return length, np.where(length > 0, last, self.after)


class Probes(NamedTuple):
    """All points to be tested, as rows."""

    codes: Array  # (n, U)
    example: Array  # (n,)
    lines: list[GridLine | CellLine]

    def spans(self, space: Space, reached: Array) -> Iterator[tuple[tuple[int, int], TestedRun]]:
        """The interval of every example and column, from what the rows' check said."""
        start = 0
        for line in self.lines:
            ok = np.zeros(line.points.shape, bool)
            stop = start + int(line.fresh.sum())
            ok[line.fresh] = reached[start:stop]
            start = stop
            column = space.units[line.unit].members[0]
            yield from (((example, column), span) for example, span in line.spans(ok))


def probe(task: Task, judge: Judge, pool: Pool, chosen: Array) -> Probes:
    """The points to test for the examples at `chosen`; none once the time is over."""
    if judge.late:
        return Probes(np.zeros((0, task.space.width)), np.zeros(0, np.intp), [])
    moved = task.space.moved_numbers(pool.codes[chosen], pool.at[chosen])
    moved &= ~_poor(task, judge, pool.at[chosen], moved)[:, None]
    codes, example = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
    lines: list[GridLine | CellLine] = []
    for line in _lines(task, pool, moved, chosen):
        who, point = np.nonzero(line.fresh)
        rows = pool.codes[line.example[who]]
        rows[:, line.unit] = line.points[who, point]
        codes.append(rows)
        example.append(line.example[who])
        lines.append(line)
    return Probes(np.concatenate(codes), np.concatenate(example), lines)


def _lines(task: Task, pool: Pool, moved: Array, chosen: Array) -> Iterator[GridLine | CellLine]:
    """The points of every unit; whole cells where a tree model's cells are known."""
    for place in map(int, np.flatnonzero(moved.any(axis=0))):
        who = chosen[moved[:, place]]
        known = known_cells(task, place)[pool.at[who]]
        if known.any():
            yield cell_line(task, pool, place, who[known])
        if not known.all():
            yield _line(task, pool, place, who[~known])


def _poor(task: Task, judge: Judge, at: Array, moved: Array) -> Array:
    """Examples whose queries cannot pay for intervals."""
    if not judge.capped:
        return np.zeros(len(at), bool)
    needed = np.zeros(len(judge.limit), int)
    most = POINTS + _back(task)
    widths = [
        most if task.grid is None else max(most, task.grid.width(unit.members[0]))
        for unit in task.space.units
    ]
    np.add.at(needed, at, moved @ np.array(widths))
    return (judge.limit - judge.spent < needed)[at]


def _line(task: Task, pool: Pool, place: int, who: Array) -> GridLine:
    unit, at = task.space.units[place], pool.at[who]
    after, own = pool.codes[who, place], task.queries[at, place]
    way, end = np.where(after > own, 1.0, -1.0), _end(task, place, at, after > own)
    gap, back = np.abs(after - own), _back(task)
    outward, beyond = _strides(np.abs(end - after), unit.step, POINTS)
    outward = after[:, None] + way[:, None] * outward
    outward = np.where((way * (outward.T - end) > 0).T, end[:, None], outward)
    inward, before = _strides(gap, unit.step, back)
    if back == 1:
        inward = np.minimum(unit.step or (unit.high - unit.low) / 1000, gap)[:, None]
    inward = after[:, None] - way[:, None] * np.minimum(inward, gap[:, None])
    points = task.space.snap(place, np.concatenate([inward, outward], axis=1))
    fresh = _fresh(task, place, at, after, points, back)
    single = task.space.changed(pool.codes[who], at).sum(axis=1) == 1
    closed = np.where(points[:, :back] == own[:, None], single[:, None], ~fresh[:, :back])
    dense, end = np.column_stack([before, beyond]), task.space.snap(place, end)
    return GridLine(place, who, after, points, fresh, closed, dense, end, back)


def _back(task: Task) -> int:
    """How many points are tried toward the query."""
    return 1 if task.band is None else BACK


def _strides(room: Array, step: float, count: int) -> tuple[Array, Array]:
    """How far each of `count` points lies, (E, count), and how many of them are neighbours."""
    turn, most = np.arange(1, count + 1), (count + 1) // 2
    even = room[:, None] * turn / count
    if not step:
        return even, np.zeros(len(room), int)
    near = np.minimum(turn, most) * step
    rest = np.maximum(turn - most, 0) / max(1, count - most)
    all_near = (room <= count * step * (1 + 1e-9))[:, None]
    reach = np.where(all_near, turn * step, near + (room - most * step)[:, None] * rest)
    return reach, np.where(all_near[:, 0], count, most)


def _end(task: Task, place: int, at: Array, up: Array) -> Array:
    """How far each query may go: to the end of the training range or of its own."""
    unit, bounds = task.space.units[place], task.space.bounds
    column = unit.members[0]
    highest = np.minimum(bounds.ceiling[at, column], unit.high)
    return np.where(up, highest, np.maximum(bounds.floor[at, column], unit.low))


def _fresh(task: Task, place: int, at: Array, after: Array, points: Array, back: int) -> Array:
    """Which points are new, and may be set."""
    wide = np.broadcast_to(at[:, None], points.shape)
    fresh = task.space.admits_one(wide, place, points) & (points != after[:, None])
    again = points[:, 1:] == points[:, :-1]
    again[:, back - 1] = False  # the first outward one
    fresh[:, 1:] &= ~again
    return fresh
