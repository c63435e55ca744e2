"""Wide tables: which units are worth trying one by one.

Where a query could be offered more than `WIDE` single changes, most units do not matter to the
model, or matter little. So units are tested in groups first. A group is tested by changing all of
its units together: to other seen values, to those of the nearest row that meets the goal, and from
those back to the query's own, which shows a unit that counts only beside others. Where the score
moves most the group is halved, until single units are left. The units that tell most about the
scores of training rows are tested one by one. That takes some hundred rows, whatever the width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.ask.space import Space
from macex.schema import Array, special
from macex.stages.arrays import highest, rank_within
from macex.stages.shapes import Candidates, Task
from macex.stages.spread import admitted

WIDE = 2000  # single changes up to which all of them are offered
TELLING = 64  # units that are tested one by one
GROUPS = 32  # that all others are cut into at first
BEST = 8  # of them are halved, again and again
KEPT = 16  # of the single units that halving leads to
CELLS = 4_000_000  # codes that are laid out at once
STEPS = 20_000  # training rows times scores that are looked at for each unit


class GroupProbes(NamedTuple):
    """Ways to test units: from `start` to `value`, (P, Q, U); `base` is the start's progress."""

    start: Array  # (P, Q, U)
    value: Array  # (P, Q, U)
    base: Array  # (P, Q)


def wide(space: Space, singles: Array) -> Array:
    """The queries whose units have too many `singles` (Q, U) to be tried one by one, (Q,) bool."""
    return np.asarray((singles * space.changeable).sum(axis=1) > WIDE)


def telling(values: Array, scores: Array) -> Array:
    """How much of the variance of scores (T, K) each column of values (T, U) explains, (U,).

    The best of the K scores counts, and the share is adjusted for the number of values.

    >>> telling(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), np.array([[0.0], [1.0], [0.0], [1.0]]))
    array([1., 0.])
    """
    count = len(scores)
    step = -(-count * scores.shape[1] // STEPS) if count else 1
    values, scores = values[::step], scores[::step]
    count = len(scores)
    centred = scores - scores.mean(axis=0) if count else scores
    total = np.maximum((centred**2).sum(axis=0), 1e-12)
    found = np.zeros(values.shape[1])
    for unit, column in enumerate(values.T):
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        first = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if count else order
        if 1 < len(first) < count:
            sums = np.add.reduceat(centred[order], first, axis=0)
            sizes = np.diff(np.r_[first, count])
            share = ((sums**2 / sizes[:, None]).sum(axis=0) / total).max()
            found[unit] = max(0.0, 1 - (1 - share) * (count - 1) / (count - len(first)))
    return found.round(9)


def screened(
    task: Task, ends: Candidates, nearest: Array, real: Array, told: Array, queries: Array
) -> Array:
    """The units that some `queries` (Q,) bool are offered changes of, (Q, U) bool.

    `ends` are two values of each unit, `nearest` (Q, U) is the nearest row that meets each goal,
    where there is one (`real`), and `told` (U,) says how telling units are in training. Other
    queries keep all they may change.
    """
    space, open_ = task.space, task.space.changeable & queries[:, None]
    probes = _probes(task, ends, nearest, real, open_)
    label, singles = _first_groups(open_, told)
    kept = space.changeable & ~open_
    while (label >= 0).any() and not task.judge.late:
        worth = _worth(task, probes, label)
        alone = _alone(label, worth.shape[1])
        if singles:  # the most telling units are kept if they matter at all
            strong = np.arange(worth.shape[1]) < TELLING
            kept |= _members(label, alone & strong & (worth > 0))
            worth = np.where(strong, 0.0, worth)
            singles = 0
        best = _best(worth, KEPT if (alone | (worth <= 0)).all() else BEST)
        kept |= _members(label, best & alone)
        label = _halved(label, best & ~alone)
    return np.asarray(kept)


def _probes(task: Task, ends: Candidates, nearest: Array, real: Array, open_: Array) -> GroupProbes:
    """Two values seen, the nearest row's, and the way back from those."""
    space = task.space
    own = space.queries
    fits = open_ & real[:, None] & ~special(nearest) & (nearest != own)
    if not space.plain:
        for place in np.flatnonzero(fits.any(axis=0)):
            fits[:, place] &= admitted(space, int(place), nearest[:, place, None])[:, 0]
    near = np.where(fits, nearest, own)
    at = np.flatnonzero(fits.any(axis=1))
    away = task.base.copy()
    if len(at):
        away[at] = task.judge(near[at], at, probe=True, told=False).progress
    return GroupProbes(
        np.stack([own, own, own, near]),
        np.stack([_last(ends, own, open_), _last(ends, own, open_, turn=-1), near, own]),
        np.stack([task.base, task.base, task.base, away]),
    )


def _last(ends: Candidates, own: Array, open_: Array, turn: int = 1) -> Array:
    """The last value that is on offer of each unit, or the first, (Q, U); else the own one."""
    found, order = own.copy(), np.arange(len(ends.unit))[::turn]
    place = rank_within(ends.unit, turn * np.arange(len(ends.unit)))
    for number in range(int(place.max(initial=-1)) + 1):
        mine = order[place[order] == number]
        units = ends.unit[mine]
        found[:, units] = np.where(ends.real[:, mine], ends.value[:, mine], found[:, units])
    return np.where(open_, found, own)


def _first_groups(open_: Array, told: Array) -> tuple[Array, int]:
    """The group of each unit, (Q, U), -1 for none: the most telling ones are alone in theirs."""
    label = np.full(open_.shape, -1)
    ranked = highest(np.where(open_, told, -1.0), min(TELLING, open_.shape[1]))
    line = np.arange(len(open_))[:, None]
    tells = open_[line, ranked] & (told[ranked] > 0)
    label[line, ranked] = np.where(tells, np.arange(ranked.shape[1]), -1)
    weak = open_ & (label < 0)
    size = weak.sum(axis=1, keepdims=True)
    place = np.cumsum(weak, axis=1) - 1
    label[weak] = (TELLING + place * np.minimum(GROUPS, size) // np.maximum(1, size))[weak]
    return label, TELLING


def _worth(task: Task, probes: GroupProbes, label: Array) -> Array:
    """How far each group moves the score at most, (Q, G); 0 where nothing was asked."""
    there = np.zeros((len(label), int(label.max()) + 1), bool)
    at, unit = np.nonzero(label >= 0)
    there[at, label[at, unit]] = True
    whose, group = np.nonzero(there)
    place = (np.cumsum(there).reshape(there.shape) - 1)[at, label[at, unit]]
    order = np.argsort(place, kind="stable")  # the units group by group
    at, unit, place = at[order], unit[order], place[order]
    worth = np.zeros(there.shape)
    step = max(1, CELLS // (len(probes.base) * label.shape[1]))
    for first in range(0, len(whose), step):
        query, mine = whose[first : first + step], group[first : first + step]
        part = slice(*np.searchsorted(place, [first, first + step]))
        rows, asked = _changed(probes, query, place[part] - first, at[part], unit[part])
        if not len(asked) or task.judge.late:
            continue
        kind, turn = np.divmod(asked, len(query))
        progress = task.judge(rows, query[turn], probe=True, told=False).progress
        moved = np.abs(progress - probes.base[kind, query[turn]])
        moved[~np.isfinite(moved)] = 0.0
        np.maximum.at(worth, (query[turn], mine[turn]), moved)
    return worth


def _changed(
    probes: GroupProbes, query: Array, turn: Array, at: Array, unit: Array
) -> tuple[Array, Array]:
    """Groups changed in every way that changes them: rows (m, U), and their places in (P, n).

    Group n is one of `query` (n,). Its units are the `unit` whose `turn` is n; they are `at` the
    same query.
    """
    width = probes.start.shape[2]
    before, after = probes.start[:, at, unit], probes.value[:, at, unit]
    kind, entry = np.nonzero(before != after)
    differs = np.zeros((len(before), len(query)), bool)
    differs[kind, turn[entry]] = True
    asked = np.flatnonzero(differs)
    from_ = (asked // len(query)) * probes.start.shape[1] + query[asked % len(query)]
    rows = probes.start.reshape(-1, width).take(from_, axis=0)
    line = np.cumsum(differs).reshape(differs.shape) - 1
    rows[line[kind, turn[entry]], unit[entry]] = after[kind, entry]
    return rows, asked


def _alone(label: Array, count: int) -> Array:
    """Which groups are single units, (Q, G) bool."""
    at, unit = np.nonzero(label >= 0)
    sizes = np.bincount(at * count + label[at, unit], minlength=len(label) * count)
    return np.asarray(sizes.reshape(len(label), count) == 1)


def _best(worth: Array, most: int) -> Array:
    """The groups that move the score most, (Q, G) bool; ties by position."""
    chosen = np.zeros(worth.shape, bool)
    best = highest(worth, min(most, worth.shape[1]))
    np.put_along_axis(chosen, best, values=True, axis=1)
    return chosen & (worth > 0)


def _members(label: Array, groups: Array) -> Array:
    """The units of some groups (Q, G) bool, (Q, U) bool."""
    found: Array = np.take_along_axis(groups, np.maximum(label, 0), axis=1) & (label >= 0)
    return found


def _halved(label: Array, groups: Array) -> Array:
    """The units of some groups (Q, G) bool in groups half as large; no others."""
    at, unit = np.nonzero(_members(label, groups))
    mine = label[at, unit]
    number = np.cumsum(groups, axis=1)[at, mine] - 1
    key = at * groups.shape[1] + mine
    size = np.bincount(key, minlength=1)[key]
    halved = np.full(label.shape, -1)
    halved[at, unit] = 2 * number + (2 * rank_within(key, unit) >= size)
    return halved
