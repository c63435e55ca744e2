"""Trades between the numbers of an example: more of a cheap change for less of a dear one.

Where several numbers are set, the nearest point that reaches the goal need not lie on a line from
one of them to the row. What is taken back of one number is made up for by as much more of another,
as their slopes have it: two model calls a round for all queries.
"""

from __future__ import annotations

import numpy as np

from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.finetune.section import held_steps
from macex.stages.shapes import Pool, Task

ROUNDS = 4
PROBE = 0.05  # of a change, by which its slope is known
BACK = np.array([1.0, 0.5, 0.25, 0.1])  # how much of a change is taken back
FORTH = np.array([1.0, 1.02, 1.1, 1.3])  # how much more of the other is done than slopes say

SHORT = np.array([1.0, 0.98, 0.9])  # the same, where the other goes to the end of its range


def traded(task: Task, pool: Pool) -> Pool:
    """Examples in which more of one change makes up for less of another, where that is nearer."""
    codes, progress = pool.codes.copy(), pool.progress.copy()
    for _ in range(ROUNDS):
        moving = task.space.moved_numbers(codes, pool.at)
        moving[moving.sum(axis=1) < 2] = False
        if not moving.any() or task.judge.late:
            break
        gain, cost = _slopes(task, pool.at, codes, progress, moving)
        parts = [
            _trades(task, pool.at, codes, progress, gain, cost),
            _released(task, pool.at, codes, moving),
            _lessened(task, pool.at, codes, progress, gain),
        ]
        rows, example = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not len(example):
            break
        at = pool.at[example]
        nearer = task.measure(rows, at) < task.measure(codes, pool.at)[example] - 1e-12
        rows, example, at = rows[nearer], example[nearer], at[nearer]
        if not len(example):
            break
        verdict = task.judge(rows, at)
        good = np.flatnonzero(verdict.reached)
        turn = rank_within(example[good], task.measure(rows[good], at[good]), good)
        best = good[turn == 0]
        codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
    return Pool(pool.at, codes, progress)


def _slopes(
    task: Task, at: Array, codes: Array, progress: Array, moving: Array
) -> tuple[Array, Array]:
    """By how much every change of a number brings its example nearer, and what it costs, (E, U)."""
    example, unit = np.nonzero(moving)
    own, now = task.queries[at[example], unit], codes[example, unit]
    rows, alone = codes[example], task.queries[at[example]]
    back = now - PROBE * (now - own)
    for place in np.unique(unit):
        mine = unit == place
        back[mine] = task.space.snap(int(place), back[mine])
    rows[np.arange(len(unit)), unit] = back
    alone[np.arange(len(unit)), unit] = now
    known = (back != now) & (back != own)
    gain, cost = np.zeros(codes.shape), np.zeros(codes.shape)
    less = task.judge(rows[known], at[example[known]]).progress
    share = (now - back)[known] / (now - own)[known]
    with np.errstate(invalid="ignore"):
        slope = (progress[example[known]] - less) / share
    gain[example[known], unit[known]] = np.where(np.isfinite(slope), slope, 0.0)
    cost[example, unit] = task.measure(alone, at[example])
    return gain, cost


def _trades(
    task: Task, at: Array, codes: Array, progress: Array, gain: Array, cost: Array
) -> tuple[Array, Array]:
    """Rows in which some of one change is taken back and more of another is done."""
    rows, owner = [codes[:0]], [np.zeros(0, np.intp)]
    steps, width = held_steps(task), codes.shape[1]
    worth = np.where(cost > 0, gain / np.where(cost > 0, cost, 1.0), 0.0)
    for less in range(width):
        for more in range(width):
            who = np.flatnonzero((worth[:, more] > worth[:, less]) & (gain[:, more] > 0))
            if less == more or not len(who):
                continue
            taken, added = _exchange(
                task, at[who], codes[who], progress[who], gain[who], (less, more)
            )
            count = taken.shape[1]
            many = np.repeat(codes[who], count, axis=0)
            whose = np.repeat(at[who], count)
            for place, share in ((less, 1.0 - taken), (more, 1.0 + added)):
                own = task.queries[whose, place]
                far = codes[np.repeat(who, count), place] - own
                value = own + share.ravel() * far
                beside = own + np.sign(far) * steps[place]
                value = np.where(share.ravel() <= 0, beside, value)
                many[:, place] = task.space.snap(place, value)
            fits = _admitted(task, whose, many, (less, more))
            rows.append(many[fits])
            owner.append(np.repeat(who, count)[fits])
    return np.concatenate(rows), np.concatenate(owner)


def _released(task: Task, at: Array, codes: Array, moving: Array) -> tuple[Array, Array]:
    """Rows without one of the changes each: a column that was set may follow again."""
    example, unit = np.nonzero(moving)
    rows = codes[example]
    rows[np.arange(len(unit)), unit] = task.queries[at[example], unit]
    return rows, example


def _lessened(
    task: Task, at: Array, codes: Array, progress: Array, gain: Array
) -> tuple[Array, Array]:
    """Rows with less of one change each, as far as the progress they have to spare goes."""
    example, unit = np.nonzero((gain > 0) & (progress > 0)[:, None])
    share = np.minimum(progress[example] / gain[example, unit], 1.0)[:, None] * SHORT
    example, unit = np.repeat(example, len(SHORT)), np.repeat(unit, len(SHORT))
    rows, own = codes[example], task.queries[at[example], unit]
    value = own + (1.0 - share.ravel()) * (rows[np.arange(len(unit)), unit] - own)
    for place in np.unique(unit).tolist():
        mine = np.flatnonzero(unit == place)
        rows[mine, place] = task.space.snap(place, value[mine])
    fits = admitted_at(task, at[example], rows, unit)
    return rows[fits], example[fits]


def _exchange(
    task: Task, at: Array, codes: Array, progress: Array, gain: Array, pair: tuple[int, int]
) -> tuple[Array, Array]:
    """How much of one change to take back and of another to add, as shares of them, (e, t) each."""
    less, more = pair
    spare = np.maximum(progress, 0.0)
    unit, own = task.space.units[more], task.queries[at, more]
    far = codes[:, more] - own
    end = np.where(far > 0, unit.high, unit.low)
    room = np.maximum((end - codes[:, more]) / far, 0.0)
    lost = np.maximum(gain[:, less], 1e-12)
    full = np.clip((room * gain[:, more] + spare) / lost, 0.0, 1.0)
    back = np.column_stack([np.tile(BACK, (len(at), 1)), full[:, None] * SHORT])
    need = np.maximum(back * gain[:, [less]] - spare[:, None], 0.0) / gain[:, [more]]
    added = np.minimum((need[:, :, None] * FORTH).reshape(len(at), -1), room[:, None])
    return np.repeat(back, len(FORTH), axis=1), added


def _admitted(task: Task, at: Array, rows: Array, places: tuple[int, ...]) -> Array:
    """Rows whose values at some places may be set, or are the query's own, (n,) bool."""
    fits = np.ones(len(at), bool)
    for place in places:
        own = rows[:, place] == task.queries[at, place]
        fits &= own | task.space.admits_one(at, place, rows[:, place])
    return fits


def admitted_at(task: Task, at: Array, rows: Array, unit: Array) -> Array:
    """The same, each row at a place of its own."""
    fits = np.ones(len(unit), bool)
    for place in np.unique(unit).tolist():
        mine = np.flatnonzero(unit == place)
        fits[mine] = _admitted(task, at[mine], rows[mine], (place,))
    return fits
