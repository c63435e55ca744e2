"""Moves that a whole population shares: a value, a bound that a number is moved to, or a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

from macex.ask.space import Space
from macex.ask.units import Unit
from macex.schema import Array, Column, special

MOST_MOVES = 320  # about how many moves a population is offered
MOST_VALUES = 24  # values of one column among them
STEPS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the spread of a number
DAY = 86_400.0


@dataclass(frozen=True)
class Move:
    """One part of an action; exactly one of the four is given.

    A column is set `to` a value, moved up to `at_least` or down to `at_most` a value where it is
    not there yet, or moved `by` a step.
    """

    column: str
    to: Any = None
    by: Any = None
    at_least: Any = None
    at_most: Any = None


class Moves(NamedTuple):
    """Moves as arrays; exactly one of `to` and `by` is a number.

    `side` says how `to` is meant: 1 at least, -1 at most, 0 exactly.
    """

    unit: Array  # (A,) int
    to: Array  # (A,) NaN for a step
    by: Array  # (A,) NaN for a value
    side: Array  # (A,) int

    def __len__(self) -> int:
        return len(self.unit)

    @staticmethod
    def to_values(unit: int, values: Array, side: int = 0) -> Moves:
        """Moves of one unit to values."""
        count = len(values)
        return Moves(np.full(count, unit), values, np.full(count, np.nan), np.full(count, side))

    @staticmethod
    def by_steps(unit: int, steps: Array) -> Moves:
        """Moves of one unit by steps."""
        count = len(steps)
        nothing = np.full(count, np.nan)
        return Moves(np.full(count, unit), nothing, steps, np.zeros(count, int))

    def take(self, entries: Sequence[int]) -> Moves:
        """Some of the moves."""
        return Moves(*(part[list(entries)] for part in self))

    def joined(self, other: Moves) -> Moves:
        """These moves, then others."""
        return Moves(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))

    def targets(self, space: Space) -> tuple[Array, Array, Array]:
        """What each move makes of each row, whether it may, and whether it changes nothing.

        Each is (Q, A). A step that leaves the training range may not be made.
        """
        own = space.queries[:, self.unit]
        at = np.arange(len(space))[:, None]
        value = self._values(own)
        lawful = np.zeros(own.shape, bool)
        for place in np.unique(self.unit):
            mine, unit = np.flatnonzero(self.unit == place), space.units[place]
            steps = mine[np.isfinite(self.by[mine])]
            moved = own[:, steps] + self.by[steps]
            inside = (moved >= unit.low) & (moved <= unit.high) & ~special(own[:, steps])
            landed = np.rint(moved) if unit.discrete else space.snap(int(place), moved)
            value[:, steps] = np.where(inside, landed, own[:, steps])
            fits = space.admits_one(np.broadcast_to(at, own[:, mine].shape), place, value[:, mine])
            lawful[:, mine] = fits & space.changeable[:, place, None]
        idle = (value == own) & np.isfinite(self.to)
        return value, lawful, idle

    def _values(self, own: Array) -> Array:
        """What moves to a value make of rows (Q, A): a bound leaves what is beyond it."""
        value = np.array(np.broadcast_to(self.to, own.shape))
        beyond = ~special(own) & ((own - value) * self.side > 0)
        return np.where(beyond, own, value)

    def named(self, space: Space, entry: int) -> Move:
        """A move in the words of the data."""
        unit = space.units[self.unit[entry]]
        columns = [space.ground.schema.columns[member] for member in unit.members]
        if np.isfinite(self.by[entry]):
            return Move(unit.name, by=_step_value(columns[0], float(self.by[entry])))
        if unit.table is not None:
            codes = unit.table[int(self.to[entry])].tolist()
            values = tuple(c.value(code) for c, code in zip(columns, codes, strict=True))
            return Move(unit.name, to=values)
        value = columns[0].value(float(self.to[entry]))
        if not self.side[entry]:
            return Move(unit.name, to=value)
        up = self.side[entry] > 0
        return Move(unit.name, at_least=value) if up else Move(unit.name, at_most=value)


NO_MOVES = Moves(np.zeros(0, int), np.zeros(0), np.zeros(0), np.zeros(0, int))


def common_moves(space: Space) -> Moves:
    """The moves on offer: frequent values, evenly spread bounds, and steps in round numbers."""
    open_ = np.flatnonzero(space.changeable.any(axis=0))
    share = max(4, MOST_MOVES // max(1, len(open_)))
    found = NO_MOVES
    for place in open_.tolist():
        unit = space.units[place]
        steps = _steps(unit, space.ground.schema.columns[unit.members[0]], share // 4)
        room = min(MOST_VALUES, share - len(steps))
        if unit.joint or not unit.ordered or len(unit.seen) < 3:
            found = found.joined(Moves.to_values(place, _values(space, place, room)))
        else:
            values = _values(space, place, max(2, room // 2 + 1))
            found = found.joined(Moves.to_values(place, values[1:], 1))
            found = found.joined(Moves.to_values(place, values[:-1], -1))
        found = found.joined(Moves.by_steps(place, steps))
    return found


def smaller(space: Space, moves: Moves, entry: int) -> Moves:
    """A move of a number and those that move less in the same way, the least first.

    Bounds are values seen in training, or what the constraints allow; steps are on the grid.
    """
    place = int(moves.unit[entry])
    unit = space.units[place]
    if np.isfinite(moves.by[entry]):
        sizes = _sizes(abs(float(moves.by[entry])), unit)
        return Moves.by_steps(place, np.sign(moves.by[entry]) * sizes)
    side, bound = int(moves.side[entry]), float(moves.to[entry])
    values = _values(space, place, len(unit.seen))
    less = values[(bound - values) * side > 0]
    return Moves.to_values(place, np.append(less if side > 0 else less[::-1], bound), side)


def _sizes(size: float, unit: Unit) -> Array:
    """Sizes of steps up to one, in at most two digits and on the grid."""
    grid = 1.0 if unit.discrete else unit.step
    ladder = np.array([float(f"{part:.2g}") for part in np.linspace(0, size, 51)[1:-1]])
    on_grid = np.round(ladder / grid) * grid if grid else ladder
    return np.append(np.unique(on_grid[(on_grid > 0) & (on_grid < size)]), size)


def _values(space: Space, place: int, most: int) -> Array:
    """Values of a unit that an action may set, at most `most`."""
    unit = space.units[place]
    seen, counts = unit.seen, unit.counts
    if not unit.joint:
        column = unit.members[0]
        low, high = space.bounds.floor[:, column].min(), space.bounds.ceiling[:, column].max()
        inside = (seen >= low) & (seen <= high)
        seen, counts = seen[inside], counts[inside]
        if column in space.bounds.menus and space.bounds.menus[column].bound.all():
            seen = space.bounds.menus[column].values
            counts = np.ones(len(seen), int)
    if len(seen) <= most:
        return seen
    if unit.discrete and not unit.ordered:
        return np.sort(seen[np.lexsort((seen, -counts))[:most]])
    below = np.cumsum(counts)
    return seen[np.unique(np.searchsorted(below, np.linspace(1, below[-1], most)))]


def _steps(unit: Unit, column: Column, most: int) -> Array:
    """Steps down and up, in round numbers; a category with an order steps by levels."""
    if unit.joint or column.kind == "categorical" or len(unit.seen) < 3:
        return np.zeros(0)
    if unit.discrete:
        sizes = np.arange(1.0, min(most, len(unit.seen) - 1, 2) + 1)
    else:
        below = np.cumsum(unit.counts) / unit.counts.sum()
        low, high = unit.seen[np.searchsorted(below, [0.05, 0.95])]
        spread = float(high - low) or float(unit.seen[-1] - unit.seen[0])
        shares = STEPS[-max(1, min(most, len(STEPS))) :]
        sizes = np.unique([_rounded(share * spread, unit.step, column) for share in shares])
    return np.concatenate([-sizes[::-1], sizes])


def _rounded(size: float, grid: float, column: Column) -> float:
    """The 1, 2 or 5 next to a size, times a power of ten, on the grid; days for longer times."""
    scale = DAY if column.kind == "datetime" and size >= DAY else 1.0
    power = 10.0 ** floor(log10(size / scale))
    nearest = min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(digit * power - size / scale))
    rounded = float(f"{nearest * power:.1g}") * scale
    return max(grid, round(rounded / grid) * grid) if grid else rounded


def _step_value(column: Column, by: float) -> Any:
    if column.kind == "datetime":
        return timedelta(seconds=by)
    return int(by) if column.integer or column.discrete else float(f"{by:.12g}")
