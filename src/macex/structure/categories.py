"""Implications between values, columns that are missing together, and families of flags.

Two values are compared with what chance would give: of independent columns, `a` and `b` would meet
in `n(a) n(b) / n` rows. Where that is `CERTAIN` or more and they never meet, the chance of it is
below exp(-30). The same number of exceptions to be expected is asked of `a` implies `b`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.schema import MISSING, Array, Column, Schema
from macex.structure.levels import Levels, levels_of, sample
from macex.structure.relations import Flag, Implication, MissingTogether, OneOf, Relation

CERTAIN = 30.0  # exceptions that chance would make: exp(-30) is the chance of none
RARE = 0.001  # the share of exceptions up to which a relation almost holds
MOST_WORK = 4e9  # additions while pairs are proposed
MOST_PAIRS = 400  # of columns that are looked at closely
MOST_FLAGS = 1000


class Pair(NamedTuple):
    """Two columns and how often their levels meet; the last line and row are all other values."""

    first: int
    second: int
    table: Array  # (levels + 1, levels + 1) rows


def implications(schema: Schema, codes: Array, skip: Array) -> list[Relation]:
    """Values that imply or exclude each other, except in the pairs of columns to `skip`, (d, d)."""
    levels = levels_of(schema, codes, int(CERTAIN))
    if len(levels.of) < 2:
        return []
    found = CategoryRelations(schema, levels)
    for first, second in _proposed(levels, codes, skip):
        found.read(Pair(first, second, _table(levels, codes, first, second)))
    return [*found.missing_together(), *found.implications(), *found.exclusions()]


def _proposed(levels: Levels, codes: Array, skip: Array) -> list[tuple[int, int]]:
    """Pairs of columns in which a sample of the rows shows something, the surest first."""
    rows = sample(len(codes), int(MOST_WORK // len(levels) ** 2))
    shown = levels.indicator(codes[rows])
    met = (shown.T @ shown).astype(float)
    chance = np.outer(levels.count, levels.count) / len(codes)
    share = len(rows) / len(codes)
    never = (chance >= CERTAIN) & (met <= _slack(chance, levels.count) * share + 1)
    odds = levels.count[:, None] * (1 - levels.count[None, :] / len(codes))
    here = np.diag(met)[:, None]
    implied = (odds >= CERTAIN) & (here - met <= _slack(odds, levels.count) * share + 1)
    implied &= here > 0
    apart = levels.column[:, None] != levels.column[None, :]
    strength = np.where((never | implied) & apart, np.where(never, chance, odds), 0.0)
    best = np.zeros(skip.shape)
    i, j = np.nonzero(strength)
    one, other = levels.column[i], levels.column[j]
    np.maximum.at(best, (np.minimum(one, other), np.maximum(one, other)), strength[i, j])
    pairs = np.argwhere((best > 0) & ~skip)
    order = np.argsort(-best[tuple(pairs.T)], kind="stable")[:MOST_PAIRS]
    return [(int(i), int(j)) for i, j in pairs[np.sort(order)]]


def _slack(chance: Array, count: Array) -> Array:
    """How many exceptions a relation may have that almost holds."""
    fewest = np.minimum.outer(count, count) if chance.ndim == 2 else count
    return np.floor(np.minimum(chance / 20, RARE * fewest))


def _table(levels: Levels, codes: Array, first: int, second: int) -> Array:
    one, other = (levels.places(column, codes[:, column]) for column in (first, second))
    width = len(levels.of[second]) + 1
    height = len(levels.of[first]) + 1
    met = np.bincount(one * width + other, minlength=height * width)
    return met.reshape(height, width)


class CategoryRelations:
    """What pairs of columns show, as relations between levels, without what follows from others."""

    def __init__(self, schema: Schema, levels: Levels) -> None:
        self.schema = schema
        self.levels = levels
        self.implied: dict[tuple[int, int], tuple[int, int]] = {}  # levels -> support, exceptions
        self.excluded: dict[tuple[int, int], tuple[int, int]] = {}

    def read(self, pair: Pair) -> None:
        """Note what one pair of columns shows."""
        ours, theirs = self.levels.of[pair.first], self.levels.of[pair.second]
        self._implied(ours, theirs, pair.table)
        self._implied(theirs, ours, pair.table.T)
        self._excluded(ours, theirs, pair.table)

    def _implied(self, ours: Array, theirs: Array, table: Array) -> None:
        total, rows = table.sum(), table.sum(axis=1)[:-1]
        most = np.argmax(table[:-1, :-1], axis=1)
        left = rows - table[np.arange(len(rows)), most]
        odds = rows * (1 - table.sum(axis=0)[most] / total)
        sure = (odds >= CERTAIN) & (left <= _slack(odds, rows)) & (rows > 0)
        for i in np.flatnonzero(sure):
            key = int(ours[i]), int(theirs[most[i]])
            self.implied[key] = int(rows[i]), int(left[i])

    def _excluded(self, ours: Array, theirs: Array, table: Array) -> None:
        one, other = table.sum(axis=1)[:-1], table.sum(axis=0)[:-1]
        chance = np.outer(one, other) / table.sum()
        slack = np.floor(np.minimum(chance / 20, RARE * np.minimum.outer(one, other)))
        for i, j in np.argwhere((chance >= CERTAIN) & (table[:-1, :-1] <= slack)):
            key = int(ours[i]), int(theirs[j])
            self.excluded[key] = int(min(one[i], other[j])), int(table[i, j])

    def missing_together(self) -> Iterator[Relation]:
        """Columns whose missing values imply each other."""
        groups: list[list[int]] = []
        for i, j in sorted(self.implied):
            if i > j or not self._gone(i, j):
                continue
            group = next((group for group in groups if i in group or j in group), None)
            if group is None:
                groups.append([i, j])
            else:
                group += [level for level in (i, j) if level not in group]
        for group in groups:
            noted = [self.implied[i, j] for i in group for j in group if (i, j) in self.implied]
            yield MissingTogether(
                columns=tuple(self.schema.names[self.levels.column[level]] for level in group),
                support=max(support for support, _ in noted),
                exceptions=max(exceptions for _, exceptions in noted),
            )

    def _gone(self, i: int, j: int) -> bool:
        """Whether two levels are missing values of the same rows."""
        codes = self.levels.code
        return bool(codes[i] == codes[j] == MISSING) and self._mutual(i, j)

    def implications(self) -> Iterator[Relation]:
        """The implications that do not follow from two others."""
        for (i, j), (support, exceptions) in sorted(self.implied.items()):
            if not self._follows(i, j) and not self._gone(i, j):
                yield self._relation(i, (j,), support, exceptions, never=False)

    def _mutual(self, i: int, j: int) -> bool:
        return (i, j) in self.implied and (j, i) in self.implied

    @cached_property
    def _implies(self) -> dict[int, set[int]]:
        """For every level those that it implies."""
        found: dict[int, set[int]] = {}
        for i, j in self.implied:
            found.setdefault(i, set()).add(j)
        return found

    def _hub(self, i: int) -> int:
        """Of the levels that a level shares all its rows with, the first."""
        return min([i, *(j for j in self._implies.get(i, ()) if self._mutual(i, j))])

    def _follows(self, i: int, j: int) -> bool:
        """Whether an implication follows from others.

        Of levels that imply each other only the first is compared with levels beyond them.
        """
        if self._mutual(i, j):
            return self._hub(j) != i and self._hub(i) != j
        if self._hub(i) != i or self._hub(j) != j:
            return True
        return any(
            k != j and self._hub(k) == k and not self._mutual(i, k) and (k, j) in self.implied
            for k in self._implies[i]
        )

    def exclusions(self) -> Iterator[Relation]:
        """The values that never meet, where no implication says so."""
        columns = self.levels.column
        by_pair: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for i, j in sorted(self.excluded):
            if not self._told(i, j):
                by_pair.setdefault((int(columns[i]), int(columns[j])), []).append((i, j))
        for pairs in by_pair.values():
            yield from self._grouped(pairs)

    def _told(self, i: int, j: int) -> bool:
        """Whether implications and other exclusions say already that two values never meet."""
        columns = self.levels.column
        for one, other in ((i, j), (j, i)):
            if self._hub(one) != one:
                return True
            for k in self._implies.get(one, ()):
                if columns[k] == columns[other]:
                    return True
                apart = (k, other) in self.excluded or (other, k) in self.excluded
                if apart and not self._mutual(one, k):
                    return True
        return False

    def _grouped(self, pairs: list[tuple[int, int]]) -> Iterator[Relation]:
        """One relation for each value, of the column that needs fewer of them."""
        side = 0 if len({i for i, _ in pairs}) <= len({j for _, j in pairs}) else 1
        for level in sorted({pair[side] for pair in pairs}):
            mine = [pair for pair in pairs if pair[side] == level]
            exceptions = sum(self.excluded[pair][1] for pair in mine)
            support = int(self.levels.count[level])
            yield self._relation(
                level, tuple(pair[1 - side] for pair in mine), support, exceptions, never=True
            )

    def _relation(
        self, when: int, others: tuple[int, ...], support: int, exceptions: int, *, never: bool
    ) -> Relation:
        columns = self.levels.column
        first, second = int(columns[when]), int(columns[others[0]])
        value = self._value(when)
        values = tuple(self._value(level) for level in others)
        names = self.schema.names[first], self.schema.names[second]
        if never:
            return Implication(
                columns=names, when=value, never=values, support=support, exceptions=exceptions
            )
        return Implication(
            columns=names,
            when=value,
            then=values,
            support=support,
            exceptions=exceptions,
            example=(value, *values),
        )

    def _value(self, level: int) -> object:
        column = self.schema.columns[self.levels.column[level]]
        return column.value(float(self.levels.code[level]))


def is_flag(column: Column) -> bool:
    """Whether a number is 0 or 1 in training, and both."""
    return column.kind == "continuous" and column.seen.tolist() == [0.0, 1.0]


def flags(schema: Schema, codes: Array) -> list[Flag]:
    """The whole numbers that are truth values."""
    return [
        Flag(
            columns=(column.name,),
            support=int((codes[:, at] >= 0).sum()),
            example=(column.value(1.0),),
        )
        for at, column in enumerate(schema.columns)
        if is_flag(column)
    ]


def families(schema: Schema, codes: Array) -> list[OneOf]:
    """Flags of which exactly one is 1 in every row; three or more, as two determine each other."""
    places = [
        at for at, column in enumerate(schema.columns) if is_flag(column) and not column.missing
    ][:MOST_FLAGS]
    if len(places) < 3:
        return []
    ones = codes[:, places].astype(np.float32)
    met = ones.T @ ones
    counts = np.diag(met).astype(int)
    found: list[OneOf] = []
    free = set(range(len(places)))
    for start in np.argsort(-counts, kind="stable").tolist():
        if start not in free:
            continue
        members = _family(start, free, met, counts, len(codes))
        if len(members) > 2 and _certain(counts[members], len(codes)):
            free -= set(members)
            names = [schema.names[places[at]] for at in sorted(members)]
            example = (1, *([0] * (len(names) - 1)))
            found.append(OneOf(columns=tuple(names), support=len(codes), example=example))
    return found


def _family(start: int, free: set[int], met: Array, counts: Array, rows: int) -> list[int]:
    """Flags that never meet, the most frequent first, until every row has one; else none."""
    members, left = [start], rows - int(counts[start])
    order = np.array([at for at in np.argsort(-counts, kind="stable").tolist() if at in free])
    while left and len(order):
        order = order[(met[members[-1], order] == 0) & (counts[order] <= left)]
        members += order[:1].tolist()
        left -= int(counts[order[:1]].sum())
    return members if left == 0 else []


def _certain(counts: Array, rows: int) -> bool:
    """Whether independent flags would surely have met somewhere."""
    pairs = (counts.sum() ** 2 - (counts**2).sum()) / 2
    return bool(pairs / rows >= CERTAIN)
