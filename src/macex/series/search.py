"""Stages 1 and 2 joined for series: what neighbours offer, and the searches over it.

With hundreds of channels few levels of a search can be scored, and what a channel is worth alone
says little once others are changed. So a query without an answer goes on from its nearest miss: the
same search, with the miss in the place of the query. An example with many channels is cut back to
the half it needs most, from where the search looks for fewer channels than were given up.

A search over many neighbors is dear. Which few channels suffice is known after it, so that one row
tells whether those of a neighbor in reserve do as well; some are farther from the edge. The last
resort is a whole neighbour, which meets the goal, and the shortest part of it that does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macex.ask.space import Space
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.options import SeriesOptions
from macex.series.outcome import SeriesOutcome
from macex.series.shortlist import gains, narrowed, wide
from macex.stages.arrays import highest, rank_within
from macex.stages.search.exhaustive import Exhaustive
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


CLIMBS = 12  # how often a search goes on from a miss
SMALL = 4  # an example with as many channels, or fewer, is left as it is


def climbed(
    method: Exhaustive, task: Task, judge: Judge, every: Candidates, open_: Array
) -> list[Pool]:
    """Examples found by going on from the nearest misses, again and again."""
    pools: list[Pool] = []
    last = np.full(len(open_), -np.inf)
    for _ in range(CLIMBS):
        open_ = open_ & ~judge.finished & ~judge.ran_out & (judge.miss_progress > last)
        if not open_.any():
            break
        last = judge.miss_progress.copy()
        most = task.space.bounds.max_changes
        pools.append(_from(method, task, every, open_, judge.miss_codes, last, most))
        open_ = open_ & ~np.isin(np.arange(len(open_)), pools[-1].at)
    return pools


def regrown(
    method: Exhaustive, task: Task, judge: Judge, every: Candidates, pool: Pool
) -> list[Pool]:
    """The smallest example of every query without needless channels, and still smaller ones."""
    known = given_back(task, _smallest(task, pool))
    size = task.space.changed(known.codes, known.at).sum(axis=1)
    large = known.take(np.flatnonzero((size > SMALL) & ~judge.finished[known.at]))
    if not len(large):
        return [known]
    open_ = np.isin(np.arange(len(task.queries)), large.at)
    most = np.zeros(len(open_), int)
    most[known.at] = size - 1
    half = _halved(task, large)
    codes, progress = task.queries.copy(), task.base.copy()
    codes[half.at], progress[half.at] = half.codes, half.progress
    return [known, _from(method, task, every, open_, codes, progress, most)]


def _from(
    method: Exhaustive,
    task: Task,
    every: Candidates,
    open_: Array,
    codes: Array,
    progress: Array,
    most: Array,
) -> Pool:
    """Examples of at most `most` (Q,) changes that add to the changes already made in `codes`.

    It goes twice as deep as from the query, where few levels say more than many.
    """
    here = np.where(open_[:, None], codes, task.queries)
    changed = here != task.queries
    free = task.space.changeable & ~changed & open_[:, None]
    bounds = replace(task.space.bounds, max_changes=most - changed.sum(axis=1))
    space = replace(task.space, queries=here, changeable=free, bounds=bounds)
    real = every.real & free[:, every.unit] & (bounds.max_changes > 0)[:, None]
    base = np.where(open_ & np.isfinite(progress), progress, task.base)
    part = replace(task, space=space, base=base)
    deeper = replace(method, deepest=2 * method.deepest)
    return deeper(part, replace(every, real=real, allowed=real)).pool


def _smallest(task: Task, pool: Pool) -> Pool:
    """The example with the fewest changes of every query."""
    size = task.space.changed(pool.codes, pool.at).sum(axis=1)
    rank = rank_within(pool.at, size, -pool.progress, np.arange(len(pool)))
    return pool.take(np.flatnonzero(rank == 0))


def given_back(task: Task, pool: Pool) -> Pool:
    """Examples without the changes they do not need, at most two model calls a round.

    A round undoes each change alone, then those that are missed least together, as many as hold.
    """
    codes, progress = pool.codes.copy(), pool.progress.copy()
    open_ = np.ones(len(pool), bool)
    while open_.any():
        changed = task.space.changed(codes, pool.at)
        example, unit = np.nonzero(changed & (open_ & (changed.sum(axis=1) > 1))[:, None])
        if not len(example):
            break
        alone = task.judge(_undone(task, pool.at, codes, example, unit), pool.at[example])
        good = np.flatnonzero(alone.reached)
        turn = rank_within(example[good], -alone.progress[good], unit[good])
        spare = turn < changed.sum(axis=1)[example[good]] - 1
        good, turn = good[spare], turn[spare]
        rows = np.stack([codes[example[one]] for one in good]) if len(good) else codes[:0]
        for line, one in enumerate(good):
            mine = good[(example[good] == example[one]) & (turn <= turn[line])]
            rows[line, unit[mine]] = task.queries[pool.at[example[one]], unit[mine]]
        open_ = np.zeros(len(pool), bool)
        if not len(good):
            break
        together = task.judge(rows[turn > 0], pool.at[example[good[turn > 0]]])
        holds, worth = turn == 0, alone.progress[good]
        holds[turn > 0], worth[turn > 0] = together.reached, together.progress
        held = np.flatnonzero(holds)
        best = held[rank_within(example[good[held]], -turn[held]) == 0]
        codes[example[good[best]]], progress[example[good[best]]] = rows[best], worth[best]
        open_[example[good[best]]] = True
    return Pool(pool.at, codes, progress)


def _halved(task: Task, pool: Pool) -> Pool:
    """Examples without the half of their changes that are missed least, each alone."""
    codes = pool.codes.copy()
    example, unit = np.nonzero(task.space.changed(codes, pool.at))
    verdict = task.judge(_undone(task, pool.at, codes, example, unit), pool.at[example])
    gone = rank_within(example, -verdict.progress, unit) < (np.bincount(example) // 2)[example]
    codes[example[gone], unit[gone]] = task.queries[pool.at[example[gone]], unit[gone]]
    return Pool(pool.at, codes, pool.progress)


def _undone(task: Task, at: Array, codes: Array, example: Array, unit: Array) -> Array:
    """Examples with one change undone each."""
    rows = codes[example]
    rows[np.arange(len(example)), unit] = task.queries[at[example], unit]
    return rows


SETS = 3  # of channels, the smallest, that an answer is sought with


def reserved(outcome: SeriesOutcome, pool: Pool) -> Pool:
    """Examples that take the channels of some in the pool from a neighbor in reserve."""
    task, choice = outcome.task, outcome.fitted.options.candidates
    first, last = choice.count(outcome.offered.shape[2]), outcome.offered.shape[1]
    if first == last or outcome.judge.late:
        return Pool.empty(task.space.width)
    at, sets = _small_sets(task, pool)
    whose, units = np.repeat(at, last - first), np.repeat(sets, last - first, axis=0)
    rank = np.tile(np.arange(first, last), len(at))  # of the neighbor that all are taken from
    differs = by_unit(task.space, outcome.offered[whose, rank][:, None])[:, :, 0]
    some = np.flatnonzero((differs | ~units).all(axis=1))
    codes = np.where(units, rank[:, None] + 1.0, task.queries[whose])[some]
    verdict = task.judge(codes, whose[some])
    good = np.flatnonzero(verdict.reached)
    return Pool(whose[some[good]], codes[good], verdict.progress[good])


def _small_sets(task: Task, pool: Pool) -> tuple[Array, Array]:
    """The smallest sets of few units that suffice, (S, U) bool, and whose they are (S,)."""
    changed = task.space.changed(pool.codes, pool.at)
    few = changed.sum(axis=1) <= SMALL
    sets = np.unique(np.column_stack([pool.at[few], changed[few]]), axis=0)
    at, units = sets[:, 0].astype(np.intp), sets[:, 1:].astype(bool)
    chosen = rank_within(at, units.sum(axis=1), np.arange(len(at))) < SETS * task.count
    return at[chosen], units[chosen]
