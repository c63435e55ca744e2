"""Stage 2: fewest changes first. All single changes, then pairs, and so on.

As `macex.stages.search.exhaustive`: a level that is too large for its beam is cut to the most
promising combinations, where the gain of a combination is estimated as the sum of its parts'
gains, and if none of these reaches the goal some more are tried. Where some reach it, nearer ones
that should suffice too are tried as well.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, along, first_of_each, lowest, place_of, ranked_keys
from macex.device.candidates import Singles
from macex.device.judging import Judge
from macex.stages.search.combinations import PER_UNIT, REPEATS
from macex.stages.search.exhaustive import CLOSE, NEARER, Exhaustive

LEAST = 1e-6  # the distance that gains are divided by at least
FAR = 1e6  # so much farther is what should not suffice


class Level(NamedTuple):
    """Combinations of S single changes that were scored, most promising first."""

    columns: Array  # (q, n, S)
    values: Array  # (q, n, S)
    reached: Array  # (q, n) bool
    progress: Array  # (q, n)
    distance: Array  # (q, n)
    key: Array  # (q, n) int: the same for the same changes

    def take(self, queries: Array) -> Level:
        """Those of some queries."""
        return Level(*(part[queries] for part in self))

    def at(self, index: Array) -> Level:
        """The combinations at `index` (q, m)."""
        line = place_of(index).arange(index.shape[0])[:, None]
        return Level(*(part[line, index] for part in self))

    def join(self, other: Level) -> Level:
        """The combinations of both."""
        both = zip(self, other, strict=True)
        return Level(*(place_of(self.key).xp.concat(pair, axis=1) for pair in both))


class Parts(NamedTuple):
    """The best single changes of each query, which combinations are built from."""

    column: Array  # (q, T)
    value: Array  # (q, T)
    gain: Array  # (q, T) minus infinity where there is none
    distance: Array  # (q, T)
    key: Array  # (q, T) int

    def take(self, queries: Array) -> Parts:
        """Those of some queries."""
        return Parts(*(part[queries] for part in self))

    def at(self, index: Array) -> Parts:
        """Those at `index` (q, m)."""
        return Parts(*(along(part, index) for part in self))

    def join(self, other: Parts) -> Parts:
        """Those of both."""
        both = zip(self, other, strict=True)
        return Parts(*(place_of(self.key).xp.concat(pair, axis=1) for pair in both))

    def alone(self, base: Array) -> Level:
        """Each by itself."""
        reached = self.gain > place_of(base).xp.inf
        parts = self.column[:, :, None], self.value[:, :, None]
        return Level(*parts, reached, base[:, None] + self.gain, self.distance, self.key)


def first_level(judge: Judge, own: Array, singles: Singles) -> Level:
    """All single changes, scored."""
    layout, column, value = judge.asker.layout, singles.column, singles.value
    salt = np.random.default_rng(0).integers(1, 2**50, value.shape[1])
    columns, keys = (
        layout.place.xp.broadcast_to(part, value.shape)
        for part in (column, layout.place.array(salt))
    )
    verdict = judge.singles(own, column, value, singles.real)
    distance = layout.distances(own[:, column], value, column)
    return Level(columns[:, :, None], value[:, :, None], *verdict, distance, keys)


def best_parts(
    level: Level, base: Array, starts: tuple[int, ...], most: int
) -> tuple[Parts, Parts]:
    """Of all single changes the surest, and those that nearer combinations are built from.

    The surest come nearest to the goal, only a few of one column. The others are the surest with
    more of one column, and those that gain most for their distance.
    """
    xp, gain = place_of(base).xp, level.progress - base[:, None]
    every = Parts(level.columns[:, :, 0], level.values[:, :, 0], gain, level.distance, level.key)
    few = max(PER_UNIT["fewest"], most // max(1, len(starts) - 1))
    worth, thrift = ranked_keys(gain), ranked_keys(_thrift(gain, level.distance))
    leaders = _leaders(worth, starts, max(few, PER_UNIT["nearest"]))
    surest = _best_entries(worth, [mine[:, :few] for mine in leaders], most)
    wide = _best_entries(worth, leaders, most)
    frugal = _best_entries(thrift, _leaders(thrift, starts, PER_UNIT["nearest"]), most)
    again = xp.any(frugal[:, :, None] == wide[:, None, :], axis=2)
    near = every.at(frugal)
    near = near._replace(gain=xp.where(again, -xp.inf, near.gain))
    return every.at(surest), every.at(wide).join(near)


def _thrift(gain: Array, distance: Array) -> Array:
    """How much is gained for the distance; what gains nothing comes last."""
    xp = place_of(gain).xp
    loss = xp.where(xp.isfinite(gain), -1.0 - distance, -xp.inf)
    return xp.where(gain > 0, gain / xp.clip(distance, LEAST), loss)


def _leaders(keys: Array, starts: tuple[int, ...], most: int) -> list[Array]:
    """The entries of the lowest keys, at most so many of each column."""
    spans = pairwise(starts)
    return [lowest(keys[:, start:stop], most) + start for start, stop in spans]


def _best_entries(keys: Array, leaders: list[Array], most: int) -> Array:
    """Of the leaders of all columns those of the lowest keys."""
    entry = place_of(keys).xp.concat(leaders, axis=1)
    return along(entry, lowest(along(keys, entry), most))


def pairs(judge: Judge, own: Array, parts: Parts, alone: Level, search: Exhaustive) -> Level:
    """The most promising pairs of single changes, scored."""
    place = judge.asker.layout.place
    xp = place.xp
    first, second = (place.array(side) for side in np.triu_indices(int(parts.gain.shape[1]), k=1))
    guess = alone.progress[:, first] + parts.gain[:, second]
    guess = xp.where(parts.column[:, first] == parts.column[:, second], -xp.inf, guess)
    order = lowest(ranked_keys(guess), search.beam + search.more)
    made = _extended(alone, first[order], parts, second[order])
    return _scored(judge, own, made, xp.isfinite(along(guess, order)), search.beam)


def extended(judge: Judge, own: Array, parts: Parts, before: Level, search: Exhaustive) -> Level:
    """The best combinations of the level before, each with one more single change."""
    size = before.columns.shape[2] + 1
    parents = before.at(lowest(ranked_keys(before.progress), _parents(search, size)))
    guess = _guesses(parents, parts)
    made, real = _first(parents, parts, guess, guess.shape[1], search.beam + search.more)
    return _scored(judge, own, made, real, search.beam)


def nearer(
    judge: Judge, own: Array, base: Array, parts: Parts, before: Level, level: Level, most: int
) -> Level:
    """The level and combinations that should suffice too and are nearer than all that do.

    They extend the `most` combinations of the level before that gain most for their distance.
    """
    xp = place_of(own).xp
    thrift = _thrift(before.progress - base[:, None], before.distance)
    parents = before.at(lowest(ranked_keys(thrift), most))
    guess = _guesses(parents, parts)
    distance = parents.distance[:, :, None] + parts.distance[:, None, :]
    slack = 0.5 if judge.asker.outlook.probable else 0.0
    promise = xp.where(guess >= -slack, -xp.reshape(distance, guess.shape), guess - FAR)
    made, real = _first(parents, parts, promise, NEARER * REPEATS, NEARER)
    found = xp.min(xp.where(level.reached, level.distance, xp.inf), axis=1)
    real = real & (made.distance < found[:, None] - CLOSE)
    reached, progress = judge.changes(own, made.columns, made.values, real)
    return level.join(made._replace(reached=reached, progress=progress))


def _guesses(parents: Level, parts: Parts) -> Array:
    """The estimated progress of every parent with every single change, (q, P * T)."""
    xp = place_of(parts.gain).xp
    taken = xp.any(parents.columns[:, :, None, :] == parts.column[:, None, :, None], axis=3)
    guess = parents.progress[:, :, None] + parts.gain[:, None, :]
    shape = (guess.shape[0], guess.shape[1] * guess.shape[2])
    return xp.reshape(xp.where(taken, -xp.inf, guess), shape)


def _first(
    parents: Level, parts: Parts, promise: Array, looked_at: int, most: int
) -> tuple[Level, Array]:
    """The combinations that promise most, (q, most), each once, and which of them there are."""
    xp, width = place_of(promise).xp, parts.gain.shape[1]
    order = lowest(ranked_keys(promise), looked_at)
    keys = along(parents.key, order // width) + along(parts.key, order % width)
    fresh = xp.isfinite(along(promise, order)) & first_of_each(keys)
    order, real = _leading(order, fresh, most)
    return _extended(parents, order // width, parts, order % width), real


def _extended(parents: Level, parent: Array, parts: Parts, single: Array) -> Level:
    """Combinations (q, n) of a parent and a single change each, not scored yet."""
    xp = place_of(single).xp
    made, more = parents.at(parent), parts.at(single)
    columns = xp.concat([made.columns, more.column[:, :, None]], axis=2)
    values = xp.concat([made.values, more.value[:, :, None]], axis=2)
    distance, key = made.distance + more.distance, made.key + more.key
    return made._replace(columns=columns, values=values, distance=distance, key=key)


def _parents(search: Exhaustive, size: int) -> int:
    """How many combinations are extended to `size` changes."""
    return search.parents if size <= search.depth else max(2, search.parents // 5)


def _leading(order: Array, fresh: Array, most: int) -> tuple[Array, Array]:
    """The first `most` fresh entries of each line, and which of them there are."""
    place = place_of(order)
    xp = place.xp
    rank = xp.cumulative_sum(xp.astype(fresh, xp.int64), axis=1) - 1
    line, entry = xp.nonzero(fresh & (rank < most))
    kept = place.zeros((order.shape[0], most), xp.int64)
    real = place.zeros((order.shape[0], most), xp.bool)
    kept[line, rank[line, entry]] = order[line, entry]
    real[line, rank[line, entry]] = True
    return kept, real


def _scored(judge: Judge, own: Array, made: Level, real: Array, beam: int) -> Level:
    """Combinations of which the first `beam` are scored, and the others where these do not help."""
    place = judge.asker.layout.place
    early = (place.arange(real.shape[1]) < beam)[None, :]
    reached, progress = judge.changes(own, made.columns, made.values, real & early)
    late = real & ~early & ~place.xp.any(reached, axis=1)[:, None]
    more, further = judge.changes(own, made.columns, made.values, late)
    progress = place.xp.where(late, further, progress)
    return made._replace(reached=reached | more, progress=progress)
