"""Stages 1 and 2 joined for series: what neighbours offer, and the searches over it.

The last resort is a whole neighbour, which meets the goal, and the shortest part of it that does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macex.ask.space import Space
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.climb import climbed, regrown
from macex.series.options import SeriesOptions
from macex.series.outcome import SeriesOutcome
from macex.series.shortlist import gains, narrowed, wide
from macex.stages.arrays import highest, rank_within
from macex.stages.search.protocol import Search, by_levels
from macex.stages.shapes import Candidates, Found, Pool, Task

RESERVE = 3000  # rows for the searches that are tried where one finds nothing


def search(outcome: SeriesOutcome) -> SeriesOutcome:
    """Stage 2: the searches, each tried where those before it found nothing."""
    options, task, judge = outcome.fitted.options, outcome.task, outcome.judge
    open_ = np.asarray(task.space.changeable.any(axis=1)) & ~judge.finished
    answered_by = np.array([options.method.name] * len(open_), dtype=object)
    if judge.late:
        return outcome
    first = outcome.fitted.options.candidates.count(outcome.offered.shape[2])
    whole = offers(task, outcome.offered[:, :first])
    many = wide(whole, open_)
    every = narrowed(task, whole, many)
    found: Found | None = None
    for turn, method in enumerate(options.chain()):
        if turn and not open_.any():
            break
        if turn:
            judge.renew(open_, RESERVE)
        part = replace(task, space=task.space.closed(~open_))
        tried = method(part, _candidates(options, method, part, every, open_))
        if found is None:
            found = unclaimed(tried, many)
            open_ &= ~_proved(task, found)
        pools = [found.pool, tried.pool] if turn else [tried.pool]
        if by_levels(method):
            pools += climbed(method, task, judge, every, open_ & ~_answered(task, tried.pool))
            if task.prefer == "fewest":
                pools += regrown(method, task, judge, every, Pool.join(pools, task.space.width))
        found = replace(found, pool=Pool.join(pools, task.space.width))
        answered = _answered(task, found.pool) & open_
        answered_by[answered] = method.name
        open_ &= ~answered & ~judge.finished
    if found is None:
        raise TypeError("there is at least one search")
    if options.fallback and open_.any():
        judge.renew(open_, RESERVE)
        pool = _shortest_part(task, judge, whole, open_)
        answered_by[pool.at] = "nearest case"
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    return replace(outcome, found=found, pool=found.pool, method=answered_by)


def offers(task: Task, offered: Array) -> Candidates:
    """Every channel of every neighbour that may be taken and differs, as single changes."""
    space, count = task.space, offered.shape[1]
    differs = by_unit(space, offered)  # (Q, U, K)
    real = (differs & space.changeable[:, :, None]).reshape(len(space), -1)
    value = np.tile(np.arange(1.0, count + 1), space.width)
    return Candidates(
        np.repeat(np.arange(space.width), count),
        np.broadcast_to(value, real.shape).copy(),
        real,
        real,
    )


def by_unit(space: Space, offered: Array) -> Array:
    """Which units differ, (Q, U, K); a group does where one of its channels does."""
    if all(len(unit.members) == 1 for unit in space.units):
        return offered[:, :, [unit.members[0] for unit in space.units]].transpose(0, 2, 1)
    units = [offered[:, :, list(unit.members)].any(axis=2) for unit in space.units]
    return np.stack(units, axis=1)


def nothing_left(open_: Array, _given: Candidates) -> tuple[Candidates, Array]:
    """No further values: what other cases than the neighbours would do is not asked."""
    return Candidates.empty(len(open_)), np.zeros(len(open_), bool)


def unclaimed(found: Found, queries: Array) -> Found:
    """The same, where nothing is claimed of queries that were narrowed."""
    proved, tried = (np.where(queries, 0, levels) for levels in (found.proved, found.tried))
    return replace(found, proved=proved, tried=tried)


def _answered(task: Task, pool: Pool) -> Array:
    return np.isin(np.arange(len(task.queries)), pool.at)


def _proved(task: Task, found: Found) -> Array:
    """Queries all of whose combinations of candidates were scored and failed."""
    proved: Array = found.tried >= task.max_changes
    return proved


def _candidates(
    options: SeriesOptions, method: Search, task: Task, every: Candidates, open_: Array
) -> Candidates:
    """All offers of the open queries; for a policy search only the channels that go farthest."""
    real = every.real & open_[:, None]
    candidates = replace(every, real=real, allowed=real)
    if method.offered == "all":
        return candidates
    gain = gains(task, candidates)
    best = highest(gain, min(options.candidates.columns, gain.shape[1]))
    keep = np.zeros(gain.shape, bool)
    np.put_along_axis(keep, best, values=True, axis=1)
    real = candidates.real & keep[:, candidates.unit]
    used = real.any(axis=0)
    return Candidates(
        candidates.unit[used], candidates.value[:, used], real[:, used], real[:, used]
    )


def _shortest_part(task: Task, judge: Judge, every: Candidates, open_: Array) -> Pool:
    """The shortest part of a neighbour that reaches the goal, best channels first."""
    part = replace(every, real=every.real & open_[:, None])
    order = np.argsort(-gains(task, part), axis=1, kind="stable")
    codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
    lengths = np.unique(np.round(1.2 ** np.arange(0, 60)).astype(int))
    for query in np.flatnonzero(open_):
        most = min(int(task.max_changes[query]), task.space.width)
        steps = np.append(lengths[lengths < most], most)
        for rank in np.unique(every.value[query]):
            mine = every.unit[every.real[query] & (every.value[query] == rank)]
            line = order[query][np.isin(order[query], mine)]
            rows = np.zeros((len(steps), task.space.width)) + task.queries[query]
            for row, step in enumerate(steps):
                rows[row, line[:step]] = rank
            codes.append(rows)
            at.append(np.full(len(rows), query))
    rows, owner = np.concatenate(codes), np.concatenate(at)
    if not len(owner):
        return Pool.empty(task.space.width)
    verdict = judge(rows, owner)
    changes = (rows != task.queries[owner]).sum(axis=1)
    good = np.flatnonzero(verdict.reached & (changes > 0))
    best = good[rank_within(owner[good], changes[good], good) == 0]
    return Pool(owner[best], rows[best], verdict.progress[best])
