"""Combinations of single changes: all of them, pairs on a grid, the greedy path.

Where candidates stand for every value, a level that was cut to its beam is completed. Trees are
cheap to ask, and a level that was scored whole is a proof. So a query that the beam did not help
has all its combinations scored, as long as they are not too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.schema import Array
from macex.stages.arrays import (
    among_highest,
    highest,
    rank_within,
    spread_over,
)
from macex.stages.search.reduction import halved
from macex.stages.shapes import Candidates, Pool, Task


@dataclass(frozen=True, eq=False)
class Singles:
    """The single changes and what the model said of them."""

    candidates: Candidates
    reached: Array  # (Q, A) bool
    reach: Array  # (Q, A) how much nearer each comes, whether or not it may be made

    @property
    def known(self) -> Array:
        """For whom every single change that may be made was scored, (Q,) bool."""
        offered = self.candidates.real & self.candidates.allowed
        return np.asarray((~offered | np.isfinite(self.reach)).all(axis=1))

    @property
    def insufficient(self) -> Singles:
        """Only what does not reach the goal alone: what does needs no other change beside it."""
        allowed = self.candidates.allowed & ~self.reached
        return replace(self, candidates=replace(self.candidates, allowed=allowed))

    @cached_property
    def gain(self) -> Array:
        """How much nearer each single change comes, minus infinity where it may not be made."""
        return np.where(self.candidates.real & self.candidates.allowed, self.reach, -np.inf)

    @property
    def weights(self) -> Array:
        """The share of every single change in the gains of the best change of each unit."""
        known = self.candidates.real & np.isfinite(self.reach)
        return self.candidates.shares(np.where(known, np.maximum(self.reach, 0.0), 0.0))

    def offered(self, queries: Array) -> Array:
        """The single changes that may be made of some queries, (Q, A) bool."""
        chosen = np.zeros_like(self.reached)
        chosen[queries] = np.isfinite(self.gain[queries])
        return chosen


class Level(NamedTuple):
    """Combinations of one level that were scored."""

    codes: Array  # (n, U)
    at: Array  # (n,)
    progress: Array  # (n,)
    reached: Array  # (n,) bool


def affordable(task: Task, candidates: Candidates) -> Array:
    """The entries (Q, A) bool that are worth making rows of, since they can be paid for."""
    at, entry = np.nonzero(candidates.real)
    paid = task.judge.affordable(at, lambda: candidates.turns(at, entry))
    if paid.all():
        return candidates.real
    chosen = np.zeros_like(candidates.real)
    chosen[at[paid], entry[paid]] = True
    return chosen


def combinations(singles: Singles, queries: Array, width: int, size: int) -> Array:
    """How many combinations of `size` changes each of some queries has."""
    order, units, start, _ = singles.candidates.by_unit
    gain = singles.gain[queries]
    counts, real = np.zeros((len(gain), width)), np.isfinite(gain)
    if len(units):
        counts[:, units] = np.add.reduceat(real.take(order, axis=1), start, axis=1, dtype=float)
    ways = np.zeros((len(gain), size + 1))
    ways[:, 0] = 1
    for place in range(width):
        ways[:, 1:] += ways[:, :-1] * counts[:, place, None]
    return ways[:, size]


def all_of(task: Task, singles: Singles, queries: Array, size: int) -> tuple[Array, Array]:
    """Every combination of `size` single changes of different units.

    Combinations grow by one entry a turn, always by one of a later unit, so that each comes up
    once. With entries 0 and 1 of unit 0 and entry 2 of unit 3, `chosen` is [[0], [1], [2]] and
    then [[0, 2], [1, 2]].
    """
    gain = singles.gain
    unit, value = singles.candidates.unit, singles.candidates.value
    codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
    for query in queries:
        entries = np.flatnonzero(np.isfinite(gain[query]))
        if len(np.unique(unit[entries])) < size:
            continue
        chosen = entries[:, None]
        for _ in range(size - 1):
            later = unit[entries][None, :] > unit[chosen[:, -1]][:, None]
            line, column = np.nonzero(later)
            chosen = np.column_stack([chosen[line], entries[column]])
        rows = np.repeat(task.queries[query][None], len(chosen), axis=0)
        rows[np.arange(len(chosen))[:, None], unit[chosen]] = value[query, chosen]
        codes.append(rows)
        at.append(np.full(len(rows), query))
    return np.concatenate(codes), np.concatenate(at)


def best_entries(
    rank_by: Array, candidates: Candidates, most: int, per_unit: int
) -> tuple[Array, Array]:
    """The entries that promise most, not too many of one unit, and what they promise."""
    if not rank_by.shape[1]:
        return np.zeros((len(rank_by), 0), np.intp), np.zeros((len(rank_by), 0))
    capped = rank_by.copy()
    order, _, start, _ = candidates.by_unit
    for mine in np.split(order, start[1:]):
        if len(mine) > per_unit:
            few = rank_by[:, mine]
            capped[:, mine] = np.where(among_highest(few, per_unit), few, -np.inf)
    best = highest(capped, most)
    return best, np.take_along_axis(capped, best, axis=1)


def numbers(task: Task) -> list[int]:
    """The units that are numbers."""
    return [place for place, unit in enumerate(task.space.units) if not unit.discrete]


def grid(
    task: Task, singles: Singles, units: Sequence[int], queries: Array, most: int
) -> tuple[Array, Array]:
    """Pairs of changes of some units on a coarse grid, about `most` for each query.

    Two changes that do little alone may do much together; the sum of their gains does not show it.

    Three units are three pairs. With `most` at 48 each pair has 16 points, so `side` is 4: of each
    unit four entries are picked, spread over its values, and every pair of units is crossed. Where
    there are more pairs than `most` pays for, pairs are left out at even distances.
    """
    one_of, other_of = np.triu_indices(len(units), 1)
    codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
    if not len(one_of) or not len(queries):
        return codes[0], at[0]
    side = max(2, int((most / len(one_of)) ** 0.5))
    chosen = np.linspace(0, len(one_of) - 1, min(len(one_of), most // side**2)).round().astype(int)
    entries = [np.flatnonzero(singles.candidates.unit == unit) for unit in units]
    real = np.isfinite(singles.gain[queries])
    picked = [spread_over(real[:, mine], side) for mine in entries]
    for pair in chosen:
        one, other = one_of[pair], other_of[pair]
        line, i, j = np.nonzero(picked[one][:, :, None] & picked[other][:, None, :])
        rows = task.queries[queries[line]]
        for unit, entry in ((one, i), (other, j)):
            values = singles.candidates.value[queries[line], entries[unit][entry]]
            rows[:, units[unit]] = values
        codes.append(rows)
        at.append(queries[line])
    return np.concatenate(codes), np.concatenate(at)


def greedy_path(task: Task, singles: Singles, queries: Array) -> tuple[Array, Array]:
    """The best value of each unit, one after the other, best unit first (Algorithm 2, step 5)."""
    rows, length = _path(task, singles, queries)
    steps = np.arange(1, rows.shape[1] + 1)
    line, step = np.nonzero((steps > 2) & (steps <= length[:, None]) & _sparse_steps(steps))
    return rows[line, step], queries[line]


def shortest_path(task: Task, singles: Singles, queries: Array) -> Pool:
    """The shortest beginning of the same path that reaches the goal, found by halving."""
    unknown = Pool(queries, task.queries[queries], np.full(len(queries), -np.inf))
    return halved(task, unknown, *_path(task, singles, queries))


def _path(task: Task, singles: Singles, queries: Array) -> tuple[Array, Array]:
    """The rows of a greedy path (q, steps, U), and how many steps each query may go (q,)."""
    unit, width = singles.candidates.unit, task.space.width
    entry, gain = best_entries(singles.gain[queries], singles.candidates, width, 1)
    useful = np.isfinite(gain) & (gain > 0)
    rows = np.repeat(task.queries[queries][:, None], entry.shape[1], axis=1)
    for place in range(entry.shape[1]):
        line = np.flatnonzero(useful[:, place])
        chosen = entry[line, place]
        rows[line[:, None], np.arange(place, entry.shape[1])[None, :], unit[chosen][:, None]] = (
            singles.candidates.value[queries[line], chosen][:, None]
        )
    return rows, np.minimum(useful.sum(axis=1), task.max_changes[queries])


def _sparse_steps(steps: Array) -> Array:
    """Which lengths of a path are tried: all up to 16, then ever fewer."""
    grown = np.unique(np.round(16 * 1.25 ** np.arange(40)).astype(int))
    tried: Array = (steps <= 16) | np.isin(steps, grown)
    return tried


BATCH_ROWS = 400_000  # rows in memory at a time


def paid(task: Task, rest: Candidates, complete: Array) -> tuple[Candidates, Array]:
    """What completes the single changes, and for whom, where the caller's limit pays for all of it.

    A part of it would prove nothing, and its rows are worth more for pairs.
    """
    if not task.judge.capped:
        return rest, complete
    at, entry = np.nonzero(rest.real)
    short = np.zeros(len(complete), bool)
    short[at[~task.judge.affordable(at, lambda: rest.turns(at, entry))]] = True
    return replace(rest, real=rest.real & ~short[:, None]), complete & ~short


def to_complete(
    task: Task, singles: Singles, pools: list[Pool], queries: Array, size: int
) -> Array:
    """The queries without an example of `size` changes or fewer whose level is small enough."""
    if task.prefer != "fewest" or task.grid is None or singles.candidates.whole is None:
        return queries[:0]
    found = Pool.join(pools, task.space.width)
    small = task.space.changed(found.codes, found.at).sum(axis=1) <= size
    lost = ~np.isin(queries, found.at[small])
    lost &= singles.candidates.whole[queries] & ~task.judge.finished[queries]
    queries = queries[lost]
    return queries[_rows(singles, queries, size, task.space.width) <= task.grid.proof_rows]


def batches(singles: Singles, queries: Array, size: int, width: int) -> Iterator[Array]:
    """The queries in parts whose combinations fit into memory."""
    rows = np.cumsum(_rows(singles, queries, size, width))
    part = (rows / BATCH_ROWS).astype(int)
    for number in np.unique(part):
        yield queries[part == number]


def _rows(singles: Singles, queries: Array, size: int, width: int) -> Array:
    return combinations(singles, queries, width, size)


def worth_keeping(level: Level, most: int) -> Level:
    """The rows that reach their goals, and for each query the best few of the others."""
    rank = rank_within(level.at, level.reached, -level.progress, np.arange(len(level.at)))
    keep = np.flatnonzero(level.reached | (rank < most))
    return Level(*(part[keep] for part in level))


def joined(first: Level, then: Level) -> Level:
    """The rows of both."""
    if not len(then.at):
        return first
    return Level(*(np.concatenate(pair) for pair in zip(first, then, strict=True)))
