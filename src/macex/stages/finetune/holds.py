"""Interventions that hold columns where they are: what is set no longer follows.

A column that follows its causes may undo what was done. So an intervention may cost less if it also
holds a column: that sets it one step of its grid beside the row's own value, which costs next to
nothing. A column without a grid has steps of a hundred-thousandth of its range.
"""

from __future__ import annotations

from itertools import combinations
from math import floor, log10

import numpy as np

from macex.schema import Array, special
from macex.stages.arrays import spread_over
from macex.stages.shapes import Candidates, Pool, Task

MOST_HELD = 3  # columns beside one change
MOST_SETS = 300  # of held columns, of all units together
VALUES = 12  # of a unit beside which columns are held
MOST_TRIED = 1200  # rows of a query
DIGITS = 5  # of a range, where a column has no grid


def held(task: Task, candidates: Candidates) -> Pool:
    """Single changes that reach the goal where some of what would follow is held."""
    drivers = {unit: sets for unit, sets in _holdable(task).items() if sets}
    rows, at = [task.queries[:0]], [np.zeros(0, np.intp)]
    each = MOST_TRIED // max(1, sum(map(len, drivers.values())))
    for unit, sets in drivers.items():
        codes, whose = _values(task, candidates, unit, min(VALUES, max(2, each)))
        moved = task.space.columns(codes, whose)
        for places in sets:
            beside, fits = _beside(task, codes, whose, moved, places)
            fits &= task.max_changes[whose] > len(places)
            rows.append(beside[fits])
            at.append(whose[fits])
    tried, whose = np.concatenate(rows), np.concatenate(at)
    if not len(whose):
        return Pool.empty(task.space.width)
    verdict = task.judge(tried, whose)
    good = np.flatnonzero(verdict.reached)
    return Pool(whose[good], tried[good], verdict.progress[good])


def held_further(task: Task, pool: Pool) -> Pool:
    """Examples that hold one more column than those of a pool, and come farther by that."""
    moved, rows, origin = (
        task.space.columns(pool.codes, pool.at),
        [pool.codes[:0]],
        [np.zeros(0, np.intp)],
    )
    room = task.space.changed(pool.codes, pool.at).sum(axis=1) < task.max_changes[pool.at]
    for place in np.flatnonzero(held_steps(task)).tolist():
        unset = room & (pool.codes[:, place] == task.queries[pool.at, place])
        beside, fits = _beside(task, pool.codes, pool.at, moved, (place,))
        chosen = np.flatnonzero(unset & fits)
        rows.append(beside[chosen])
        origin.append(chosen)
    tried, whose = np.concatenate(rows), np.concatenate(origin)
    if not len(whose):
        return Pool.empty(task.space.width)
    verdict = task.judge(tried, pool.at[whose])
    good = np.flatnonzero(verdict.reached & (verdict.progress > pool.progress[whose]))
    return Pool(pool.at[whose[good]], tried[good], verdict.progress[good])


def held_steps(task: Task) -> Array:
    """By how much each unit that has causes differs from its own value while it is held, (U,)."""
    found = np.zeros(task.space.width)
    for place, unit in enumerate(task.space.units):
        if unit.members[0] in task.space.caused and not unit.discrete:
            span = unit.high - unit.low
            fine = 10.0 ** (floor(log10(span)) + 1 - DIGITS) if span > 0 else 0.0
            found[place] = unit.step or fine
    return found


def _holdable(task: Task) -> dict[int, list[tuple[int, ...]]]:
    """By unit, which sets of units that follow from it may be held beside it."""
    space = task.space
    place = {column: at for at, unit in enumerate(space.units) for column in unit.members}
    found: dict[int, list[tuple[int, ...]]] = {}
    for driver, unit in enumerate(space.units):
        reached = set(unit.members)
        for column, formula in space.derived:
            if reached.intersection(formula.columns):
                reached.add(column)
        follow = sorted(
            place[column]
            for column in reached & set(space.caused)
            if place[column] != driver and not space.units[place[column]].discrete
        )
        found[driver] = [
            places for size in range(1, MOST_HELD + 1) for places in combinations(follow, size)
        ]
    most = max(1, MOST_SETS // max(1, sum(map(bool, found.values()))))
    return {driver: sets[:most] for driver, sets in found.items()}


def _values(task: Task, candidates: Candidates, unit: int, most: int) -> tuple[Array, Array]:
    """Rows with single changes of a unit, spread over all that are on offer for it, both ends too.

    The ends are tried, as the goal may lie beyond all others.
    """
    mine = np.flatnonzero(candidates.unit == unit)
    value, chosen = candidates.value[:, mine], np.zeros_like(candidates.real)
    offered = candidates.real[:, mine] & candidates.allowed[:, mine]
    offered &= task.space.changeable[:, [unit]]
    low = value.min(axis=1, where=offered, initial=np.inf, keepdims=True)
    high = value.max(axis=1, where=offered, initial=-np.inf, keepdims=True)
    ends = offered & ((value == low) | (value == high))
    chosen[:, mine] = ends | spread_over(offered, max(1, most - 2))
    codes, at, _ = candidates.rows(task.queries, chosen)
    return codes, at


def _beside(
    task: Task, codes: Array, at: Array, moved: Array, places: tuple[int, ...]
) -> tuple[Array, Array]:
    """Rows with some units held against what follows (n, d), and which may be so, (n,) bool."""
    space, steps, rows = task.space, held_steps(task), codes.copy()
    fits = np.ones(len(at), bool)
    for place in places:
        (column,) = space.units[place].members
        own = task.queries[at, place]
        away = np.where(moved[:, column] > own, -1.0, 1.0)
        fits &= ~special(own) & space.changeable[at, place] & (moved[:, column] != own)
        value, fine = own.copy(), np.zeros(len(at), bool)
        for sign in (away, -away):
            beside = space.snap(place, own + sign * steps[place])
            free = ~fine & (beside != own) & space.admits_one(at, place, beside)
            value, fine = np.where(free, beside, value), fine | free
        rows[:, place] = value
        fits &= fine
    return rows, fits
