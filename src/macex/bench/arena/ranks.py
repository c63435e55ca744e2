"""Ranks over cells, and whether differences between methods are more than chance.

Following Demšar (2006): ranks within each cell, averaged; two methods whose average ranks are
nearer than Nemenyi's critical difference are not told apart. Two methods alone are compared by
Wilcoxon's signed ranks, with Holm's correction where several are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from macex.schema import Array


def mean_ranks(table: Array) -> Array:
    """Average ranks (methods,) of values (cells, methods), the lowest value first; NaN is last.

    >>> mean_ranks(np.array([[1.0, 2.0, 2.0], [1.0, np.nan, 3.0]])).tolist()
    [1.0, 2.75, 2.25]
    """
    from scipy.stats import rankdata

    ranked = rankdata(np.where(np.isnan(table), np.inf, table), axis=1)
    means: Array = ranked.mean(axis=0)
    return means


def critical_difference(methods: int, cells: int, level: float = 0.05) -> float:
    """By how much average ranks must differ (Nemenyi).

    Demšar's example has four methods on fourteen cells:

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * cells)))


def friedman(table: Array) -> float:
    """The chance of ranks so different if all methods were alike; NaN for fewer than three.

    >>> round(friedman(np.array([[1.0, 2.0, 3.0]] * 6)), 4)
    0.0025
    """
    from scipy.stats import friedmanchisquare

    if table.shape[1] < 3 or len(table) < 2:
        return float("nan")
    last = np.where(np.isnan(table), np.nanmax(table, initial=0.0) + 1, table)
    if (last == last[:, :1]).all():
        return 1.0
    return float(friedmanchisquare(*last.T).pvalue)


def signed_ranks(gaps: Array) -> Array:
    """The chance of paired differences so one-sided if there were none (Wilcoxon), by column.

    Exact, ties included; differences of 0 are left out.

    >>> signed_ranks(np.array([[1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0]])).round(4).tolist()
    [0.0312, 1.0]
    """
    return np.array([_one_sided(np.round(column, 12)) for column in gaps.T])


def _one_sided(gaps: Array) -> float:
    from scipy.stats import rankdata

    gaps = gaps[gaps != 0]
    if not len(gaps):
        return 1.0
    doubled = np.rint(2 * rankdata(np.abs(gaps))).astype(int)  # ties have halves of ranks
    above = int(doubled[gaps > 0].sum())
    chances = _sums(tuple(sorted(doubled.tolist())))
    return min(1.0, 2 * float(chances[: min(above, int(doubled.sum()) - above) + 1].sum()))


@lru_cache(maxsize=10_000)
def _sums(ranks: tuple[int, ...]) -> Array:
    """How likely each sum of ranks is if each of them counts or not by a coin."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    for rank in ranks:
        more = np.zeros_like(chances)
        more[rank:] = chances[: len(chances) - rank]
        chances = (chances + more) / 2
    return chances


def holm(chances: Mapping[str, float]) -> dict[str, float]:
    """Chances corrected for how many there are.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    found: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(chances, key=lambda one: chances[one])):
        least = max(least, min(1.0, (len(chances) - place) * chances[name]))
        found[name] = least
    return found


def groups(ranks: Array, difference: float) -> list[tuple[int, int]]:
    """The longest runs of methods, in the order of their ranks, that are not told apart.

    >>> groups(np.array([1.0, 1.5, 3.0]), 1.0)
    [(0, 1)]
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
