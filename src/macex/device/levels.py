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

from macex.device.arrays import Array, along, first_of_each, fused, lowest, place_of, ranked_keys
from macex.device.candidates import DeviceSingles
from macex.device.verdicts import DeviceJudge
from macex.stages.search.exhaustive import CLOSE, Exhaustive
from macex.stages.search.extensions import PER_UNIT

LEAST = 1e-6  # the distance that gains are divided by at least
FAR = 1e6  # so much farther is what should not suffice
REPEATS = 4  # how often one combination may come from different parents
NEARER = 32  # combinations that are tried because they are nearer; the search tries more


class DeviceLevel(NamedTuple):
    """Combinations of S single changes that were scored, most promising first."""

    columns: Array  # (q, n, S)
    values: Array  # (q, n, S)
    reached: Array  # (q, n) bool
    progress: Array  # (q, n)
    distance: Array  # (q, n)
    key: Array  # (q, n) int: the same for the same changes

    def take(self, queries: Array) -> DeviceLevel:
        """Those of some queries."""
        return DeviceLevel(*(part[queries] for part in self))

    def at(self, index: Array) -> DeviceLevel:
        """The combinations at `index` (q, m)."""
        line = place_of(index).arange(index.shape[0])[:, None]
        return DeviceLevel(*(part[line, index] for part in self))

    def join(self, other: DeviceLevel) -> DeviceLevel:
        """The combinations of both."""
        both = zip(self, other, strict=True)
        return DeviceLevel(*(place_of(self.key).xp.concat(pair, axis=1) for pair in both))


class LevelParts(NamedTuple):
    """The best single changes of each query, which combinations are built from."""

    column: Array  # (q, T)
    value: Array  # (q, T)
    gain: Array  # (q, T) minus infinity where there is none
    distance: Array  # (q, T)
    key: Array  # (q, T) int

    def take(self, queries: Array) -> LevelParts:
        """Those of some queries."""
        return LevelParts(*(part[queries] for part in self))

    def at(self, index: Array) -> LevelParts:
        """Those at `index` (q, m)."""
        line = place_of(index).arange(index.shape[0])[:, None]
        return LevelParts(*(part[line, index] for part in self))


class DeviceBrood(NamedTuple):
    """Combinations that may be scored: parents, each with one more single change."""

    parents: DeviceLevel  # (q, P)
    parts: LevelParts  # (q, T)
    parent: Array  # (n,)
    single: Array  # (n,)
    guess: Array  # (q, n) the estimated progress, minus infinity where there is none

    def first(self, promise: Array, most: int) -> tuple[DeviceLevel, Array]:
        """Those that promise most, (q, most), each once, and which of them there are."""
        once = self.parents.columns.shape[2] == 1
        order = lowest(ranked_keys(promise), most if once else most * REPEATS)
        real = place_of(promise).xp.isfinite(along(promise, order))
        if not once:
            parent, single = self.parent[order], self.single[order]
            keys = along(self.parents.key, parent) + along(self.parts.key, single)
            order, real = _leading(order, real & first_of_each(keys), most)
        return self._made(order), real

    def distances(self) -> Array:
        """How far each is from its query, (q, n)."""
        return self.parents.distance[:, self.parent] + self.parts.distance[:, self.single]

    def _made(self, order: Array) -> DeviceLevel:
        """Those at `order` (q, m), not scored yet."""
        xp = place_of(order).xp
        made, more = self.parents.at(self.parent[order]), self.parts.at(self.single[order])
        columns = xp.concat([made.columns, more.column[:, :, None]], axis=2)
        values = xp.concat([made.values, more.value[:, :, None]], axis=2)
        distance, key = made.distance + more.distance, made.key + more.key
        return made._replace(columns=columns, values=values, distance=distance, key=key)


def first_level(judge: DeviceJudge, own: Array, singles: DeviceSingles) -> DeviceLevel:
    """All single changes, scored."""
    layout, column, value = judge.asker.layout, singles.column, singles.value
    salt = layout.place.array(np.random.default_rng(0).integers(1, 2**50, value.shape[1]))
    columns, keys = (layout.place.xp.broadcast_to(part, value.shape) for part in (column, salt))
    verdict = judge.singles(own, column, value, singles.real)
    distance = layout.distances(own[:, column], value, column)
    return DeviceLevel(columns[:, :, None], value[:, :, None], *verdict, distance, keys)


def best_parts(
    level: DeviceLevel, base: Array, starts: tuple[int, ...], most: int
) -> tuple[LevelParts, LevelParts]:
    """The single changes that gain most, and those that gain most for their distance.

    Not too many are of one column.
    """
    gain = level.progress - base[:, None]
    every = LevelParts(
        level.columns[:, :, 0], level.values[:, :, 0], gain, level.distance, level.key
    )
    few = max(PER_UNIT["fewest"], most // max(1, len(starts) - 1))
    surest = _best_entries(gain, starts, most, few)
    frugal = _best_entries(_thrift(gain, level.distance), starts, most, PER_UNIT["nearest"])
    return every.at(surest), every.at(frugal)


def _best_entries(worth: Array, starts: tuple[int, ...], most: int, each: int) -> Array:
    """The entries of most worth, at most `each` of one column."""
    place, keys = place_of(worth), ranked_keys(worth)
    best = []
    for start, stop in pairwise(starts):
        few = place.xp.broadcast_to(place.arange(stop - start), (keys.shape[0], stop - start))
        mine = few if stop - start <= each else lowest(keys[:, start:stop], each)
        best.append(mine + start)
    entry = place.xp.concat(best, axis=1)
    return along(entry, lowest(along(keys, entry), most))


@fused
def _thrift(gain: Array, distance: Array) -> Array:
    """How much is gained for the distance; what gains nothing comes last."""
    xp = place_of(gain).xp
    loss = xp.where(xp.isfinite(gain), -1.0 - distance, -xp.inf)
    return xp.where(gain > 0, gain / xp.clip(distance, LEAST), loss)


def pairs(parts: LevelParts, base: Array) -> DeviceBrood:
    """All pairs of single changes."""
    place = place_of(base)
    first, second = (place.array(side) for side in np.triu_indices(int(parts.gain.shape[1]), k=1))
    guess = _together(base, parts, first, second)
    alone = DeviceLevel(
        parts.column[:, :, None],
        parts.value[:, :, None],
        parts.gain > place.xp.inf,
        base[:, None] + parts.gain,
        parts.distance,
        parts.key,
    )
    return DeviceBrood(alone, parts, first, second, guess)


@fused
def _together(base: Array, parts: LevelParts, first: Array, second: Array) -> Array:
    """The progress that pairs of single changes should make, if they concern two columns."""
    xp = place_of(base).xp
    guess = base[:, None] + parts.gain[:, first] + parts.gain[:, second]
    return xp.where(parts.column[:, first] == parts.column[:, second], -xp.inf, guess)


def extensions(parents: DeviceLevel, parts: LevelParts) -> DeviceBrood:
    """All parents, each with every other single change."""
    place = place_of(parts.gain)
    xp, (count, most), width = place.xp, parents.key.shape, parts.gain.shape[1]
    taken = xp.any(parents.columns[:, :, None, :] == parts.column[:, None, :, None], axis=3)
    guess = parents.progress[:, :, None] + parts.gain[:, None, :]
    guess = xp.reshape(xp.where(taken, -xp.inf, guess), (count, most * width))
    each = place.arange(most * width)
    return DeviceBrood(parents, parts, each // width, each % width, guess)


def surest_parents(before: DeviceLevel, search: Exhaustive) -> DeviceLevel:
    """The combinations of the level before that came nearest to the goal."""
    deep = before.columns.shape[2] >= search.depth
    most = max(2, search.parents // 5) if deep else search.parents
    return before.at(lowest(ranked_keys(before.progress), most))


def frugal_parents(before: DeviceLevel, base: Array, search: Exhaustive) -> DeviceLevel:
    """The combinations of the level before that gained most for their distance."""
    thrift = _thrift(before.progress - base[:, None], before.distance)
    return before.at(lowest(ranked_keys(thrift), search.parents))


def scored(judge: DeviceJudge, own: Array, brood: DeviceBrood, search: Exhaustive) -> DeviceLevel:
    """The most promising combinations, and some more where the first of these do not help."""
    place = judge.asker.layout.place
    made, real = brood.first(brood.guess, search.beam + search.more)
    early = (place.arange(real.shape[1]) < search.beam)[None, :]
    reached, progress = judge.changes(own, made.columns, made.values, real & early)
    late = real & ~early & ~place.xp.any(reached, axis=1)[:, None]
    more, further = judge.changes(own, made.columns, made.values, late)
    progress = place.xp.where(late, further, progress)
    return made._replace(reached=reached | more, progress=progress)


def nearer(judge: DeviceJudge, own: Array, brood: DeviceBrood, level: DeviceLevel) -> DeviceLevel:
    """The level and combinations that should suffice too and are nearer than all that do."""
    xp = judge.asker.layout.place.xp
    slack = 0.5 if judge.asker.outlook.probable else 0.0
    promise = xp.where(brood.guess >= -slack, -brood.distances(), brood.guess - FAR)
    made, real = brood.first(promise, NEARER)
    found = xp.min(xp.where(level.reached, level.distance, xp.inf), axis=1)
    real = real & (made.distance < found[:, None] - CLOSE)
    reached, progress = judge.changes(own, made.columns, made.values, real)
    return level.join(made._replace(reached=reached, progress=progress))


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
