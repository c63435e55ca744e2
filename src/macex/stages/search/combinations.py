"""Building combinations of single changes: all of them, the most promising, the greedy path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.schema import Array, cell_keys
from macex.stages.arrays import (
    among_highest,
    first_of_each,
    highest,
    rank_within,
    spread_over,
)
from macex.stages.shapes import Candidates, Task

# How many single changes of one unit combinations are built from.
PER_UNIT = {"fewest": 8, "surest": 8, "nearest": 24}
REPEATS = 12  # how often one combination may come from different parents
BEYOND = np.iinfo(np.int64).max  # the rank of what is not to be scored


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


class _Parts(NamedTuple):
    """What combinations are built from, for some queries, padded."""

    codes: Array  # (q, P, U)
    worth: Array  # (q, P) progress, minus infinity where there is none
    distance: Array  # (q, P)


def _ranked(task: Task, gain: Array, distance: Array) -> Array:
    """How much each single change promises: its gain, or its gain per distance."""
    if task.prefer != "nearest":
        return gain
    return np.where(
        gain > 0,
        gain / np.maximum(distance, 1e-9),
        np.where(np.isfinite(gain), -1.0 - distance, -np.inf),
    )


def _parents(task: Task, before: Level, queries: Array, most: int) -> _Parts:
    """The best combinations of the level before that did not reach the goal."""
    position = np.full(len(task.queries), -1)
    position[queries] = np.arange(len(queries))
    usable = (position[before.at] >= 0) & ~before.reached & np.isfinite(before.progress)
    at, rows, progress = before.at[usable], before.codes[usable], before.progress[usable]
    distance = _distance(task, rows, at)
    gain = progress - task.base[at]
    rank = rank_within(at, -_ranked(task, gain, distance), np.arange(len(at)))
    keep = rank < most
    parts = _Parts(
        np.repeat(task.queries[queries][:, None], most, axis=1),
        np.full((len(queries), most), -np.inf),
        np.zeros((len(queries), most)),
    )
    for table, values in zip(parts, (rows, progress, distance), strict=True):
        table[position[at[keep]], rank[keep]] = values[keep]
    return parts


def _single_parts(
    task: Task, singles: Singles, queries: Array, most: int, *, frugal: bool, every: bool
) -> tuple[Array, _Parts]:
    """The best single changes: which candidates they are, and as parts.

    Where the nearest are wanted these are those that gain most for their distance, and unless
    `frugal` those that gain most as well.
    """
    unit, value = singles.candidates.unit, singles.candidates.value
    gain = singles.gain[queries]
    distance = _single_distances(task, singles, queries, np.isfinite(gain))
    per_unit = most if every else PER_UNIT[task.prefer]
    entry, capped = _best_entries(_ranked(task, gain, distance), singles.candidates, most, per_unit)
    real = np.isfinite(capped)
    if task.prefer == "nearest" and not frugal:
        surest, capped = _best_entries(gain, singles.candidates, most, per_unit)
        entry = np.concatenate([entry, surest], axis=1)
        real = np.concatenate([real, np.isfinite(capped)], axis=1)
    codes = np.repeat(task.queries[queries][:, None], entry.shape[1], axis=1)
    line, place = np.indices(entry.shape)
    codes[line, place, unit[entry]] = value[queries[:, None], entry]
    worth = np.where(real, np.take_along_axis(gain, entry, axis=1), -np.inf)
    worth = worth + task.base[queries][:, None]
    return entry, _Parts(codes, worth, np.take_along_axis(distance, entry, axis=1))


def _single_distances(task: Task, singles: Singles, queries: Array, chosen: Array) -> Array:
    distance = np.zeros(chosen.shape)
    if task.prefer == "nearest":
        full = np.zeros(singles.candidates.real.shape, bool)
        full[queries] = chosen
        codes, at, _ = singles.candidates.rows(task.queries, full)
        distance[chosen] = task.measure(codes, at)
    return distance


def _distance(task: Task, codes: Array, at: Array) -> Array:
    return task.measure(codes, at) if task.prefer == "nearest" else np.zeros(len(at))


def _best_entries(
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


class Brood(NamedTuple):
    """The most promising extensions of some combinations by one single change."""

    parents: _Parts
    values: Array  # (q, T) what each single change sets
    units: Array  # (q, T)
    queries: Array  # (q,)
    parent: Array  # (q, C) most promising first
    single: Array  # (q, C) what that is extended by
    rank: Array  # (q, C) place among the distinct ones, or beyond any limit

    def rows(self, least: int = 0) -> tuple[Array, Array]:
        """The extensions from a rank on as rows of codes, and their queries."""
        line, place = np.nonzero((self.rank >= least) & (self.rank < BEYOND))
        return self._built(line, place), self.queries[line]

    def lawful(self, task: Task, limit: int) -> Brood:
        """Only extensions that satisfy the rules, ranked again."""
        line, place = np.nonzero(self.rank < BEYOND)
        at = self.queries[line]
        ok = np.zeros(self.rank.shape, bool)
        ok[line, place] = task.space.holds(task.space.columns(self._built(line, place), at), at)
        rank = np.cumsum(ok, axis=1) - 1
        return self._replace(rank=np.where(ok & (rank < limit), rank, BEYOND))

    def keys(self, task: Task) -> Array:
        """Keys of the changes of each extension, (q, C)."""
        codes = self.parents.codes
        changed = codes != task.queries[self.queries][:, None]
        keys = np.where(changed, cell_keys(codes, np.arange(codes.shape[2])), np.uint64(0))
        before = np.take_along_axis(keys.sum(axis=2, dtype=np.uint64), self.parent, axis=1)
        by = np.take_along_axis(cell_keys(self.values, self.units), self.single, axis=1)
        return np.asarray(before + by)

    def _built(self, line: Array, place: Array) -> Array:
        parent, single = self.parent[line, place], self.single[line, place]
        parents = self.parents.codes
        codes = parents.reshape(-1, parents.shape[2]).take(line * parents.shape[1] + parent, axis=0)
        codes[np.arange(len(line)), self.units[line, single]] = self.values[line, single]
        return codes


def brood(
    task: Task,
    singles: Singles,
    before: Level | None,
    queries: Array,
    most: tuple[int, int],
    limit: int,
    *,
    frugal: bool = False,
    every: bool = False,
) -> Brood:
    """Extend the best combinations of the level before by the best single changes.

    `most` says how many combinations, and how many single changes; `frugal` leaves out those that
    are good for nothing but their gain. With `every` all changes of a unit may be among them, and
    all extensions are ranked: where rules bind, those that promise most may all break them.

    An extension is not scored here. Its `guess` is what the combination has reached plus what the
    single change gains alone. A query at -1 with three single changes, one query wide:

        single changes   a: age 40   b: age 50   c: hours 45
        gain                   0.6         0.5           0.3
        pairs                a with b    a with c    b with c    (the upper triangle)
        guess                     -        -0.1        -0.2      (two of one unit are none)
        best                               first       second
        rank                 beyond          0           1

    With combinations of the level before (`before`) every one of them meets every single change,
    so the same extension comes from several parents: of a, c and of c, a. `REPEATS` times as many
    are ranked then, and the keys of their changes leave one of each.
    """
    entry, parts = _single_parts(task, singles, queries, most[1], frugal=frugal, every=every)
    parents = parts if before is None else _parents(task, before, queries, most[0])
    units = singles.candidates.unit[entry]
    values = np.take_along_axis(singles.candidates.value[queries], entry, axis=1)
    parent, single = _pairs(parents, parts, before)
    gain = parts.worth - task.base[queries][:, None]
    guess = parents.worth[:, parent] + gain[:, single]
    if before is None:
        guess[units[:, parent] == units[:, single]] = -np.inf
    else:
        changed = parents.codes != task.queries[queries][:, None]
        guess[changed[np.arange(len(queries))[:, None], parent, units[:, single]]] = -np.inf
    distance = parents.distance[:, parent] + parts.distance[:, single]
    promise = _promise(task, guess, distance, queries)
    once = before is None and (frugal or task.prefer != "nearest")
    bound = task.space.bound_rows
    wide = promise.shape[1] if every else limit * (1 if once and not bound else REPEATS)
    best = highest(promise, wide)
    fresh = np.isfinite(np.take_along_axis(promise, best, axis=1))
    order = np.broadcast_to(np.arange(best.shape[1]), best.shape)
    young = Brood(parents, values, units, queries, parent[best], single[best], order)
    if not once:
        fresh &= first_of_each(young.keys(task))
    rank = np.cumsum(fresh, axis=1) - 1
    if bound:
        return young._replace(rank=np.where(fresh, rank, BEYOND)).lawful(task, limit)
    return young._replace(rank=np.where(fresh & (rank < limit), rank, BEYOND))


def _pairs(parents: _Parts, parts: _Parts, before: Level | None) -> tuple[Array, Array]:
    """Which combination is extended by which single change: two single changes once."""
    if before is None:
        return np.triu_indices(parts.worth.shape[1], 1)
    return np.divmod(np.arange(parents.worth.shape[1] * parts.worth.shape[1]), parts.worth.shape[1])


def _promise(task: Task, guess: Array, distance: Array, queries: Array) -> Array:
    """What to score first: the highest guess; or the nearest of those that should suffice."""
    if task.prefer != "nearest":
        return guess
    slack = np.where(task.bounded[queries], 0.5, 0.0)
    return np.where(guess >= -slack[:, None], -distance, guess - 1e6)


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
    unit, width = singles.candidates.unit, task.space.width
    entry, gain = _best_entries(singles.gain[queries], singles.candidates, width, 1)
    useful = np.isfinite(gain) & (gain > 0)
    rows = np.repeat(task.queries[queries][:, None], entry.shape[1], axis=1)
    for place in range(entry.shape[1]):
        line = np.flatnonzero(useful[:, place])
        chosen = entry[line, place]
        rows[line[:, None], np.arange(place, entry.shape[1])[None, :], unit[chosen][:, None]] = (
            singles.candidates.value[queries[line], chosen][:, None]
        )
    steps = np.arange(1, entry.shape[1] + 1)
    keep = (
        useful & (steps > 2) & (steps <= task.max_changes[queries][:, None]) & _sparse_steps(steps)
    )
    line, step = np.nonzero(keep)
    return rows[line, step], queries[line]


def _sparse_steps(steps: Array) -> Array:
    """Which lengths of a path are tried: all up to 16, then ever fewer."""
    grown = np.unique(np.round(16 * 1.25 ** np.arange(40)).astype(int))
    tried: Array = (steps <= 16) | np.isin(steps, grown)
    return tried
