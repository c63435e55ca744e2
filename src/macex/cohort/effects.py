"""What a protected column does to decisions, as numbers with intervals.

Three measures are made of one table of rows by values: whether *some* value changes a decision,
which grows with the number of values; how often *one* value drawn as in training changes it, which
can be compared between columns; and what becomes of rows of one group with the values of another.
Where not every value was tried, an interval reaches as far as the others could take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from macex.ask.space import Caused
from macex.cohort.estimates import Estimate, Flags, Moments, mean_of, share_of
from macex.cohort.flips import Flips, flips_of
from macex.cohort.groups import Groups, column_groups, numbered
from macex.cohort.population import Crowd
from macex.schema import Array, Column

MOST_PARTS = 12  # groups of values that pairs are made with


@dataclass(frozen=True)
class Tried:
    """How many values of a protected column were tried, of those seen in training."""

    column: str
    values: int
    seen: int


@dataclass(frozen=True)
class GroupFlips:
    """Rows of one group with one decision: how many are decided otherwise by the column alone."""

    column: str
    group: str
    before: Any
    after: Any
    toward: Any
    share: Estimate


@dataclass(frozen=True)
class PairFlips:
    """Rows of one group with one decision: how often a value of another group changes it."""

    column: str
    group: str
    before: Any
    other: str
    share: Estimate


@dataclass(frozen=True)
class Effects:
    """What one column alone does."""

    tried: Tried
    some: Estimate  # the share of rows whose decision some value changes
    one: Estimate  # the share of decisions that one value, drawn as in training, changes
    by_group: tuple[GroupFlips, ...]
    pairs: tuple[PairFlips, ...]


@dataclass(frozen=True)
class Between:
    """Numbers of which it is known that they lie between two others."""

    least: Moments
    most: Moments

    def __add__(self, other: Between) -> Between:
        return Between(self.least + other.least, self.most + other.most)

    def mean(self, draw: np.random.Generator) -> Estimate:
        """The mean, with an interval that reaches as far as it may be."""
        low = _mean(self.least, draw)
        if np.isclose(self.least.total, self.most.total):
            return low
        return Estimate(low.value, low.low, _mean(self.most, draw).high, low.rows)


@dataclass(frozen=True)
class FlipCount:
    """Rows that some value flips, and those that some value may flip."""

    flipped: Flags
    possible: Flags

    def __add__(self, other: FlipCount) -> FlipCount:
        return FlipCount(self.flipped + other.flipped, self.possible + other.possible)

    def share(self, draw: np.random.Generator) -> Estimate:
        """The share that some value flips; at least that, where not all were tried."""
        share = share_of(self.flipped, draw)
        if self.flipped == self.possible:
            return share
        most = share_of(self.possible, draw)
        return Estimate(share.value, share.low, most.high, share.rows)


@dataclass(frozen=True)
class GroupCounts:
    """What is counted of the rows of one group with one decision."""

    some: FlipCount
    toward: Array  # (V,) flips by value
    after: Array  # (K,) flips by new decision
    pairs: dict[str, Between]  # by the other group of values

    def __add__(self, other: GroupCounts) -> GroupCounts:
        return GroupCounts(
            self.some + other.some,
            self.toward + other.toward,
            self.after + other.after,
            _added(self.pairs, other.pairs),
        )


@dataclass(frozen=True)
class FlipCounts:
    """What is counted of the flips of some rows; that of more rows is the sum."""

    tried: Tried
    values: Array  # (V,) codes
    some: FlipCount
    one: Between
    lines: dict[tuple[str, int], GroupCounts]  # by group and decision

    def __add__(self, other: FlipCounts) -> FlipCounts:
        return FlipCounts(
            self.tried,
            self.values,
            self.some + other.some,
            self.one + other.one,
            _added(self.lines, other.lines),
        )

    def ordered(self, groups: Iterable[str]) -> FlipCounts:
        """The same with its groups in this order."""
        turn = {name: at for at, name in enumerate(groups)}
        lines = sorted(self.lines.items(), key=lambda line: (turn[line[0][0]], line[0][1]))
        return replace(self, lines=dict(lines))

    def effects(self, known: Column, classes: Any, draw: np.random.Generator) -> Effects:
        """What the counts say, with intervals."""
        some, one = self.some.share(draw), self.one.mean(draw)
        by_group = [
            _line(known, group, classes, decision, self.values, line, draw)
            for (group, decision), line in self.lines.items()
        ]
        by_group.sort(key=lambda line: -line.share.value)
        pairs = [
            PairFlips(known.name, group, classes[decision], other, numbers.mean(draw))
            for (group, decision), line in self.lines.items()
            for other, numbers in line.pairs.items()
        ]
        return Effects(self.tried, some, one, tuple(by_group), tuple(pairs))


def tallied(
    everyone: Crowd,
    column: str,
    groups: Groups,
    *,
    edges: Array | None = None,
    most: int | None = None,
    following: Mapping[int, Caused] | None = None,
) -> FlipCounts:
    """Try the values of a column, at most `most`, in all rows; some columns may follow it."""
    place = everyone.rows.schema.position(column)
    known = everyone.rows.schema.columns[place]
    parts = column_groups(known, known.seen, edges, most=MOST_PARTS, counts=known.counts)
    part = numbered(parts, len(known.seen))
    group = numbered(groups, len(everyone))
    flips = flips_of(everyone, column, group, part, most, following)
    lines = {}
    for at, (name, places) in enumerate(groups.items()):
        for decision in np.unique(flips.before[places]).tolist():
            mine = places[flips.before[places] == decision]
            lines[name, decision] = GroupCounts(
                _some(flips, mine),
                flips.toward[at, decision],
                flips.after[at, decision],
                {
                    other: _pair(flips, mine, number)
                    for number, other in enumerate(parts)
                    if other != name and flips.tried[mine, number].any()
                },
            )
    return FlipCounts(
        Tried(column, len(flips.values), len(known.seen)),
        flips.values,
        _some(flips, np.arange(len(everyone))),
        Between(Moments.of(flips.drawn), Moments.of(flips.drawn + flips.open)),
        lines,
    )


def _some(flips: Flips, mine: Array) -> FlipCount:
    flipped, settled = flips.flipped[mine], flips.settled[mine]
    possible = int((flipped | ~settled).sum())
    return FlipCount(Flags(len(mine), int(flipped.sum())), Flags(len(mine), possible))


def _pair(flips: Flips, mine: Array, number: int) -> Between:
    total = np.maximum(flips.others[mine, number], 1)
    least = flips.flips[mine, number] / total
    most = 1 - (flips.tried - flips.flips)[mine, number] / total
    return Between(Moments.of(least), Moments.of(most))


def _mean(values: Moments, draw: np.random.Generator) -> Estimate:
    """The mean of shares; a share of rows where each is 0 or 1."""
    return (
        share_of(Flags(values.rows, values.ones), draw) if values.shares else mean_of(values, draw)
    )


def _line(
    known: Column,
    group: str,
    classes: Any,
    decision: int,
    values: Array,
    line: GroupCounts,
    draw: np.random.Generator,
) -> GroupFlips:
    some = bool(line.toward.any())
    toward = known.value(float(values[line.toward.argmax()])) if some else None
    after = classes[line.after.argmax()] if some else None
    return GroupFlips(known.name, group, classes[decision], after, toward, line.some.share(draw))


Part = TypeVar("Part", GroupCounts, Between)
Key = TypeVar("Key")


def _added(mine: dict[Key, Part], others: dict[Key, Part]) -> dict[Key, Part]:
    """Counts by what they are of, those of the same added."""
    found = dict(mine)
    for key, one in others.items():
        found[key] = found[key] + one if key in found else one
    return found
