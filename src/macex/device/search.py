"""Level after level: blocks of queries from codes to answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from macex.device.arrays import Array, place_of
from macex.device.candidates import singles
from macex.device.layout import DeviceLayout
from macex.device.levels import (
    DeviceLevel,
    best_parts,
    extensions,
    first_level,
    frugal_parents,
    nearer,
    pairs,
    scored,
    surest_parents,
)
from macex.device.neighbors import Nearby
from macex.device.plausibility import DeviceReference
from macex.device.selection import DeviceSelection
from macex.device.verdicts import DeviceJudge
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive


@dataclass(frozen=True)
class Searcher:
    """The search for queries that all have the same goal."""

    layout: DeviceLayout
    judge: DeviceJudge
    near: Nearby
    usual: DeviceReference
    search: Exhaustive
    section: Section | None

    def __call__(self, own: Array) -> tuple[Array, Array, Array]:
        """Of a block (q, d): the rows chosen, which of them reach the goal, and their scores."""
        rows, (verdict, score) = own + 0.0, self.judge(own)
        open_ = self.layout.place.xp.nonzero(~verdict.reached)[0]
        if not open_.shape[0] or not self.layout.offers or not self.layout.max_changes:
            return rows, verdict.reached, score
        for queries, chosen in self._answered(own[open_], verdict.progress[open_]):
            rows[open_[queries]] = chosen
        verdict, score = self.judge(rows)
        return rows, verdict.reached, score

    def _answered(self, own: Array, base: Array) -> Iterator[tuple[Array, Array]]:
        """The queries that each level helps, and their answers."""
        choose = DeviceSelection(self.layout, self.judge, self.usual, self.section)
        offered = singles(self.layout, own, self.near.values(own))
        level = first_level(self.judge, own, offered)
        queries = self.layout.place.arange(own.shape[0])
        helped, left = _split(level)
        if helped.shape[0]:
            yield queries[helped], choose(own[helped], level.take(helped))
        most = min(self.layout.max_changes, self.search.deepest)
        if not left.shape[0] or most < 2:
            return
        queries, own, base, level = queries[left], own[left], base[left], level.take(left)
        surest, frugal = best_parts(level, base, offered.starts, self.search.parents)
        level = scored(self.judge, own, pairs(surest, base), self.search)
        level = nearer(self.judge, own, pairs(frugal, base), level)  # for those not helped, too
        for size in range(2, most + 1):
            if size > 2:
                before, parents = level, surest_parents(level, self.search)
                level = scored(self.judge, own, extensions(parents, surest), self.search)
            helped, left = _split(level)
            if helped.shape[0]:
                mine, found = own[helped], level.take(helped)
                if size > 2:
                    parents = frugal_parents(before.take(helped), base[helped], self.search)
                    brood = extensions(parents, frugal.take(helped))
                    found = nearer(self.judge, mine, brood, found)
                yield queries[helped], choose(mine, found)
            if not left.shape[0]:
                return
            queries, own, base = queries[left], own[left], base[left]
            surest, frugal, level = surest.take(left), frugal.take(left), level.take(left)


def _split(level: DeviceLevel) -> tuple[Array, Array]:
    """The queries that a level helps, and the others."""
    xp = place_of(level.reached).xp
    helped = xp.any(level.reached, axis=1)
    return xp.nonzero(helped)[0], xp.nonzero(~helped)[0]
