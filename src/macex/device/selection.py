"""Stage 3: which example to return: fewest changes, then plausible, then nearest.

The nearest few examples of the nearest sets of columns are refined; then the best is taken. If it
is implausible, all others are looked at, too, and points that were passed on the way to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from macex.device.arrays import (
    Array,
    at_each,
    best_of,
    changed_rows,
    first_lowest,
    first_of_each,
    fused,
    place_of,
    rows_at,
    without,
)
from macex.device.layout import DeviceLayout
from macex.device.levels import DeviceLevel
from macex.device.plausibility import DeviceReference
from macex.device.section import DeviceTried, Examples, measured, on_the_way, refined
from macex.device.verdicts import DeviceJudge
from macex.stages.finetune.section import Section
from macex.stages.selection import PLAUSIBLE

SETS = 6  # sets of columns that are looked at
EACH = 5  # examples of each
REFINED = 2  # of these, how many are refined
WAVES = (4, 12)  # how many are looked at if the best is implausible, and then


class DevicePool(NamedTuple):
    """Examples of each query, to choose from."""

    columns: Array  # (q, n, S)
    values: Array  # (q, n, S)
    progress: Array  # (q, n)
    real: Array  # (q, n) bool

    def take(self, queries: Array) -> DevicePool:
        """Those of some queries."""
        return DevicePool(*(part[queries] for part in self))

    def at(self, index: Array) -> DevicePool:
        """The examples at `index` (q, m)."""
        line = place_of(index).arange(index.shape[0])[:, None]
        return DevicePool(*(part[line, index] for part in self))

    def join(self, other: DevicePool) -> DevicePool:
        """The examples of both."""
        both = zip(self, other, strict=True)
        return DevicePool(*(place_of(self.real).xp.concat(pair, axis=1) for pair in both))


class OneWay(NamedTuple):
    """Examples before and after they were refined, and what was tried first."""

    start: DevicePool
    end: DevicePool
    number: Array  # (q, n) which of all that were refined each of them is
    tried: DeviceTried


@dataclass(frozen=True)
class DeviceSelection:
    """Chooses one example for each query of a block."""

    layout: DeviceLayout
    judge: DeviceJudge
    usual: DeviceReference
    section: Section | None

    def __call__(self, own: Array, level: DeviceLevel) -> Array:
        """The chosen rows (q, d); every query has an example in the level."""
        xp = self.layout.place.xp
        every = DevicePool(level.columns, level.values, level.progress, level.reached)
        short = self._shortlist(every, level.distance)
        way = None if self.section is None else self._refined(own, short, self.section)
        pool = short if way is None else short.join(way.end)
        rows = self._rows(own, pool, self._best(own, pool))
        odd = xp.nonzero(self.usual.share(rows) < PLAUSIBLE)[0]
        if odd.shape[0]:
            if level.columns.shape[2] == 1:  # of single changes all are worth a look
                pool = every if way is None else every.join(way.end)
            pool = pool.take(odd)
            pool = pool if way is None else pool.join(self._passed(way, odd))
            rows[odd] = self._plausible(own[odd], pool)
        return rows

    def _shortlist(self, pool: DevicePool, distance: Array) -> DevicePool:
        """The nearest few examples of the nearest sets of columns, (q, SETS * EACH)."""
        keys = self.layout.place.xp.sum(self.layout.salt[pool.columns], axis=2)
        index, real = _nearest_of_sets(pool.real, distance, keys)
        return pool.at(index)._replace(real=real)

    def _refined(self, own: Array, pool: DevicePool, section: Section) -> OneWay:
        """The nearest examples of each set, refined."""
        xp, place = self.layout.place.xp, self.layout.place
        nearest = place.arange(SETS * EACH)
        nearest = nearest[nearest % EACH < REFINED]
        some = DevicePool(*(part[:, nearest] for part in pool))
        some = some._replace(real=some.real & xp.any(self.layout.number[some.columns], axis=2))
        line, entry = xp.nonzero(some.real)
        made = Examples(rows_at(own, line), *(part[line, entry] for part in some[:3]))
        done, tried = refined(self.judge, self.layout, section, made)
        values, progress = some.values + 0.0, some.progress + 0.0
        values[line, entry], progress[line, entry] = done.values, done.progress
        number = place.zeros(some.real.shape, xp.int64)
        number[line, entry] = place.arange(line.shape[0])
        return OneWay(some, some._replace(values=values, progress=progress), number, tried)

    def _passed(self, way: OneWay, queries: Array) -> DevicePool:
        """Points that were passed while the examples of some queries were refined."""
        xp, place = self.layout.place.xp, self.layout.place
        start = way.start.take(queries)
        line, entry = xp.nonzero(start.real)
        tried = way.tried.take(way.number[queries[line], entry])
        found = on_the_way(self.layout, start.values[line, entry], tried)
        count, most, size = start.values.shape
        shape = (count, most, found[0].shape[1])
        values = place.zeros((*shape, size), xp.float64)
        progress, real = place.zeros(shape, xp.float64), place.zeros(shape, xp.bool)
        for table, part in zip((values, progress, real), found, strict=True):
            table[line, entry] = part
        columns = xp.broadcast_to(start.columns[:, :, None, :], values.shape)
        columns, values = (xp.reshape(part, (count, -1, size)) for part in (columns, values))
        return DevicePool(
            columns, values, *(xp.reshape(part, (count, -1)) for part in (progress, real))
        )

    def _plausible(self, own: Array, pool: DevicePool) -> Array:
        """The best rows where the very best are implausible: the nearest plausible ones, if any.

        The next nearest few are looked at first, and all only where these are implausible, too.
        """
        xp, place = self.layout.place.xp, self.layout.place
        changes, distance = self._measured(own, pool)
        fewest = xp.min(xp.where(pool.real, changes, 1 << 30), axis=1, keepdims=True)
        left = pool.real & (changes == fewest)
        best = best_of(left, distance, -pool.progress)
        left = left & (place.arange(left.shape[1]) != best[:, None])
        left = left & first_of_each(xp.where(left, _nearness(distance, pool.progress), xp.inf))
        queries = place.arange(own.shape[0])
        for wave in (*WAVES, None):
            if not queries.shape[0]:
                break
            mine, some = left[queries], pool.take(queries)
            look = mine if wave is None else _nearest(mine, distance[queries], some.progress, wave)
            usual = self._usual(own[queries], some, look)
            keys = distance[queries], -some.progress
            best[queries] = xp.where(xp.any(usual, axis=1), best_of(usual, *keys), best[queries])
            left[queries] = mine & ~look
            queries = queries[~xp.any(usual, axis=1)]
        return self._rows(own, pool, best)

    def _usual(self, own: Array, pool: DevicePool, look: Array) -> Array:
        """Which of the examples to `look` at are plausible, (q, n) bool."""
        xp, place = self.layout.place.xp, self.layout.place
        line, entry = xp.nonzero(look)
        rows = changed_rows(rows_at(own, line), pool.columns[line, entry], pool.values[line, entry])
        usual = place.zeros(look.shape, xp.bool)
        usual[line, entry] = self.usual.share(rows) >= PLAUSIBLE
        return usual

    def _measured(self, own: Array, pool: DevicePool) -> tuple[Array, Array]:
        line = self.layout.place.arange(own.shape[0])[:, None, None]
        return measured(self.layout, own[line, pool.columns], pool.values, pool.columns)

    def _best(self, own: Array, pool: DevicePool) -> Array:
        changes, distance = self._measured(own, pool)
        return best_of(pool.real, changes, distance, -pool.progress)

    def _rows(self, own: Array, pool: DevicePool, best: Array) -> Array:
        """Queries with one example of each put into effect, (q, d)."""
        line = self.layout.place.arange(own.shape[0])
        return changed_rows(own + 0.0, pool.columns[line, best], pool.values[line, best])


@fused
def _nearest_of_sets(real: Array, distance: Array, keys: Array) -> tuple[Array, Array]:
    """The nearest few entries of the nearest sets, set after set, and which of them there are.

    Entries of a line (q, n) with the same key are a set.
    """
    xp = place_of(real).xp
    left = xp.where(real, xp.round(distance * 1e9), xp.inf)
    index, nearness = [], []
    for _ in range(SETS):
        same = keys == at_each(keys, first_lowest(left)[1])[:, None]
        mine = xp.where(same, left, xp.inf)
        left = xp.where(same, xp.inf, left)
        for _ in range(EACH):
            value, lead = first_lowest(mine)
            mine = without(mine, lead)
            index.append(lead)
            nearness.append(value)
    return xp.stack(index, axis=1), xp.stack(nearness, axis=1) < xp.inf


@fused
def _nearest(real: Array, distance: Array, progress: Array, count: int) -> Array:
    """The `count` nearest of the real entries as a mask (q, n); of equally near ones the surest."""
    xp = place_of(real).xp
    left = xp.where(real, _nearness(distance, progress), xp.inf)
    for _ in range(count):
        left = without(left, first_lowest(left)[1])
    return real & (left == xp.inf)


def _nearness(distance: Array, progress: Array) -> Array:
    """Keys that rank the nearest first, of equally near ones the surest; alike for equal rows."""
    xp = place_of(distance).xp
    return distance - xp.clip(progress, -49.0, 49.0) * 1e-11  # distances have nine decimals
