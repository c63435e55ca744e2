"""Columns that determine others: equal values of the first go with equal values of the second.

A column whose values never repeat determines everything and says nothing, so rows are counted that
have their value in common with another row. Of independent columns, k rows with one value agree in
the second column with the probability sum(p ** k), at most max(p) ** (k - 1) and at most
sum(p ** 2) ** (k / 2). The product over all values must be below exp(-30).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from macex.schema import MISSING, Array, Column, Schema, special
from macex.structure.categories import CERTAIN, RARE
from macex.structure.levels import FEW, sample
from macex.structure.relations import Determination

PROBES = 256  # pairs of rows with one value that are compared first
MOST_ROWS = 4_000_000  # cells that are sorted while pairs of columns are proposed
MOST_PROPOSED = 2000
MOST_VALUES = 20_000  # of a column that determines another


def determinations(schema: Schema, codes: Array) -> list[Determination]:
    """Which columns determine which, without those that follow from two others."""
    proposed = _proposed(codes)
    groups = {
        at: np.unique(codes[:, at], return_inverse=True, return_counts=True)
        for at in sorted({first for first, _ in proposed})
    }
    found: dict[tuple[int, int], int] = {}
    for first, second in proposed:
        exceptions = _exceptions(groups[first], codes[:, second])
        if exceptions is not None and _in_ranges(schema.columns[first], codes, first, second):
            found[first, second] = exceptions
    links = Links(found)
    return [
        _relation(schema, codes, first, second, exceptions, links.mutual(first, second))
        for (first, second), exceptions in sorted(found.items())
        if not links.follows(first, second)
    ]


def _proposed(codes: Array) -> list[tuple[int, int]]:
    """Pairs of columns such that rows alike in the first are alike in the second, in a sample."""
    count, width = codes.shape
    part = codes[sample(count, MOST_ROWS // max(width, 1))]
    varied = (part != part[0]).any(axis=0)
    found: list[tuple[int, int]] = []
    for first in np.flatnonzero(varied):
        order = np.argsort(part[:, first], kind="stable")
        ordered = part[order, first]
        same = np.flatnonzero((ordered[1:] == ordered[:-1]) & (ordered[1:] != MISSING))
        if len(same) < 2:
            continue
        same = same[np.unique(np.linspace(0, len(same) - 1, PROBES).astype(int))]
        differ = (part[order[same]] != part[order[same + 1]]).sum(axis=0)
        agrees = varied & (differ <= len(same) // 100)
        agrees[first] = False
        found += [(int(first), int(second)) for second in np.flatnonzero(agrees)]
    return found[:MOST_PROPOSED]


def _exceptions(group: tuple[Array, Array, Array], second: Array) -> int | None:
    """How many rows break it, None if it does not hold or chance could have made it."""
    values, place, counts = group
    known = ~special(second) & ~special(values)[place]
    if not known.any() or len(values) > MOST_VALUES:
        return None
    seen, other, shares = np.unique(second[known], return_inverse=True, return_counts=True)
    if len(seen) < 2:
        return None
    share = shares / shares.sum()
    held = np.bincount(place[known], minlength=len(counts))
    doubled = held[held > 1]
    single = (doubled - 1).sum() * -np.log(share.max())
    paired = doubled.sum() / 2 * -np.log((share**2).sum())
    if max(single, paired) < CERTAIN:
        return None
    met = np.unique(place[known] * len(seen) + other, return_counts=True)
    most = np.zeros(len(counts), int)
    np.maximum.at(most, met[0] // len(seen), met[1])
    exceptions = int(known.sum() - most.sum())
    few = min(RARE * doubled.sum(), (doubled - 1).sum() / 20)
    return exceptions if exceptions <= few else None


def _in_ranges(column: Column, codes: Array, first: int, second: int) -> bool:
    """Whether a number with many values determines by its ranges, as an age its age group.

    A value that jumps back and forth says nothing about the numbers between.
    """
    if column.discrete or len(column.seen) <= FEW:
        return True
    value = np.array(mapping(codes[:, first], codes[:, second])[1])
    return bool(np.count_nonzero(value[1:] != value[:-1]) <= 2 * len(np.unique(value)))


class Links:
    """Which column determines which, without those that follow from two others.

    Of columns that determine each other only the first is compared with columns beyond them.
    """

    def __init__(self, found: Iterable[tuple[int, int]]) -> None:
        self.found = set(found)
        led = {max(pair) for pair in self.found if self.mutual(*pair)}
        self.middles: dict[int, list[int]] = {}
        for first, second in sorted(self.found):
            if second not in led:
                self.middles.setdefault(first, []).append(second)
        self.led = led

    def mutual(self, one: int, other: int) -> bool:
        """Whether two columns determine each other."""
        return (one, other) in self.found and (other, one) in self.found

    def follows(self, first: int, second: int) -> bool:
        """Whether it follows from two others that the first determines the second."""
        if self.mutual(first, second):
            return second < first or first in self.led
        if first in self.led or second in self.led:
            return True
        return any(
            (middle, second) in self.found and middle != second
            for middle in self.middles.get(first, ())
        )


def _relation(
    schema: Schema, codes: Array, first: int, second: int, exceptions: int, mutual: bool
) -> Determination:
    pairs = mapping(codes[:, first], codes[:, second])
    columns = schema.columns[first], schema.columns[second]
    values = tuple(
        (columns[0].value(a), columns[1].value(b)) for a, b in zip(*pairs[:2], strict=True)
    )
    common = int(np.argmax(pairs[2]))
    return Determination(
        columns=(columns[0].name, columns[1].name),
        support=int(pairs[2].sum()),
        exceptions=exceptions,
        example=values[common],
        pairs=values,
        mutual=mutual,
    )


def mapping(first: Array, second: Array) -> tuple[list[float], list[float], Array]:
    """Each value of one column with the value it has most often in the other, and its rows."""
    known = ~special(first) & ~special(second)
    values, place = np.unique(first[known], return_inverse=True)
    others, other = np.unique(second[known], return_inverse=True)
    met, counts = np.unique(place * len(others) + other, return_counts=True)
    place, other = met // len(others), met % len(others)
    start = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
    rows = np.add.reduceat(counts, start)
    best = np.lexsort((other, -counts, place))[start]
    return values[place[best]].tolist(), others[other[best]].tolist(), rows
