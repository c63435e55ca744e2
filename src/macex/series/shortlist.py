"""Thousands of channels: which of them are worth a closer look.

A query whose neighbors offer more single channels than can be scored is narrowed first. Groups of
channels are taken over together, and given back together from the whole nearest neighbor; those
that matter most are halved until single channels are left. That costs a few hundred rows, whatever
the number of channels. Where no such channel suffices alone, every channel of the nearest neighbor
is scored once, and those that go farthest are kept, too.
"""

from __future__ import annotations

import numpy as np

from macex.models.judge import Judge
from macex.schema import Array
from macex.series.mixtures import SeriesAsker
from macex.stages.shapes import Candidates, Task

WIDE = 2400  # single channels of a query, up to which all of them are scored
GROUPS = 32  # that the channels are cut into at first
BEST = 6  # of them are halved, again and again
KEPT = 64  # channels that go farthest alone
CELLS = 4_000_000  # codes that are laid out at once


def wide(every: Candidates, open_: Array) -> Array:
    """The queries whose channels are too many to be scored one by one, (Q,) bool."""
    return np.asarray(open_ & (every.real.sum(axis=1) > WIDE))


def narrowed(task: Task, every: Candidates, queries: Array) -> Candidates:
    """The candidates, of which some `queries` (Q,) bool keep only the most promising channels."""
    if not queries.any():
        return every
    real = every.real.copy()
    for query in np.flatnonzero(queries):
        units, enough = _halved(task, every, int(query))
        kept = np.isin(every.unit, units)
        if not enough:
            far = _farthest(task, every, int(query))
            kept |= np.isin(every.unit, far) & (every.value[query] == 1)
        real[query] &= kept
    used = real.any(axis=0)
    return Candidates(every.unit[used], every.value[:, used], real[:, used], real[:, used])


def _halved(task: Task, every: Candidates, query: int) -> tuple[Array, bool]:
    """The channels that halving leads to, and whether enough of them suffice alone."""
    found: list[Array] = [np.zeros(0, int)]
    enough: set[int] = set()
    for rank in np.unique(every.value[query, every.real[query]]):
        mine = every.unit[every.real[query] & (every.value[query] == rank)]
        for taken in (True, False) if rank == 1 else (True,):
            units, reached = _descended(task, query, float(rank), mine, taken=taken)
            found.append(units)
            enough |= set(reached.tolist())
    return np.unique(np.concatenate(found)), len(enough) >= task.count


def _descended(
    task: Task, query: int, rank: float, units: Array, *, taken: bool
) -> tuple[Array, Array]:
    """The single channels of a neighbor that matter most, and those that suffice alone.

    Groups are `taken` over into the case, or given back from the whole neighbor.
    """
    own = task.queries[query]
    start, value = own.copy(), rank
    if not taken:
        start[units] = rank
    groups, reached = np.array_split(units, min(GROUPS, len(units))), [np.zeros(0, int)]
    while groups and not task.judge.late:
        rows = np.repeat(start[None], len(groups), axis=0)
        for row, group in zip(rows, groups, strict=True):
            row[group] = value if taken else own[group]
        verdict = task.judge(rows, np.full(len(rows), query))
        single = np.array([len(group) == 1 for group in groups])
        if taken:
            hits = np.flatnonzero(single & verdict.reached)
            reached += [groups[at] for at in hits]
        worth = verdict.progress if taken else -verdict.progress
        best = np.lexsort((np.arange(len(groups)), -worth))[: 2 * BEST if single.all() else BEST]
        if single.all():
            return np.concatenate([groups[at] for at in best]), np.concatenate(reached)
        groups = [part for at in sorted(best.tolist()) for part in _cut(groups[at])]
    return np.concatenate([np.zeros(0, int), *reached]), np.concatenate(reached)


def _cut(group: Array) -> list[Array]:
    """A group in two halves; a single channel stays."""
    return [part for part in np.array_split(group, 2) if len(part)]


def _farthest(task: Task, every: Candidates, query: int) -> Array:
    """The channels of the nearest neighbor that go farthest alone."""
    mine = every.real[query] & (every.value[query] == 1)
    progress = _alone(task, query, every.unit[mine])
    best = np.argsort(-progress, kind="stable")[:KEPT]
    return best[np.isfinite(progress[best])]


def gains(task: Task, candidates: Candidates) -> Array:
    """How far each unit of the nearest neighbor goes alone, (Q, U); a bounded number at once."""
    at, entry = np.nonzero(candidates.real & (candidates.value == 1))
    gain = np.full((len(task.queries), task.space.width), -np.inf)
    step = max(1, CELLS // task.space.width)
    for first in range(0, len(at), step):
        whose, unit = at[first : first + step], candidates.unit[entry[first : first + step]]
        codes = task.queries.take(whose, axis=0)
        codes[np.arange(len(whose)), unit] = 1.0
        gain[whose, unit] = task.judge(codes, whose).progress
    return gain


def _one_by_one(task: Task, query: int, units: Array) -> Array:
    """The same by rows of codes."""
    shape = (len(task.queries), len(units))
    real = np.zeros(shape, bool)
    real[query] = True
    return np.asarray(gains(task, Candidates(units, np.ones(shape), real, real))[query])


def _alone(task: Task, query: int, units: Array) -> Array:
    """The progress of a query that takes one unit of its nearest neighbor each, (U,)."""
    judge, gain = task.judge, np.full(task.space.width, -np.inf)
    members = [task.space.units[unit].members for unit in units]
    if isinstance(judge, Judge) and isinstance(judge.asker, SeriesAsker):
        units = units[: max(0, int(judge.limit[query] - judge.spent[query]))]
        if len(units) and all(len(one) == 1 for one in members) and not judge.late:
            channels = np.array([one[0] for one in members[: len(units)]])
            try:
                answers = judge.asker.swapped(query, channels, 1)
            except Exception:  # noqa: BLE001 - asked again, row by row, which finds the fault
                return _one_by_one(task, query, units)
            whose = np.full(len(units), query)
            judge.count(whose)
            gain[units] = judge.goals.judge(answers, whose).progress
            return gain
    return _one_by_one(task, query, units)
