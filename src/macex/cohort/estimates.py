"""Shares and means with bootstrap intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.render.sheets import percent
from macex.schema import Array

RESAMPLES = 1000
MANY = 5000  # numbers whose mean needs no bootstrap
ENDS = (0.025, 0.975)
AT_ONCE = 2_000_000  # drawn rows that are held in memory together


class Estimate(NamedTuple):
    """A share or a mean of so many rows, and its 95 % interval; NaN of no rows.

    The interval is None for fewer than two rows.
    """

    value: float
    low: float | None
    high: float | None
    rows: int

    def percent(self) -> str:
        """A share as people write it, with its interval."""
        if self.low is None or self.high is None:
            return percent(self.value)
        return f"{percent(self.value)} ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def number(self) -> str:
        """A mean with its interval."""
        if not self.rows:
            return "-"
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def share_of(flags: Array, draw: np.random.Generator) -> Estimate:
    """The share of rows that are flagged.

    A bootstrap of rows that are all alike says nothing, so the far end is then 3 / n away (the
    rule of three).

    >>> share_of(np.zeros(30, bool), np.random.default_rng(0))
    Estimate(value=0.0, low=0.0, high=0.1, rows=30)
    """
    count = len(flags)
    if count < 2:
        return Estimate(float(flags.mean()) if count else float("nan"), None, None, count)
    share = float(flags.mean())
    if share in (0.0, 1.0):
        far = min(1.0, 3 / count)
        return Estimate(share, *((0.0, far) if share == 0 else (1 - far, 1.0)), count)
    low, high = np.quantile(draw.binomial(count, share, RESAMPLES) / count, ENDS)
    return Estimate(share, float(low), float(high), count)


def mean_of(values: Array, draw: np.random.Generator) -> Estimate:
    """The mean of some numbers; of very many the interval is that of the normal distribution."""
    count = len(values)
    if count < 2:
        return Estimate(float(values.mean()) if count else float("nan"), None, None, count)
    if count > MANY:
        mean, half = float(values.mean()), 1.96 * float(values.std(ddof=1)) / count**0.5
        return Estimate(mean, mean - half, mean + half, count)
    turns = max(1, AT_ONCE // count)
    means: list[float] = []
    while len(means) < RESAMPLES:
        drawn = draw.integers(0, count, (min(turns, RESAMPLES - len(means)), count))
        means += values[drawn].mean(axis=1).tolist()
    low, high = np.quantile(means, ENDS)
    return Estimate(float(values.mean()), float(low), float(high), count)
