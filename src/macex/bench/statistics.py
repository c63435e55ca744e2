"""Paired comparisons: differences on the queries both solved, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from macex.schema import Array

RESAMPLES = 2000
LOW, HIGH = 0.025, 0.975


class PairedDifference(NamedTuple):
    """The mean of paired differences with its 95 % interval, over so many `pairs`."""

    mean: float
    low: float
    high: float
    pairs: int

    @property
    def tied(self) -> bool:
        """Whether the interval contains 0; without a pair nothing tells the two apart."""
        return not (self.low > 0 or self.high < 0)

    def __str__(self) -> str:
        if not self.pairs:
            return "-"
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def difference(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """First minus second, pair by pair.

    >>> difference([1, 2, 2, 1], [2, 3, 3, 2])
    PairedDifference(mean=-1.0, low=-1.0, high=-1.0, pairs=4)
    >>> difference([1, 3], [2, 2]).tied
    True
    """
    gaps = np.asarray(first, float) - np.asarray(second, float)
    return differences(gaps[:, None])[0]


def differences(gaps: Array) -> list[PairedDifference]:
    """The means of many columns of paired differences, (pairs, columns), with their intervals.

    >>> differences(np.array([[1.0, 2.0], [3.0, 2.0]]))[1]
    PairedDifference(mean=2.0, low=2.0, high=2.0, pairs=2)
    """
    pairs, columns = gaps.shape
    if not pairs:
        return [PairedDifference(float("nan"), float("nan"), float("nan"), 0)] * columns
    means = np.round(_drawn(pairs) @ gaps / pairs, 12)  # noise of the last bits is no difference
    low, high = np.quantile(means, [LOW, HIGH], axis=0)
    found = zip(gaps.mean(axis=0), low, high, strict=True)
    return [PairedDifference(float(m), float(a), float(b), pairs) for m, a, b in found]


@lru_cache(maxsize=64)
def _drawn(pairs: int) -> Array:
    """How often each pair is drawn in each resample, (resamples, pairs)."""
    random = np.random.default_rng(0)
    at = random.integers(pairs, size=(RESAMPLES, pairs)) + pairs * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(at.reshape(-1), minlength=RESAMPLES * pairs)
    return counts.reshape(RESAMPLES, pairs).astype(float)


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> PairedDifference:
    """The difference on the queries that both have a number for.

    >>> paired({0: 1.0, 1: 2.0}, {1: 1.5, 2: 9.0})
    PairedDifference(mean=0.5, low=0.5, high=0.5, pairs=1)
    """
    both = sorted(first.keys() & second.keys())
    return difference([first[query] for query in both], [second[query] for query in both])
