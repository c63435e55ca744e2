"""Stage 2: fewest changes first. All single changes, then pairs, and so on.

As `macex.stages.search.exhaustive`: a level that is too large for its beam is cut to the most
promising combinations, where the gain of a combination is estimated as the sum of its parts'
gains, and if none of these reaches the goal some more are tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, along, first_of_each, lowest, place_of, ranked_keys
from macex.device.candidates import Singles
from macex.device.judging import Judge
from macex.stages.search.combinations import PER_UNIT
from macex.stages.search.exhaustive import Exhaustive

MOST_PARTS = 60  # single changes that combinations are built from: bits of a key


class Level(NamedTuple):
    """Combinations of S single changes that were scored, most promising first."""

    columns: Array  # (q, n, S)
    values: Array  # (q, n, S)
    reached: Array  # (q, n) bool
    progress: Array  # (q, n)

    def take(self, queries: Array) -> Level:
        """Those of some queries."""
        return Level(*(part[queries] for part in self))


class Parts(NamedTuple):
    """The best single changes of each query, which combinations are built from."""

    column: Array  # (q, T)
    value: Array  # (q, T)
    gain: Array  # (q, T) minus infinity where there is none

    def take(self, queries: Array) -> Parts:
        """Those of some queries."""
        return Parts(*(part[queries] for part in self))


class Family(NamedTuple):
    """A level, and of which single changes each of its combinations is made."""

    level: Level
    parts: Array  # (q, n, S) positions among the parts

    def take(self, queries: Array) -> Family:
        """Those of some queries."""
        return Family(self.level.take(queries), self.parts[queries])


def first_level(judge: Judge, own: Array, singles: Singles) -> Level:
    """All single changes, scored."""
    xp = judge.asker.layout.place.xp
    columns = xp.broadcast_to(singles.column, singles.value.shape)[:, :, None]
    values = singles.value[:, :, None]
    return Level(columns, values, *judge.singles(own, singles.column, singles.value, singles.real))


def best_parts(singles: Singles, level: Level, base: Array, most: int) -> Parts:
    """The single changes that come nearest to the goal, not too many of one column."""
    gain = level.progress - base[:, None]
    most = min(most, MOST_PARTS)
    spans = list(zip(singles.starts[:-1], singles.starts[1:], strict=True))
    each = max(PER_UNIT["fewest"], most // max(1, len(spans)))
    keys = ranked_keys(gain)
    best = [lowest(keys[:, start:stop], each) + start for start, stop in spans]
    entry = place_of(base).xp.concat(best, axis=1)
    entry = along(entry, lowest(along(keys, entry), most))
    return Parts(singles.column[entry], along(singles.value, entry), along(gain, entry))


def pairs(judge: Judge, own: Array, base: Array, parts: Parts, search: Exhaustive) -> Family:
    """The most promising pairs of single changes, scored."""
    place = judge.asker.layout.place
    xp = place.xp
    first, second = (place.array(side) for side in np.triu_indices(int(parts.gain.shape[1]), k=1))
    guess = base[:, None] + parts.gain[:, first] + parts.gain[:, second]
    guess = xp.where(parts.column[:, first] == parts.column[:, second], -xp.inf, guess)
    order = lowest(ranked_keys(guess), search.beam + search.more)
    made = xp.stack([first[order], second[order]], axis=2)
    return _scored(judge, own, parts, made, xp.isfinite(along(guess, order)), search.beam)


def extended(judge: Judge, own: Array, parts: Parts, before: Family, search: Exhaustive) -> Family:
    """The best combinations of the level before, each with one more single change."""
    place = judge.asker.layout.place
    xp, size = place.xp, before.parts.shape[2] + 1
    best = lowest(ranked_keys(before.level.progress), _parents(search, size))
    (count, most), width = best.shape, parts.gain.shape[1]
    line = place.arange(count)[:, None]
    parents = before.parts[line, best]  # (q, P, S - 1)
    taken = xp.any(
        before.level.columns[line, best][:, :, None, :] == parts.column[:, None, :, None], axis=3
    )
    guess = along(before.level.progress, best)[:, :, None] + parts.gain[:, None, :]
    guess = xp.reshape(xp.where(taken, -xp.inf, guess), (count, most * width))
    order = lowest(ranked_keys(guess), most * width)
    parent, single = order // width, order % width
    made = xp.concat([parents[line, parent], single[:, :, None]], axis=2)
    bits = xp.sum(place.array(2 ** np.arange(MOST_PARTS))[made], axis=2)
    fresh = xp.isfinite(along(guess, order)) & first_of_each(bits)
    made, real = _leading(made, fresh, search.beam + search.more)
    return _scored(judge, own, parts, made, real, search.beam)


def _parents(search: Exhaustive, size: int) -> int:
    """How many combinations are extended to `size` changes."""
    return search.parents if size <= search.depth else max(2, search.parents // 5)


def _leading(made: Array, fresh: Array, most: int) -> tuple[Array, Array]:
    """The first `most` fresh combinations of each query, and which of them there are."""
    place = place_of(made)
    xp = place.xp
    rank = xp.cumulative_sum(xp.astype(fresh, xp.int64), axis=1) - 1
    line, entry = xp.nonzero(fresh & (rank < most))
    kept = place.zeros((made.shape[0], most, made.shape[2]), xp.int64)
    real = place.zeros((made.shape[0], most), xp.bool)
    kept[line, rank[line, entry]] = made[line, entry]
    real[line, rank[line, entry]] = True
    return kept, real


def _scored(judge: Judge, own: Array, parts: Parts, made: Array, real: Array, beam: int) -> Family:
    """Combinations (q, n, S), the first `beam` scored, and the others where these do not help."""
    place = judge.asker.layout.place
    line = place.arange(made.shape[0])[:, None, None]
    columns, values = parts.column[line, made], parts.value[line, made]
    early = (place.arange(made.shape[1]) < beam)[None, :]
    reached, progress = judge.changes(own, columns, values, real & early)
    late = real & ~early & ~place.xp.any(reached, axis=1)[:, None]
    more, further = judge.changes(own, columns, values, late)
    progress = place.xp.where(late, further, progress)
    return Family(Level(columns, values, reached | more, progress), made)
