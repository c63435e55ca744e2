"""Stage 3: which example to return: fewest changes, then plausible, then nearest.

The nearest few examples of the nearest sets of units are refined; then the best is taken. If it is
implausible, all others are looked at, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from macex.device.arrays import Array, at_each, best_of, place_of
from macex.device.judging import Judge
from macex.device.layout import Layout
from macex.device.levels import Level
from macex.device.plausibility import Usual
from macex.device.section import Examples, measured, refined
from macex.stages.finetune.section import Section
from macex.stages.selection import PLAUSIBLE

SETS = 6  # sets of units that are looked at
EACH = 5  # examples of each
REFINED = 2  # of these, how many are refined


class Pool(NamedTuple):
    """Examples of each query, to choose from."""

    units: Array  # (q, n, S)
    values: Array  # (q, n, S)
    progress: Array  # (q, n)
    real: Array  # (q, n) bool

    def take(self, queries: Array) -> Pool:
        """Those of some queries."""
        return Pool(*(part[queries] for part in self))

    def at(self, index: Array) -> Pool:
        """The examples at `index` (q, m)."""
        line = place_of(index).arange(index.shape[0])[:, None]
        return Pool(*(part[line, index] for part in self))


@dataclass(frozen=True)
class Selection:
    """Chooses one example for each query of a block."""

    layout: Layout
    judge: Judge
    usual: Usual
    section: Section | None

    def __call__(self, own: Array, level: Level) -> Array:
        """The chosen rows by unit (q, U); every query has an example in the level."""
        xp = self.layout.place.xp
        every = Pool(level.units, level.values, level.progress, level.reached)
        short = self._shortlist(own, every)
        pool = self._refined(own, short)
        nobody = pool.real & False
        rows = self._rows(own, pool, self._best(own, pool, nobody))
        odd = xp.nonzero(self.usual.share(rows) < PLAUSIBLE)[0]
        if odd.shape[0]:
            rows[odd] = self._plausible(own[odd], self._wider(level, every, pool, odd))
        return rows

    def _wider(self, level: Level, every: Pool, pool: Pool, odd: Array) -> Pool:
        """More examples for queries whose best one is implausible: of single changes all."""
        xp = self.layout.place.xp
        if level.units.shape[2] > 1:
            return pool.take(odd)
        both = zip(pool.take(odd), every.take(odd), strict=True)
        return Pool(*(xp.concat(pair, axis=1) for pair in both))

    def _shortlist(self, own: Array, pool: Pool) -> Pool:
        """The nearest few examples of the nearest sets of units, (q, SETS * EACH)."""
        xp, place = self.layout.place.xp, self.layout.place
        _, distance = self._measured(own, pool)
        left = xp.where(pool.real, distance, xp.inf)
        keys = xp.sum(self.layout.salt[pool.units], axis=2)
        line = place.arange(own.shape[0])
        index, real = [], []
        for _ in range(SETS):
            same = keys == at_each(keys, xp.argmin(left, axis=1))[:, None]
            mine = xp.where(same, left, xp.inf)
            left = xp.where(same, xp.inf, left)
            for _ in range(EACH):
                lead = xp.argmin(mine, axis=1)
                index.append(lead)
                real.append(xp.isfinite(at_each(mine, lead)))
                mine[line, lead] = xp.inf
        return pool.at(xp.stack(index, axis=1))._replace(real=xp.stack(real, axis=1))

    def _refined(self, own: Array, pool: Pool) -> Pool:
        """The pool, and the nearest of each set once more, refined."""
        xp, place, section = self.layout.place.xp, self.layout.place, self.section
        if section is None:
            return pool
        movable = xp.any(self.layout.number[pool.units], axis=2)
        nearest = place.arange(pool.real.shape[1]) % EACH < REFINED
        line, entry = xp.nonzero(pool.real & movable & nearest)
        made = Examples(
            own[line], pool.units[line, entry], pool.values[line, entry], pool.progress[line, entry]
        )
        done = refined(self.judge, self.layout, section, made)
        values = xp.concat([pool.values, pool.values], axis=1)
        progress = xp.concat([pool.progress, pool.progress], axis=1)
        values[line, entry], progress[line, entry] = done.values, done.progress
        return Pool(
            xp.concat([pool.units, pool.units], axis=1),
            values,
            progress,
            xp.concat([pool.real, pool.real], axis=1),
        )

    def _plausible(self, own: Array, pool: Pool) -> Array:
        """The best rows where plausibility counts."""
        xp, place = self.layout.place.xp, self.layout.place
        line, entry = xp.nonzero(pool.real)
        rows = own[line]
        for slot in range(pool.units.shape[2]):
            rows[place.arange(line.shape[0]), pool.units[line, entry, slot]] = pool.values[
                line, entry, slot
            ]
        odd = place.zeros(pool.real.shape, xp.bool)
        odd[line, entry] = self.usual.share(rows) < PLAUSIBLE
        return self._rows(own, pool, self._best(own, pool, odd))

    def _measured(self, own: Array, pool: Pool) -> tuple[Array, Array]:
        line = self.layout.place.arange(own.shape[0])[:, None, None]
        return measured(self.layout, own[line, pool.units], pool.values, pool.units)

    def _best(self, own: Array, pool: Pool, odd: Array) -> Array:
        changes, distance = self._measured(own, pool)
        return best_of(pool.real, changes, odd, distance, -pool.progress)

    def _rows(self, own: Array, pool: Pool, best: Array) -> Array:
        """Queries with one example of each put into effect, (q, U)."""
        line = self.layout.place.arange(own.shape[0])
        rows = own[line]
        for slot in range(pool.units.shape[2]):
            rows[line, pool.units[line, best, slot]] = pool.values[line, best, slot]
        return rows
