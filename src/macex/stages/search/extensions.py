"""Combinations of one change more: those of a level, each extended by a single change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.schema import Array, cell_keys
from macex.stages.arrays import first_of_each, highest, rank_within
from macex.stages.search.combinations import Level, Singles, best_entries
from macex.stages.shapes import Task

REPEATS = 12  # how often one combination may come from different parents
NONE = -1  # no extension

# How many single changes of one unit combinations are built from.
PER_UNIT = {"fewest": 8, "surest": 8, "nearest": 24}


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
    entry, capped = best_entries(_ranked(task, gain, distance), singles.candidates, most, per_unit)
    real = np.isfinite(capped)
    if task.prefer == "nearest" and not frugal:
        surest, capped = best_entries(gain, singles.candidates, most, per_unit)
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


class Brood(NamedTuple):
    """Extensions of some combinations by one single change each."""

    parents: _Parts
    values: Array  # (q, T) what each single change sets
    units: Array  # (q, T)
    queries: Array  # (q,)
    parent: Array  # (p,) of each extension: which combination it extends
    single: Array  # (p,) and by which single change
    best: Array  # (q, C) extensions, most promising first, or NONE

    def rows(self, least: int = 0) -> tuple[Array, Array]:
        """The best extensions from a rank on as rows of codes, and their queries."""
        line, place = np.nonzero(self.best[:, least:] != NONE)
        return self._built(line, self.best[line, least + place]), self.queries[line]

    def ranked(self, task: Task, promise: Array, width: int, limit: int, *, once: bool) -> Array:
        """The first `limit` distinct and lawful ones of the `width` that promise most, (q, C)."""
        best = highest(promise, width)
        fresh = np.isfinite(np.take_along_axis(promise, best, axis=1))
        if not once:
            fresh &= first_of_each(self._keys(task, best))
        if task.space.bound_rows:
            line, place = np.nonzero(fresh)
            codes, at = self._built(line, best[line, place]), self.queries[line]
            fresh[line, place] = task.space.holds(task.space.columns(codes, at), at)
        rank = np.cumsum(fresh, axis=1) - 1
        line, place = np.nonzero(fresh & (rank < limit))
        kept = np.full((len(best), min(limit, best.shape[1])), NONE)
        kept[line, rank[line, place]] = best[line, place]
        return kept

    def of(self, lines: Array) -> Brood:
        """The extensions of some of the queries."""
        return self._replace(
            parents=_Parts(*(part[lines] for part in self.parents)),
            values=self.values[lines],
            units=self.units[lines],
            queries=self.queries[lines],
            best=self.best[lines],
        )

    def _keys(self, task: Task, best: Array) -> Array:
        """Keys of the changes of some extensions, (q, C)."""
        codes = self.parents.codes
        changed = codes != task.queries[self.queries][:, None]
        keys = np.where(changed, cell_keys(codes, np.arange(codes.shape[2])), np.uint64(0))
        before = np.take_along_axis(keys.sum(axis=2, dtype=np.uint64), self.parent[best], axis=1)
        by = np.take_along_axis(cell_keys(self.values, self.units), self.single[best], axis=1)
        return np.asarray(before + by)

    def _built(self, line: Array, extension: Array) -> Array:
        parent, single = self.parent[extension], self.single[extension]
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
    promise = guess
    if task.prefer == "nearest":
        distance = parents.distance[:, parent] + parts.distance[:, single]
        promise = _promise(task, guess, distance, queries)
    once = before is None and (frugal or task.prefer != "nearest")
    young = Brood(parents, values, units, queries, parent, single, queries[:, None])
    wide = limit if once and not task.space.bound_rows else limit * REPEATS
    wide = promise.shape[1] if every else wide
    return young._replace(best=_best(task, young, promise, wide, limit, once=once))


def _best(task: Task, young: Brood, promise: Array, wide: int, limit: int, *, once: bool) -> Array:
    """The first `limit` distinct and lawful ones of the `wide` that promise most, (q, C).

    Most queries have enough of them among few, so the others are looked at only where they have
    not.
    """
    few = min(wide, limit + limit // 4 if once else 2 * limit)
    best = young.ranked(task, promise, few, limit, once=once)
    if few >= min(wide, promise.shape[1]):
        return best
    short = np.flatnonzero(best[:, -1] == NONE)
    short = short[np.isfinite(promise[short]).sum(axis=1) > few]
    if len(short):
        best[short] = young.of(short).ranked(task, promise[short], wide, limit, once=once)
    return best


def _pairs(parents: _Parts, parts: _Parts, before: Level | None) -> tuple[Array, Array]:
    """Which combination is extended by which single change: two single changes once."""
    if before is None:
        return np.triu_indices(parts.worth.shape[1], 1)
    return np.divmod(np.arange(parents.worth.shape[1] * parts.worth.shape[1]), parts.worth.shape[1])


def _promise(task: Task, guess: Array, distance: Array, queries: Array) -> Array:
    """The nearest first of those that should suffice, then the highest guess."""
    slack = np.where(task.bounded[queries], 0.5, 0.0)
    return np.where(guess >= -slack[:, None], -distance, guess - 1e6)
