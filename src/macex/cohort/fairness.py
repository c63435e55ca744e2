"""What is asked of groups: burden and recourse by group, gaps between groups, and tests of them.

The names are those of the literature. *Burden* is the mean distance to the counterfactual of the
rows of a group that are not decided as wanted (Sharma, Henderson, Ghosh, 2020); the *recourse gap*
is its largest difference between groups (Gupta et al., 2019); *equal effectiveness* asks for equal
shares of rows with recourse (Kavouras et al., 2023); the *demographic parity difference* is that of
the shares decided as wanted.

Every group is tested against the other rows: shares by Fisher's exact test, means by a permutation
test. All tests of a finding are corrected together by Holm's method, which bounds the probability
of a single false alarm among them.

In the permutation tests numbers are permuted as one, and a group of any column is so many of them
in a row. So a single permutation serves all groups of all columns, and costs as much for one group
as for thousands. With many tests the correction needs small probabilities, which few permutations
cannot show. So more are drawn for as long as some group needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from macex.cohort.estimates import Estimate, mean_of, share_of
from macex.cohort.groups import Groups, numbered
from macex.explanation import Explanation
from macex.schema import Array

FEWEST = 2  # rows of a group that can be tested
LEVEL = 0.05
GAPS = {
    "selection rate": "demographic parity difference",
    "recourse rate": "equal effectiveness gap",
    "burden": "recourse gap",
    "changes": "gap in changes",
}
PERMUTATIONS = 9_999
AT_ONCE = 4_000_000  # numbers that are permuted together
MOST = 200_000_000  # numbers that are permuted beyond the first permutations
HITS = 10  # permutations as extreme that settle how small a probability is
SLACK = 1e-12


@dataclass(frozen=True)
class Burden:
    """What one group must change while protected columns stay: means over rows with an answer.

    `selected` is the share of the group that is decided as wanted without any change; NaN where no
    decision is wanted more than another.
    """

    column: str
    group: str
    without: Estimate
    changes: Estimate
    distance: Estimate
    selected: Estimate


@dataclass(frozen=True)
class GroupGap:
    """One group against all other rows: a measure of both, and how likely that is by chance.

    `p` is the probability of a difference as large if the group were any other rows, `adjusted`
    the same after Holm's correction for all tests of the finding.
    """

    column: str
    measure: str
    group: str
    value: float
    others: float
    p: float
    adjusted: float

    @property
    def significant(self) -> bool:
        """Whether the difference stands after correction, at the level of 5 %."""
        return self.adjusted < LEVEL


@dataclass(frozen=True)
class Gap:
    """The largest difference of a measure between two groups of at least two rows."""

    column: str
    measure: str
    name: str
    high: str
    low: str
    value: float


class Told(NamedTuple):
    """What became of every row that was explained."""

    needy: Array  # (n,) bool: not decided as wanted
    recourse: Array  # (n,) bool: with an answer, if needy
    changes: Array  # (n,) NaN without an answer
    distance: Array  # (n,) NaN without an answer
    wanted: bool  # whether some decision is wanted more than another

    def measures(self) -> dict[str, Array]:
        """Numbers by row, NaN where they do not apply."""
        selected = (
            np.where(self.needy, 0.0, 1.0) if self.wanted else np.full(len(self.needy), np.nan)
        )
        return {
            "selection rate": selected,
            "recourse rate": np.where(self.needy, self.recourse.astype(float), np.nan),
            "burden": self.distance,
            "changes": self.changes,
        }


def told(found: Sequence[Explanation], *, wanted: bool) -> Told:
    """What explanations say of their rows."""
    best = [item.counterfactuals[0] if item.counterfactuals else None for item in found]
    needy = np.array([one is None or bool(one.changes) for one in best], bool)
    recourse = np.array([one is not None and bool(one.changes) for one in best], bool)
    changes = [np.nan if one is None or not one.changes else one.sparsity for one in best]
    distance = [np.nan if one is None or not one.changes else one.distance for one in best]
    return Told(needy, recourse, np.array(changes, float), np.array(distance, float), wanted)


def burdens(
    column: str, groups: Groups, rows: Told, draw: np.random.Generator
) -> tuple[Burden, ...]:
    """A line for each group that has rows in need."""
    lines = []
    for group, places in groups.items():
        mine = places[rows.needy[places]]
        has = mine[rows.recourse[mine]]
        if not len(mine):
            continue
        lines.append(
            Burden(
                column,
                group,
                share_of(~rows.recourse[mine], draw),
                mean_of(rows.changes[has], draw),
                mean_of(rows.distance[has], draw),
                share_of(~rows.needy[places], draw)
                if rows.wanted
                else Estimate(np.nan, None, None, 0),
            )
        )
    return tuple(lines)


def gaps(column: str, groups: Groups, rows: Told) -> tuple[Gap, ...]:
    """The largest difference of each measure."""
    found = []
    for measure, values in rows.measures().items():
        parts = {group: _known(values[places]) for group, places in groups.items()}
        means = {group: part.mean() for group, part in parts.items() if len(part) >= FEWEST}
        if len(means) < 2:
            continue
        ranked = sorted(means, key=means.__getitem__)
        low, high = ranked[0], ranked[-1]
        value = float(means[high] - means[low])
        found.append(Gap(column, measure, GAPS[measure], high, low, value))
    return tuple(found)


def differences(
    groupings: Sequence[tuple[str, Groups]], rows: Told, draw: np.random.Generator
) -> tuple[GroupGap, ...]:
    """Every group against the other rows, in every measure, corrected together."""
    measures = rows.measures()
    compared = {
        (column, measure): _compared(groups, values)
        for column, groups in groupings
        for measure, values in measures.items()
    }
    tests = max(1, sum(map(len, compared.values())))
    chances = {
        measure: _chances(groupings, values, draw, LEVEL / tests, share=measure.endswith("rate"))
        for measure, values in measures.items()
    }
    found: list[GroupGap] = []
    for at, (column, _) in enumerate(groupings):
        for measure, values in measures.items():
            known = ~np.isnan(values)
            for group, places in compared[column, measure].items():
                mine = values[places][known[places]]
                others = float(values[known].sum() - mine.sum()) / int(known.sum() - len(mine))
                p = chances[measure][at][group]
                found.append(GroupGap(column, measure, group, float(mine.mean()), others, p, p))
    adjusted = holm([line.p for line in found]).tolist()
    return tuple(replace(line, adjusted=p) for line, p in zip(found, adjusted, strict=True))


def _compared(groups: Groups, values: Array) -> Groups:
    """The groups that can be tested; of two only the first, since the other mirrors it."""
    sizes = {group: len(_known(values[places])) for group, places in groups.items()}
    large = {g: p for g, p in groups.items() if sizes[g] >= FEWEST}
    total = sum(sizes.values())
    large = {g: p for g, p in large.items() if total - sizes[g] >= FEWEST}
    return dict(list(large.items())[:1]) if len(groups) == 2 else large


def _known(values: Array) -> Array:
    return values[~np.isnan(values)]


def _chances(
    groupings: Sequence[tuple[str, Groups]],
    values: Array,
    draw: np.random.Generator,
    finest: float,
    *,
    share: bool,
) -> list[dict[str, float]]:
    """How likely each group's difference to all other rows is by chance, for each grouping."""
    known = ~np.isnan(values)
    which = [numbered(groups, len(values))[known] for _, groups in groupings]
    if share:
        found = [_fisher(values[known], one) for one in which]
    else:
        found = permutation_tests(values[known], which, draw, finest)
    return [
        dict(zip(groups, one.tolist(), strict=False))
        for (_, groups), one in zip(groupings, found, strict=True)
    ]


def _fisher(flags: Array, which: Array) -> Array:
    """The probabilities of Fisher's exact test of every group against the others."""
    from scipy.stats import fisher_exact

    every, has = np.bincount(which), np.bincount(which, flags)
    rest, others = len(flags) - every, flags.sum() - has
    tables = np.stack([has, every - has, others, rest - others], axis=1).reshape(-1, 2, 2)
    return np.array([fisher_exact(table)[1] for table in tables])


def holm(p_values: Sequence[float]) -> Array:
    """Probabilities after Holm's correction, in the order given.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.array(p_values, float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if len(p) else p
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted


def row_table(places: Array, groupings: Sequence[tuple[str, Groups]], rows: Told) -> pd.DataFrame:
    """One line for each row that was explained: its groups and what became of it."""
    table: dict[str, Any] = {"row": places}
    for column, groups in groupings:
        labels = np.full(len(places), "", object)
        for group, mine in groups.items():
            labels[mine] = group
        table[column] = labels
    measures = {name.replace(" ", "_"): values for name, values in rows.measures().items()}
    return pd.DataFrame(table | measures)


def permutation_tests(
    values: Array, groupings: Sequence[Array], draw: np.random.Generator, finest: float
) -> list[Array]:
    """How likely by chance the difference of each group's mean to that of the others is.

    `groupings` number the group of every value, each in its own way. At least `PERMUTATIONS` are
    drawn, and more while a group has fewer than `HITS` as extreme ones, until a probability of
    `finest` would have as many. A group of all values, or of none, has a probability of 1.
    """
    if not groupings:
        return []
    several = [np.bincount(which) for which in groupings]
    size = np.concatenate(several)
    end = np.concatenate([np.cumsum(sizes) for sizes in several])
    own = np.concatenate([np.bincount(which, values) for which in groupings])
    apart = _apart(own, size, values) - SLACK
    hits, drawn, count = np.zeros(len(size), int), 0, len(values)
    most = min(int(HITS / finest), PERMUTATIONS + MOST // max(1, count))
    while count and (drawn < PERMUTATIONS or (drawn < most and (hits < HITS).any())):
        goal = PERMUTATIONS if drawn < PERMUTATIONS else most
        lines = min(goal - drawn, max(1, AT_ONCE // count))
        sums = _running(draw.permuted(np.repeat(values[None], lines, axis=0), axis=1))
        inside = sums[:, end] - sums[:, end - size]
        hits += (_apart(inside, size, values) >= apart).sum(axis=0)
        drawn += lines
    chances: Array = (1 + hits) / (1 + drawn)
    return np.split(chances, np.cumsum([len(sizes) for sizes in several])[:-1])


def _running(lines: Array) -> Array:
    """The sums of the first 0, 1, 2, ... numbers of each line."""
    sums = np.zeros((len(lines), lines.shape[1] + 1))
    np.cumsum(lines, axis=1, out=sums[:, 1:])
    return sums


def _apart(inside: Array, size: Array, values: Array) -> Array:
    """How far means of groups are from those of the others, by their sums; 0 where one is empty."""
    others = len(values) - size
    gap = inside / np.maximum(size, 1) - (values.sum() - inside) / np.maximum(others, 1)
    result: Array = np.where((size > 0) & (others > 0), np.abs(gap), 0.0)
    return result
