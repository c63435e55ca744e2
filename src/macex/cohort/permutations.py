"""Permutation tests of many groups at once: is a group's mean unlike that of all other rows?

Numbers are permuted as one, and a group of any column is so many of them in a row. So a single
permutation serves all groups of all columns, and costs as much for one group as for thousands.
With many tests a correction asks for small probabilities, which few permutations cannot show. So
more are drawn for as long as some group needs them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macex.schema import Array

PERMUTATIONS = 9_999
AT_ONCE = 4_000_000  # numbers that are permuted together
MOST = 200_000_000  # numbers that are permuted beyond the first permutations
HITS = 10  # permutations as extreme that settle how small a probability is
SLACK = 1e-12


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
