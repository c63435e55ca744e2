"""Fewest changes first: all single changes, then pairs, and so on, a model call or two a level.

Level 1 scores every candidate and, for a query that none of them helps, every other value seen in
training, so that an answer of two changes is proved to need two. A deeper level is scored whole
where it is small; otherwise the combinations that look best are scored: the gain of a combination
is estimated as the sum of its parts' gains, which on the scale of log odds is exact for additive
models and a good guess for others. If some of those suffice, nearer ones with a sufficient estimate
are tried as well. If several answers are wanted and too few pairs suffice, pairs spread evenly over
all values are tried, whatever their estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from macex.errors import require_counts
from macex.schema import Array
from macex.stages.arrays import counted, distinct, including, set_keys
from macex.stages.search.combinations import (
    Level,
    Singles,
    affordable,
    all_of,
    batches,
    combinations,
    greedy_path,
    grid,
    joined,
    numbers,
    paid,
    shortest_path,
    to_complete,
    worth_keeping,
)
from macex.stages.search.extensions import brood
from macex.stages.search.protocol import EXHAUSTIVE, MOST_ROWS
from macex.stages.search.reduction import needed, without_idle
from macex.stages.shapes import Candidates, Found, Pool, Task

MOST_PARTS = 500  # single changes that are joined in pairs where rules bind
MOST_PAIRS = 1_000_000  # pairs that are looked at together; cells of them where rules bind
NEARER = 64  # combinations that are tried because they are nearer than those found
SPREAD = 1024  # pairs that are tried where several answers are wanted and too few are found
VALUES = 1  # single changes of every unit that come before all else where rows are few
CLOSE = 1e-9
NEAREST_LEVELS = 3  # how many levels are looked at when the nearest example is wanted


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Score all single changes, then all pairs, and so on, fewest changes first.

    `max_rows` bounds the rows of a query; where the caller does, a level has half of those left.
    A level that is larger than `beam` is cut to the `beam` most promising combinations, and to
    `more` further ones if none of those reaches the goal; they extend the `parents` best of the
    level before. Past `depth` changes the two best combinations alone are extended, in `narrow`
    ways each time, up to `deepest` changes.
    """

    name: ClassVar[str] = EXHAUSTIVE
    proves: ClassVar[bool] = True
    offered: ClassVar[Literal["all", "few"]] = "all"
    levels: ClassVar[bool] = True

    max_rows: int = MOST_ROWS
    beam: int = 256
    more: int = 512
    parents: int = 40
    depth: int = 4
    narrow: int = 320
    deepest: int = 12

    def __post_init__(self) -> None:
        require_counts(self, "max_rows", "beam", "more", "parents", "depth", "narrow", "deepest")

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Examples that reach their goals, and what was proved on the way."""
        with task.judge.rationed(VALUES * task.space.width):
            singles, pools = _score_singles(task, candidates)
        sets = _sets(task, pools, 1)
        open_ = ~_enough(task, sets, 1)
        with task.judge.rationed():
            singles, more, complete = _completed_level(task, singles, open_)
        if more:
            pools += more
            sets = _sets(task, pools, 1)
        proof = _Proof(task, complete)
        proof.after(1, sets, np.ones(len(open_), bool))
        alone = task.prefer == "nearest" and task.additive
        parts = singles.insufficient if alone else singles
        level: Level | None = None
        for size in range(2, max(self.depth, self.deepest) + 1):
            open_ &= ~_enough(task, sets, size - 1) & (task.max_changes >= size)
            if not open_.any() or task.judge.late:
                break
            with task.judge.rationed():
                level, whole = self._level(task, parts, level, pools, np.flatnonzero(open_), size)
            pools.append(_reached(level))
            sets = _sets(task, pools, size)
            proof.after(size, sets, whole)
        pool = Pool.join(pools, task.space.width)
        if task.prefer == "fewest" and task.count > 1:
            pool = self._joint(task, singles, without_idle(task, pool))
            pool = without_idle(task, pool) if task.judge.capped else pool  # of sets found late
        return Found(
            pool, proof.seen, proof.offered, singles.candidates, singles.weights, singles.reached
        )

    def _level(
        self,
        task: Task,
        singles: Singles,
        before: Level | None,
        pools: list[Pool],
        open_: Array,
        size: int,
    ) -> tuple[Level, Array]:
        """Score the combinations of `size` changes; also for whom these were all there are."""
        beam_rows, more_rows = (self.beam, self.more) if size <= self.depth else (self.narrow, 0)
        room = self.max_rows if singles.candidates.exact else beam_rows
        small = combinations(singles, open_, task.space.width, size) <= room
        beam = open_[~small]
        width = self._width(task, size)
        parts = [
            all_of(task, singles, open_[small], size),
            _bred(task, singles, before, beam, width, beam_rows),
        ]
        if size == 2 and task.judge.capped:  # an answer where the others cannot be paid for
            pools.append(shortest_path(task, singles, open_))
        elif size == 2:
            parts.append(greedy_path(task, singles, open_))
        if size == 2 and task.prefer == "nearest":
            parts.append(grid(task, singles, numbers(task), beam, self.beam))
        level = _score(task, *_fresh(task, pools, parts))
        if more_rows:
            left = beam[~np.isin(beam, level.at[level.reached])]
            most = beam_rows + more_rows
            late = _bred(task, singles, before, left, width, most, least=beam_rows)
            level = joined(level, _score(task, *_fresh(task, pools, [late])))
            if task.space.bound_rows:
                left = left[~np.isin(left, level.at[level.reached])]
                wide = [self._partners(task, singles, before, left, size)]
                level = joined(level, _score(task, *_unlike(level, *_fresh(task, pools, wide))))
        if task.prefer == "fewest":
            nearer = _nearer(task, singles, before, level, beam, width)
            level = joined(level, _score(task, *_fresh(task, pools, [nearer])))
            if size == 2 and task.count > 1 and not task.judge.capped:
                spread = _spread_pairs(task, singles, pools, level, beam)
                level = joined(level, _score(task, *spread))
        whole = singles.known
        whole[beam] = False
        if task.grid is None or singles.candidates.whole is None:
            return level, whole
        todo = to_complete(task, singles, [*pools, _reached(level)], beam, size)
        for part in batches(singles, todo, size, task.space.width):
            task.judge.renew(np.isin(np.arange(len(whole)), part), task.grid.proof_rows)
            rows = _score(task, *_fresh(task, pools, [all_of(task, singles, part, size)]))
            level = joined(level, worth_keeping(rows, self.parents))
            whole[part] = singles.known[part]
        return level, whole

    def _joint(self, task: Task, singles: Singles, pool: Pool) -> Pool:
        """Add sets that hold one that suffices, where too few others are found.

        They are of changes that do not suffice, though more of one alone would: each is needed.
        """
        singles, queries = singles.insufficient, np.unique(pool.at)
        pools, level = [pool], None
        for size in range(2, self.depth + 1):
            queries = _lacking(task, pools, queries, size)
            if not len(queries) or task.judge.late:
                break
            most = NEARER if size == 2 else self.beam + self.more
            width = most, self._width(task, size)[1]
            level = _score(task, *_bred(task, singles, level, queries, width, most))
            found = _reached(level)
            pools.append(found if size == 2 else needed(task, found))
            if size == 2 and not task.judge.capped:
                queries = _lacking(task, pools, queries, size)
                late = _bred(task, singles, None, queries, width, self.beam, least=NEARER)
                wide = _whole([late, _grids(task, singles, queries)])
                more = _score(task, *_unlike(level, *wide))
                level = joined(level, more)
                pools.append(_reached(more))
        return Pool.join(pools, task.space.width)

    def _partners(
        self, task: Task, singles: Singles, before: Level | None, queries: Array, size: int
    ) -> tuple[Array, Array]:
        """Combinations of all single changes, for queries of which one breaks a rule by itself.

        It may need another change beside it that promises nothing.
        """
        codes, at, _ = singles.candidates.rows(task.queries, singles.offered(queries))
        broken = at[~task.space.holds(task.space.columns(codes, at), at)]
        every = min(singles.reach.shape[1], MOST_PARTS)
        width = every if size == 2 else self.parents, every
        bound = queries[np.isin(queries, broken)]
        return _bred(task, singles, before, bound, width, self.beam + self.more, every=True)

    def _width(self, task: Task, size: int) -> tuple[int, int]:
        """How many combinations are extended, and by how many single changes."""
        if size > self.depth:
            return 2, self.narrow
        most = 2 * self.parents if task.prefer == "nearest" else self.parents
        return most, most


def _nearer(
    task: Task,
    singles: Singles,
    before: Level | None,
    level: Level,
    beam: Array,
    width: tuple[int, int],
) -> tuple[Array, Array]:
    """Combinations that should suffice, too, and are nearer than all found so far."""
    found = _reached(level)
    nearest = np.full(len(task.queries), -np.inf)
    nearest[found.at] = np.inf
    np.minimum.at(nearest, found.at, task.measure(found.codes, found.at))
    helped = beam[np.isfinite(nearest[beam])]
    near = replace(task, prefer="nearest")
    codes, at = _bred(near, singles, before, helped, width, NEARER, frugal=True)
    nearer = task.measure(codes, at) < nearest[at] - CLOSE
    return codes[nearer], at[nearer]


def _spread_pairs(
    task: Task, singles: Singles, pools: list[Pool], level: Level, queries: Array
) -> tuple[Array, Array]:
    """Pairs of all units, spread over their values, where too few sets of two are found."""
    pools = [*pools, _reached(level)]
    few = queries[_sets(task, pools, 2)[queries] < task.count]
    return _unlike(level, *_fresh(task, pools, [_grids(task, singles, few)]))


def _grids(task: Task, singles: Singles, queries: Array) -> tuple[Array, Array]:
    """Pairs of all units, spread over their values, and of numbers alone, which have more."""
    units = (range(task.space.width), numbers(task))
    return _whole([grid(task, singles, chosen, queries, SPREAD) for chosen in units])


def _unlike(level: Level, codes: Array, at: Array) -> tuple[Array, Array]:
    """The rows that were not scored at a level, each once."""
    theirs = np.flatnonzero(np.isin(level.at, at))
    owner, rows = level.at[theirs], level.codes.take(theirs, axis=0)
    both = distinct(np.concatenate([owner, at]), np.concatenate([rows, codes]))
    new = both[both >= len(theirs)] - len(theirs)
    return codes[new], at[new]


def _lacking(task: Task, pools: list[Pool], queries: Array, size: int) -> Array:
    """Those of some queries that have too few sets and may change `size` units."""
    few = _sets(task, pools, task.space.width) < task.count
    return queries[(few & (task.max_changes >= size))[queries]]


def _bred(
    task: Task,
    singles: Singles,
    before: Level | None,
    queries: Array,
    width: tuple[int, int],
    most: int,
    *,
    least: int = 0,
    frugal: bool = False,
    every: bool = False,
) -> tuple[Array, Array]:
    """The most promising combinations of some queries, from the rank `least` to `most`."""
    codes, at = [task.queries[:0]], [np.zeros(0, np.intp)]
    for part in _blocks(task, queries, width):
        if task.judge.late:
            break
        young = brood(task, singles, before, part, width, most, frugal=frugal, every=every)
        rows, whose = young.rows(least)
        codes.append(rows)
        at.append(whose)
    return np.concatenate(codes), np.concatenate(at)


def _blocks(task: Task, queries: Array, width: tuple[int, int]) -> list[Array]:
    """Queries in parts whose extensions fit into memory together.

    Where rules bind, all extensions become rows, to see which of them keep the rules.
    """
    cells = width[0] * width[1] * (task.space.width if task.space.bound_rows else 1)
    size = max(1, MOST_PAIRS // max(1, cells))
    return [queries[start : start + size] for start in range(0, len(queries), size)]


class _Proof:
    """How many levels failed entirely, for every query: over seen values, and over candidates."""

    def __init__(self, task: Task, complete: Array) -> None:
        self.task, self.complete = task, complete
        self.seen = np.zeros(len(complete), int)
        self.offered = np.zeros(len(complete), int)

    def after(self, size: int, sets: Array, whole: Array) -> None:
        """Take note of a level: how many `sets` were found, and for whom it was scored whole."""
        failed = whole & ~self.task.judge.ran_out & (sets == 0)
        self.offered[failed & (self.offered == size - 1)] = size
        self.seen[failed & self.complete & (self.seen == size - 1)] = size


def _completed_level(
    task: Task, singles: Singles, open_: Array
) -> tuple[Singles, list[Pool], Array]:
    """Add every other seen value for the queries that are still open."""
    open_ = open_ & (task.max_changes >= 1) & (not task.judge.late)
    if task.judge.capped:  # with some of those on offer left out, others prove nothing
        open_ &= singles.known
    if not open_.any():
        return singles, [], open_
    if singles.candidates.whole is not None:
        return singles, [], singles.candidates.whole & open_
    rest, complete = paid(task, *task.rest(open_, singles.candidates))
    more, pools = _score_singles(task, rest)
    joined = Singles(
        singles.candidates.join(rest),
        np.concatenate([singles.reached, more.reached], axis=1),
        np.concatenate([singles.reach, more.reach], axis=1),
    )
    return joined, pools, complete & open_


def _score_singles(task: Task, candidates: Candidates) -> tuple[Singles, list[Pool]]:
    reach = np.full(candidates.value.shape, -np.inf)
    reached = np.zeros(candidates.value.shape, bool)
    codes, at, entry = candidates.rows(task.queries, affordable(task, candidates))
    if not len(at):
        return Singles(candidates, reached, reach), []
    verdict = task.judge(codes, at, probe=True, turn=lambda: candidates.turns(at, entry))
    reach[at, entry] = verdict.progress - task.base[at]
    reached[at, entry] = verdict.reached
    good = verdict.reached & candidates.allowed[at, entry]
    return Singles(candidates, reached, reach), [
        Pool(at[good], codes[good], verdict.progress[good])
    ]


def _score(task: Task, codes: Array, at: Array) -> Level:
    if not len(at):
        return Level(codes, at, np.zeros(0), np.zeros(0, bool))
    verdict = task.judge(codes, at)
    return Level(codes, at, verdict.progress, verdict.reached)


def _reached(level: Level) -> Pool:
    good = level.reached
    return Pool(level.at[good], level.codes[good], level.progress[good])


def _sets(task: Task, pools: list[Pool], size: int) -> Array:
    """How many distinct sets of at most `size` changed units were found for each query.

    Where one answer is wanted it does not matter whether they are distinct.
    """
    pool = Pool.join(pools, task.space.width)
    changed = task.space.changed(pool.codes, pool.at)
    small = counted(changed) <= size
    at = pool.at[small]
    if task.count > 1:
        at = at[np.unique(set_keys(changed[small], at), return_index=True)[1]]
    return np.bincount(at, minlength=len(task.queries))


def _enough(task: Task, sets: Array, size: int) -> Array:
    """For whom the search may stop after the level `size`, `sets` having been found."""
    if task.prefer == "surest" or (task.prefer == "nearest" and size < NEAREST_LEVELS):
        return np.zeros(len(task.queries), bool)
    enough: Array = sets >= task.count
    return enough


def _fresh(task: Task, pools: list[Pool], parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """All parts as one, without supersets of changes that suffice already."""
    codes, at = _whole(parts)
    found = Pool.join(pools, task.space.width)
    found = found.take(np.flatnonzero(np.isin(found.at, at)))
    if len(found) and task.prefer == "fewest":
        known, changed = task.space.changed(found.codes, found.at), task.space.changed(codes, at)
        keep = np.flatnonzero(~including(changed, at, known, found.at))
        codes, at = codes.take(keep, axis=0), at[keep]
    return codes, at


def _whole(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """All parts as one: rows and their queries."""
    codes, at = zip(*parts, strict=True)
    return np.concatenate(codes), np.concatenate(at)
