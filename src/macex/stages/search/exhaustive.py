"""Fewest changes first: all single changes, then pairs, and so on, a model call or two a level.

Level 1 scores every candidate and, for a query that none of them helps, every other value seen in
training, so that an answer of two changes is proved to need two. A deeper level is scored whole
where it is small; otherwise the combinations that look best are scored: the gain of a combination
is estimated as the sum of its parts' gains, which on the scale of log odds is exact for additive
models and a good guess for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.errors import require_counts
from macex.stages.arrays import first_of_each, log_odds, rank_within, set_keys
from macex.stages.shapes import Candidates, Found, Pool, Task

Array = np.ndarray[Any, np.dtype[Any]]


class Singles(NamedTuple):
    """The single changes and what the model said of them."""

    candidates: Candidates
    reached: Array  # (Q, A) bool
    reach: Array  # (Q, A) how much nearer each comes, whether or not it may be made

    @property
    def gain(self) -> Array:
        """How much nearer each single change comes, minus infinity where it may not be made."""
        return np.where(self.candidates.real & self.candidates.allowed, self.reach, -np.inf)


class Level(NamedTuple):
    """Combinations of one level that were scored."""

    codes: Array  # (n, U)
    at: Array  # (n,)
    progress: Array  # (n,)
    reached: Array  # (n,) bool


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Score all single changes, then all pairs, and so on, fewest changes first.

    `max_rows` bounds the rows a query may cost. A level that is larger than `beam` is cut to the
    `beam` most promising combinations, and to `more` further ones if none of those reaches the
    goal; they extend the `parents` best combinations of the level before. Past `depth` changes only
    the greedy path (the best value of each column, best column first) is followed.
    """

    max_rows: int = 6000
    beam: int = 256
    more: int = 512
    parents: int = 40
    depth: int = 4

    def __post_init__(self) -> None:
        require_counts(self, "max_rows", "beam", "more", "parents", "depth")

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Examples that reach their goals, and what was proved on the way."""
        singles, pools = _score_singles(task, candidates)
        open_ = ~_enough(task, pools, 1)
        singles, more, complete = _completed_level(task, singles, open_)
        pools += more
        proof = _Proof(task, complete)
        proof.after(1, pools, np.ones(len(open_), bool))
        level: Level | None = None
        for size in range(2, self.depth + 1):
            open_ &= ~_enough(task, pools, size - 1) & (task.max_changes >= size)
            if not open_.any():
                break
            level, whole = self._level(task, singles, level, pools, np.flatnonzero(open_), size)
            pools.append(_reached(level))
            proof.after(size, pools, whole)
        weight = _weights(task, singles)
        pool = Pool.join(pools, task.space.width)
        return Found(pool, proof.seen, proof.offered, singles.candidates, weight, singles.reached)

    def _level(
        self, task: Task, singles: Singles, before: Level | None, pools: list[Pool], open_: Array, size: int
    ) -> tuple[Level, Array]:
        """Score the combinations of `size` changes; also for whom these were all there are."""
        room = self.max_rows if singles.candidates.exact else self.beam
        small = _combinations(singles.gain[open_], singles.candidates.unit, task.space.width, size) <= room
        beam = open_[~small]
        brood = _brood(task, singles, before, beam, self.parents, self.beam + self.more)
        parts = [_all_of(task, singles, open_[small], size), brood.rows(brood.rank < self.beam)]
        if size == 2:  # noqa: PLR2004
            parts.append(_greedy_path(task, singles, open_))
        level = _score(task, *_fresh(task, pools, parts))
        helped = np.isin(beam, level.at[level.reached])
        late = (brood.rank >= self.beam) & ~helped[:, None]
        if late.any():
            extra = _score(task, *_fresh(task, pools, [brood.rows(late)]))
            level = Level(*(np.concatenate(pair) for pair in zip(level, extra, strict=True)))
        whole = np.ones(len(task.queries), bool)
        whole[beam] = False
        return level, whole


class _Proof:
    """How many levels failed entirely, for every query: over seen values, and over candidates."""

    def __init__(self, task: Task, complete: Array) -> None:
        self.task, self.complete = task, complete
        self.seen = np.zeros(len(complete), int)
        self.offered = np.zeros(len(complete), int)

    def after(self, size: int, pools: list[Pool], whole: Array) -> None:
        """Take note of a level: `whole` says for whom all of it was scored."""
        failed = whole & ~self.task.judge.ran_out & (_sets(self.task, pools, size) == 0)
        self.offered[failed & (self.offered == size - 1)] = size
        self.seen[failed & self.complete & (self.seen == size - 1)] = size


def _completed_level(
    task: Task, singles: Singles, open_: Array
) -> tuple[Singles, list[Pool], Array]:
    """Add every other seen value for the queries that are still open."""
    open_ = open_ & (task.max_changes >= 1)
    if not open_.any():
        return singles, [], open_
    rest, complete = task.rest(open_, singles.candidates)
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
    codes, at, entry = candidates.rows(task.queries, candidates.real)
    if not len(at):
        return Singles(candidates, reached, reach), []
    verdict = task.judge(codes, at, probe=True)
    reach[at, entry] = _stretch(task, verdict.progress) - _stretch(task, task.base)[at]
    reached[at, entry] = verdict.reached
    good = verdict.reached & candidates.allowed[at, entry]
    return Singles(candidates, reached, reach), [Pool(at[good], codes[good], verdict.progress[good])]


def _score(task: Task, codes: Array, at: Array) -> Level:
    if not len(at):
        return Level(codes, at, np.zeros(0), np.zeros(0, bool))
    verdict = task.judge(codes, at)
    return Level(codes, at, verdict.progress, verdict.reached)


def _reached(level: Level) -> Pool:
    good = level.reached
    return Pool(level.at[good], level.codes[good], level.progress[good])


def _sets(task: Task, pools: list[Pool], size: int) -> Array:
    """How many distinct sets of at most `size` changed units were found for each query."""
    pool = Pool.join(pools, task.space.width)
    changed = task.space.changed(pool.codes, pool.at)
    small = changed.sum(axis=1) <= size
    keys = set_keys(changed[small]) ^ (pool.at[small].astype(np.uint64) << np.uint64(40))
    _, first = np.unique(keys, return_index=True)
    return np.bincount(pool.at[small][first], minlength=len(task.queries))


def _enough(task: Task, pools: list[Pool], size: int) -> Array:
    """For whom the search may stop after the level `size`."""
    if task.prefer == "surest" or (task.prefer == "nearest" and size < NEAREST_LEVELS):
        return np.zeros(len(task.queries), bool)
    enough: Array = _sets(task, pools, size) >= task.count
    return enough


def _fresh(task: Task, pools: list[Pool], parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """All parts as one, without supersets of changes that suffice already."""
    codes = np.concatenate([part[0] for part in parts])
    at = np.concatenate([part[1] for part in parts])
    found = Pool.join(pools, task.space.width)
    found = found.take(np.flatnonzero(np.isin(found.at, at)))
    if len(found) and task.prefer == "fewest":
        keep = ~_superfluous(task, found, codes, at)
        codes, at = codes[keep], at[keep]
    return codes, at


def _superfluous(task: Task, found: Pool, codes: Array, at: Array) -> Array:
    """Rows whose changed units include all of a set that was found to suffice."""
    worse = np.zeros(len(at), bool)
    sets = task.space.changed(found.codes, found.at)
    order = np.lexsort((set_keys(sets), found.at))
    keys = set_keys(sets)[order]
    owner = found.at[order]
    new = np.ones(len(order), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owner[1:] != owner[:-1])
    sets, owner = sets[order][new], owner[new]
    changed = task.space.changed(codes, at)
    for turn in range(int(np.bincount(owner).max(initial=0))):
        start = np.searchsorted(owner, at, side="left") + turn
        mine = (start < len(owner)) & (owner[np.minimum(start, len(owner) - 1)] == at)
        smaller = sets[np.minimum(start, len(owner) - 1)]
        worse |= mine & (changed | ~smaller).all(axis=1)
    return worse


def _combinations(gain: Array, unit: Array, width: int, size: int) -> Array:
    """How many combinations of `size` changes each query has."""
    counts = np.zeros((len(gain), width))
    for place in range(width):
        counts[:, place] = np.isfinite(gain[:, unit == place]).sum(axis=1)
    ways = np.zeros((len(gain), size + 1))
    ways[:, 0] = 1
    for place in range(width):
        ways[:, 1:] += ways[:, :-1] * counts[:, place, None]
    return ways[:, size]


def _all_of(task: Task, singles: Singles, queries: Array, size: int) -> tuple[Array, Array]:
    """Every combination of `size` single changes of different units."""
    gain = singles.gain
    unit, value = singles.candidates.unit, singles.candidates.value
    codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
    for query in queries:
        entries = np.flatnonzero(np.isfinite(gain[query]))
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
    worth: Array  # (q, P) stretched progress, minus infinity where there is none
    distance: Array  # (q, P)


def _ranked(task: Task, gain: Array, distance: Array) -> Array:
    """How much each single change promises: its gain, or its gain per distance."""
    if task.prefer != "nearest":
        return gain
    return np.where(gain > 0, gain / np.maximum(distance, 1e-9), np.where(np.isfinite(gain), -1.0, -np.inf))


def _parents(task: Task, before: Level, queries: Array, most: int) -> _Parts:
    """The best combinations of the level before that did not reach the goal."""
    position = np.full(len(task.queries), -1)
    position[queries] = np.arange(len(queries))
    usable = (position[before.at] >= 0) & ~before.reached & np.isfinite(before.progress)
    at, rows, progress = before.at[usable], before.codes[usable], before.progress[usable]
    worth, distance = _stretch(task, progress), _distance(task, rows, at)
    start = _stretch(task, task.base)[at]
    rank = rank_within(at, -_ranked(task, worth - start, distance), np.arange(len(at)))
    keep = rank < most
    parts = _Parts(
        np.repeat(task.queries[queries][:, None], most, axis=1),
        np.full((len(queries), most), -np.inf),
        np.zeros((len(queries), most)),
    )
    for table, values in zip(parts, (rows, worth, distance), strict=True):
        table[position[at[keep]], rank[keep]] = values[keep]
    return parts


def _single_parts(task: Task, singles: Singles, queries: Array, most: int) -> tuple[Array, _Parts]:
    """The best single changes: which candidates they are, and as parts."""
    unit, value = singles.candidates.unit, singles.candidates.value
    gain = singles.gain[queries]
    distance = _single_distances(task, singles, queries, np.isfinite(gain))
    entry, _ = _best_entries(gain, unit, most)
    if task.prefer == "nearest":
        frugal, _ = _best_entries(_ranked(task, gain, distance), unit, most)
        entry = np.concatenate([frugal, entry], axis=1)
    codes = np.repeat(task.queries[queries][:, None], entry.shape[1], axis=1)
    line, place = np.indices(entry.shape)
    codes[line, place, unit[entry]] = value[queries[:, None], entry]
    worth = np.take_along_axis(gain, entry, axis=1) + _stretch(task, task.base)[queries][:, None]
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


def _best_entries(rank_by: Array, unit: Array, most: int, per_unit: int = 8) -> tuple[Array, Array]:
    """The entries that promise most, not too many of one unit, and what they promise."""
    if not rank_by.shape[1]:
        return np.zeros((len(rank_by), 0), np.intp), np.zeros((len(rank_by), 0))
    order = np.lexsort((-rank_by, np.broadcast_to(unit, rank_by.shape)), axis=1)
    ranked = np.sort(unit)
    rank = np.empty(rank_by.shape, int)
    turn = np.arange(len(unit)) - np.searchsorted(ranked, ranked, side="left")
    np.put_along_axis(rank, order, np.broadcast_to(turn, rank_by.shape), axis=1)
    capped = np.where(rank < per_unit, rank_by, -np.inf)
    best = np.argsort(-capped, axis=1, kind="stable")[:, :most]
    return best, np.take_along_axis(capped, best, axis=1)


class _Brood(NamedTuple):
    """The most promising extensions of some combinations by one single change."""

    parents: _Parts
    values: Array  # (q, T) what each single change sets
    units: Array  # (q, T)
    queries: Array  # (q,)
    pair: Array  # (q, C) parent and single change as one number, most promising first
    rank: Array  # (q, C) place among the distinct ones, or beyond any limit

    def rows(self, chosen: Array) -> tuple[Array, Array]:
        """The extensions at `chosen` (q, C) as rows of codes, and their queries."""
        line, place = np.nonzero(chosen & (self.rank < BEYOND))
        parent, single = np.divmod(self.pair[line, place], self.values.shape[1])
        codes = self.parents.codes[line, parent]
        codes[np.arange(len(line)), self.units[line, single]] = self.values[line, single]
        return codes, self.queries[line]


def _brood(
    task: Task, singles: Singles, before: Level | None, queries: Array, most: int, limit: int
) -> _Brood:
    """Extend the best combinations of the level before by the best single changes."""
    entry, parts = _single_parts(task, singles, queries, most)
    parents = parts if before is None else _parents(task, before, queries, most)
    units = singles.candidates.unit[entry]
    values = np.take_along_axis(singles.candidates.value[queries], entry, axis=1)
    changed = parents.codes != task.queries[queries][:, None]
    taken = np.take_along_axis(changed, units[:, None, :].repeat(changed.shape[1], axis=1), axis=2)
    gain = parts.worth - _stretch(task, task.base)[queries][:, None]
    guess = np.where(taken, -np.inf, parents.worth[:, :, None] + gain[:, None, :])
    distance = parents.distance[:, :, None] + parts.distance[:, None, :]
    promise = _promise(task, guess, distance).reshape(len(queries), -1)
    pair = np.argsort(-promise, axis=1, kind="stable")
    keys = (_set_key(parents.codes, changed)[:, :, None] + _change_key(values, units)[:, None, :]).reshape(
        promise.shape
    )
    fresh = first_of_each(np.take_along_axis(keys, pair, axis=1))
    fresh &= np.isfinite(np.take_along_axis(promise, pair, axis=1))
    rank = np.cumsum(fresh, axis=1) - 1
    return _Brood(parents, values, units, queries, pair, np.where(fresh & (rank < limit), rank, BEYOND))


def _change_key(values: Array, units: Array) -> Array:
    """A 64-bit key of setting a unit to a value; the key of several changes is the sum."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    keys = (bits ^ (units.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    mixed: Array = (keys ^ (keys >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return mixed


def _set_key(codes: Array, changed: Array) -> Array:
    """The key of all changes of a combination, (q, P)."""
    keys = _change_key(codes, np.broadcast_to(np.arange(codes.shape[2]), codes.shape))
    total: Array = np.where(changed, keys, np.uint64(0)).sum(axis=2, dtype=np.uint64)
    return total


def _promise(task: Task, guess: Array, distance: Array) -> Array:
    """What to score first: the highest guess; or the nearest of those that should suffice."""
    if task.prefer != "nearest":
        return guess
    enough = _stretch(task, np.array([0.5]))[0]
    slack = 0.25 if task.bounded else 0.0
    return np.where(guess >= enough - slack, -distance, guess - 1e6)


def _greedy_path(task: Task, singles: Singles, queries: Array) -> tuple[Array, Array]:
    """The best value of each unit, set one after the other, best unit first (Algorithm 2, step 5)."""
    unit, width = singles.candidates.unit, task.space.width
    entry, gain = _best_entries(singles.gain[queries], unit, width, per_unit=1)
    useful = np.isfinite(gain) & (gain > 0)
    rows = np.repeat(task.queries[queries][:, None], entry.shape[1], axis=1)
    for step in range(entry.shape[1]):
        line = np.flatnonzero(useful[:, step])
        chosen = entry[line, step]
        rows[line[:, None], np.arange(step, entry.shape[1])[None, :], unit[chosen][:, None]] = (
            singles.candidates.value[queries[line], chosen][:, None]
        )
    steps = np.arange(1, entry.shape[1] + 1)
    keep = (
        useful & (steps > 2) & (steps <= task.max_changes[queries][:, None]) & _sparse_steps(steps)
    )  # noqa: PLR2004
    line, step = np.nonzero(keep)
    return rows[line, step], queries[line]


def _sparse_steps(steps: Array) -> Array:
    """Which lengths of a path are tried: all up to 16, then ever fewer."""
    grown = np.unique(np.round(16 * 1.25 ** np.arange(40)).astype(int))
    tried: Array = (steps <= 16) | np.isin(steps, grown)  # noqa: PLR2004
    return tried


def _weights(task: Task, singles: Singles) -> Array:
    """The share of every single change in the gains of the best change of each unit."""
    gain = np.where(singles.candidates.real & np.isfinite(singles.reach), np.maximum(singles.reach, 0.0), 0.0)
    total = np.zeros(len(gain))
    for place in range(task.space.width):
        total += gain[:, singles.candidates.unit == place].max(axis=1, initial=0.0)
    share: Array = gain / np.where(total > 0, total, 1.0)[:, None]
    return share


def _stretch(task: Task, progress: Array) -> Array:
    return log_odds(progress) if task.bounded else progress


BEYOND = np.iinfo(np.int64).max
NEAREST_LEVELS = 3  # how many levels are looked at when the nearest example is wanted
