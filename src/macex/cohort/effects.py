"""What a protected column does to decisions, as numbers with intervals.

Three measures are made of one table of rows by values: whether *some* value changes a decision,
which grows with the number of values; how often *one* value drawn as in training changes it, which
can be compared between columns; and what becomes of rows of one group with the values of another.
Where not every value was tried, an interval reaches as far as the others could take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.cohort.estimates import Estimate, mean_of, share_of
from macex.cohort.flipping import Flips, flips_of
from macex.cohort.groups import Groups, column_groups, numbered
from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from macex.ask.space import Caused
    from macex.cohort.population import Crowd
    from macex.schema import Column

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


def effects_of(
    everyone: Crowd,
    column: str,
    draw: np.random.Generator,
    *,
    edges: Array | None = None,
    most: int | None = None,
    following: Mapping[int, Caused] | None = None,
) -> Effects:
    """Try the values of a column, at most `most`, in all rows; some columns may follow it."""
    place = everyone.rows.schema.position(column)
    known, codes = everyone.rows.schema.columns[place], everyone.rows.codes[:, place]
    groups = column_groups(known, codes, edges)
    parts = column_groups(known, known.seen, edges, most=MOST_PARTS, counts=known.counts)
    part = numbered(parts, len(known.seen))
    flips = flips_of(everyone, column, numbered(groups, len(codes)), part, most, following)
    classes = everyone.fitted.outlook.classes or ()
    return Effects(
        Tried(column, len(flips.values), len(known.seen)),
        _some(flips, np.arange(len(codes)), draw),
        _between(flips.drawn, flips.drawn + flips.open, draw),
        _by_group(known, groups, flips, classes, draw),
        _pairs(column, groups, list(parts), flips, classes, draw),
    )


def _some(flips: Flips, mine: Array, draw: np.random.Generator) -> Estimate:
    """The share of rows that some value flips; at least that, where not all were tried."""
    share = share_of(flips.flipped[mine], draw)
    if flips.settled[mine].all():
        return share
    most = share_of(flips.flipped[mine] | ~flips.settled[mine], draw)
    return Estimate(share.value, share.low, most.high, share.rows)


def _between(least: Array, most: Array, draw: np.random.Generator) -> Estimate:
    """The mean of numbers of which it is known that they lie between two others."""
    low = _mean(least, draw)
    if np.allclose(least, most):
        return low
    return Estimate(low.value, low.low, _mean(most, draw).high, low.rows)


def _mean(values: Array, draw: np.random.Generator) -> Estimate:
    """The mean of shares; a share of rows where each is 0 or 1."""
    whole = np.isclose(values, 0) | np.isclose(values, 1)
    return share_of(values > 0.5, draw) if whole.all() else mean_of(values, draw)


def _by_group(
    known: Column, groups: Groups, flips: Flips, classes: Any, draw: np.random.Generator
) -> tuple[GroupFlips, ...]:
    """A line for each group and decision, largest share first."""
    lines = []
    for at, (group, places) in enumerate(groups.items()):
        for decision in np.unique(flips.before[places]):
            mine = places[flips.before[places] == decision]
            hits = flips.toward[at, decision]
            some = bool(hits.any())
            toward = known.value(float(flips.values[hits.argmax()])) if some else None
            after = classes[flips.after[at, decision].argmax()] if some else None
            share = _some(flips, mine, draw)
            lines.append(GroupFlips(known.name, group, classes[decision], after, toward, share))
    return tuple(sorted(lines, key=lambda line: -line.share.value))


def _pairs(
    column: str,
    groups: Groups,
    parts: list[str],
    flips: Flips,
    classes: Any,
    draw: np.random.Generator,
) -> tuple[PairFlips, ...]:
    """A line for each group, decision and other group of values, of which some were tried."""
    lines = []
    for group, places in groups.items():
        for decision in np.unique(flips.before[places]):
            mine = places[flips.before[places] == decision]
            for number, other in enumerate(parts):
                if other == group or not flips.tried[mine, number].any():
                    continue
                total = np.maximum(flips.others[mine, number], 1)
                least = flips.flips[mine, number] / total
                most = 1 - (flips.tried - flips.flips)[mine, number] / total
                share = _between(least, most, draw)
                lines.append(PairFlips(column, group, classes[decision], other, share))
    return tuple(lines)
