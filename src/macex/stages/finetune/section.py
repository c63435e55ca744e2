"""Deterministic fine-tuning: a grid between the value and the query's own, a model call a round.

Every round tries, for each example, points on a line from what is known to fail to the present
value, one column at a time and all together, and to take each change back altogether. The best
point that still reaches the goal becomes the example; the next round looks closer.

A column that follows its causes may undo what was done. So an intervention may cost less if it
also holds a column: what is set no longer follows. That sets it one step of its grid beside the
row's own value, which costs next to nothing. A column without a grid has steps of a
hundred-thousandth of its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import floor, log10
from typing import NamedTuple

import numpy as np

from macex.ask.answers import Verdict
from macex.errors import require_counts
from macex.schema import Array, special
from macex.stages.arrays import counted, rank_within, spread_over
from macex.stages.shapes import Candidates, Pool, Task

PASSED = 4  # every so many points on a line are kept
STRIPS = 12  # further rounds that only take changes back


class _Trials(NamedTuple):
    """Rows to be tried: which example each belongs to and which unit it moves (-1 for several)."""

    codes: Array  # (n, U)
    example: Array  # (n,)
    unit: Array  # (n,)


@dataclass(frozen=True, slots=True)
class Section:
    """Move numbers back toward the query as far as the goal allows.

    `points` on every line, at most `rounds` rounds (one model call each).
    """

    points: int = 24
    rounds: int = 3

    def __post_init__(self) -> None:
        require_counts(self, "points", "rounds")

    def __call__(self, task: Task, pool: Pool) -> Pool:
        """The pool with every example as near to its query as it goes."""
        return self.on_the_way(task, pool)[0]

    def on_the_way(self, task: Task, pool: Pool) -> tuple[Pool, Pool]:
        """The same, and some points that were passed: farther from the query, but more usual."""
        passed = [Pool.empty(task.space.width)]
        codes, progress = pool.codes.copy(), pool.progress.copy()
        fence = task.queries[pool.at]  # (E, U) up to here the goal is not reached
        numbers = task.space.moved_numbers(pool.codes, pool.at)
        moved = np.ones(len(pool), bool)
        for turn in range(self.rounds + STRIPS):
            if task.judge.late:
                break
            changed = codes != task.queries[pool.at]
            if turn < self.rounds:
                trials = self._trials(task, pool.at, codes, fence, numbers, moved)
            else:  # changes that are still needless are taken back, one a round
                trials = _taken_back(task, pool.at, codes, changed, moved)
            if not len(trials.example):
                break
            at = pool.at[trials.example]
            verdict = task.judge(trials.codes, at)
            if not turn:
                passed.append(_passed(trials, at, verdict.reached, verdict.progress))
            held = verdict.reached & _steady(task, trials, at, verdict, codes, progress)
            best = _best(task, trials, at, held, codes, pool.at)
            moved = np.zeros(len(pool), bool)
            moved[trials.example[best]] = True
            if turn >= self.rounds:  # from now on only taking back counts as moving
                fewer = (trials.codes[best] != task.queries[at[best]]).sum(axis=1)
                moved[trials.example[best]] = fewer < changed[trials.example[best]].sum(axis=1)
            _raise_fences(trials, held, fence, codes)
            codes[trials.example[best]] = trials.codes[best]
            progress[trials.example[best]] = verdict.progress[best]
        return Pool(pool.at, codes, progress), Pool.join(passed, task.space.width)

    def _trials(
        self, task: Task, at: Array, codes: Array, fence: Array, numbers: Array, moved: Array
    ) -> _Trials:
        """Lines wherever a fence leaves room; joint moves for examples that just moved."""
        changed = codes != task.queries[at]
        step = np.maximum([unit.step for unit in task.space.units], held_steps(task))
        roomy = numbers & changed & (np.abs(codes - fence) > step)
        lines = [self._lines(task, at, codes, fence, roomy)] if roomy.any() else []
        several = np.flatnonzero((counted(changed & numbers) > 1) & moved)
        if len(several):
            lines.append(self._diagonal(task, at, codes, fence, changed & numbers, several))
        fewer = _taken_back(task, at, codes, changed, moved)  # comes first where rows are short
        lines.insert(0 if task.judge.capped else len(lines), fewer)
        return _Trials(*(np.concatenate(parts) for parts in zip(*lines, strict=True)))

    def _lines(self, task: Task, at: Array, codes: Array, fence: Array, roomy: Array) -> _Trials:
        """Points between the fence and the present value, of each unit where there is room."""
        place, who = np.nonzero(roomy.T)
        low, high = fence[who, place][:, None], codes[who, place][:, None]
        share = np.arange(1, self.points + 1) / (self.points + 1)
        usable = ~special(low)
        points = np.where(usable, low + share * (high - low), high)
        fresh = np.repeat(usable, self.points, axis=1)
        ends = np.cumsum(counted(roomy.T))
        for unit in np.flatnonzero(roomy.any(axis=0)).tolist():
            mine = slice(ends[unit - 1] if unit else 0, ends[unit])
            points[mine] = task.space.snap(unit, points[mine])
            if not task.space.plain:  # else any number between two others may be set
                fresh[mine] &= task.space.admits_one(at[who[mine]][:, None], unit, points[mine])
        fresh &= (points > np.minimum(low, high)) & (points < np.maximum(low, high))
        fresh &= points != task.queries[at[who], place][:, None]
        fresh[:, 1:] &= points[:, 1:] != points[:, :-1]
        line, column = np.nonzero(fresh)
        rows = codes.take(who[line], axis=0)
        rows[np.arange(len(line)), place[line]] = points[line, column]
        return _Trials(rows, who[line], place[line])

    def _diagonal(
        self, task: Task, at: Array, codes: Array, fence: Array, moving: Array, who: Array
    ) -> _Trials:
        """Points where all numbers of an example move together."""
        rows, example = [], []
        for share in np.arange(1, 4) / 4:
            row = codes[who].copy()
            for place in np.flatnonzero(moving[who].any(axis=0)):
                mine = moving[who, place] & ~special(fence[who, place])
                point = fence[who, place] + share * (row[:, place] - fence[who, place])
                point = task.space.snap(int(place), np.where(mine, point, row[:, place]))
                ok = mine & task.space.admits_one(at[who], int(place), point)
                row[:, place] = np.where(ok, point, row[:, place])
            rows.append(row)
            example.append(who)
        joined, owner = np.concatenate(rows), np.concatenate(example)
        fresh = (joined != codes[owner]).any(axis=1)
        return _Trials(joined[fresh], owner[fresh], np.full(int(fresh.sum()), -1))


def _steady(
    task: Task, trials: _Trials, at: Array, verdict: Verdict, codes: Array, progress: Array
) -> Array:
    """Which trials are as stable as their example, or make up for it by fewer changes."""
    if task.band is None:
        return np.ones(len(at), bool)
    now = progress[trials.example]
    needed = np.minimum(now, task.band[at])
    fewer = counted(trials.codes != task.queries[at]) < counted(
        codes[trials.example] != task.queries[at]
    )
    return fewer | (verdict.progress >= needed)


def _passed(trials: _Trials, at: Array, reached: Array, progress: Array) -> Pool:
    """Some of the points on a line that reach the goal, evenly spaced."""
    good = np.flatnonzero(reached & (trials.unit >= 0))
    turn = rank_within(trials.example[good] * trials.codes.shape[1] + trials.unit[good])
    good = good[turn % PASSED == 0]
    return Pool(at[good], trials.codes[good], progress[good])


def _taken_back(task: Task, at: Array, codes: Array, changed: Array, moved: Array) -> _Trials:
    """One change undone at a time, where more than one was made."""
    example, place = np.nonzero(changed & (moved & (counted(changed) > 1))[:, None])
    rows = codes[example]
    rows[np.arange(len(example)), place] = task.queries[at[example], place]
    return _Trials(rows, example, np.full(len(example), -1))


def _best(
    task: Task, trials: _Trials, at: Array, reached: Array, codes: Array, owner: Array
) -> Array:
    """The trial each example moves to: fewer changes, or as many and nearer; at most one each."""
    good = np.flatnonzero(reached)
    if not len(good):
        return good
    example = trials.example[good]
    changes = counted(task.space.changed(trials.codes[good], at[good]))
    distance = task.measure(trials.codes[good], at[good])
    now_changes = counted(task.space.changed(codes, owner))[example]
    now_distance = task.measure(codes, owner)[example]
    better = (changes < now_changes) | (
        (changes == now_changes) & (distance < now_distance - 1e-12)
    )
    if task.prefer == "nearest":
        better = distance < now_distance - 1e-12
        changes = np.zeros_like(changes)
    good, example = good[better], example[better]
    rank = rank_within(example, changes[better], distance[better], np.arange(len(good)))
    return good[rank == 0]


def _raise_fences(trials: _Trials, reached: Array, fence: Array, codes: Array) -> None:
    """Move each fence to the last point before the first one that reaches the goal."""
    single = trials.unit >= 0
    example, unit = trials.example[single], trials.unit[single]
    point, ok = trials.codes[single, :][np.arange(single.sum()), unit], reached[single]
    away = np.abs(point - fence[example, unit])
    slot = example * codes.shape[1] + unit
    nearest_ok = np.full(codes.size, np.inf)
    np.minimum.at(nearest_ok, slot[ok], away[ok])
    fails = ~ok & (away < nearest_ok[slot])
    last = np.full(codes.size, -np.inf)
    np.maximum.at(last, slot[fails], away[fails])
    final = fails & (away == last[slot])
    fence[example[final], unit[final]] = point[final]


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
