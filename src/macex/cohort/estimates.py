"""Shares and means with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from macex.render.sheets import percent
from macex.schema import Array

RESAMPLES = 1000
MANY = 5000  # numbers whose mean needs no bootstrap
ENDS = (0.025, 0.975)
AT_ONCE = 2_000_000  # drawn rows that are held in memory together


class Estimate(NamedTuple):
    """A share or a mean over rows, and its 95 % interval; NaN where there are no rows.

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


@dataclass(frozen=True)
class Flags:
    """How many rows there are, and how many of them are flagged."""

    rows: int = 0
    flagged: int = 0

    def __add__(self, other: Flags) -> Flags:
        return Flags(self.rows + other.rows, self.flagged + other.flagged)


@dataclass(frozen=True)
class Moments:
    """Numbers whose mean is estimated: added up, and kept as long as they are few.

    >>> some = Moments.of(np.array([0.0, 1.0])) + Moments.of(np.array([0.5]))
    >>> some.rows, some.total, some.shares
    (3, 1.5, False)
    """

    rows: int
    total: float
    squares: float
    ones: int  # how many are over a half
    shares: bool  # whether each is 0 or 1
    kept: Array | None  # None where there are very many

    @staticmethod
    def of(values: Array) -> Moments:
        """These numbers."""
        return Moments(
            len(values),
            float(values.sum()),
            float((values**2).sum()),
            int((values > 0.5).sum()),
            bool((np.isclose(values, 0) | np.isclose(values, 1)).all()),
            values if len(values) <= MANY else None,
        )

    def __add__(self, other: Moments) -> Moments:
        rows, kept = self.rows + other.rows, None
        if rows <= MANY and self.kept is not None and other.kept is not None:
            kept = np.concatenate([self.kept, other.kept])
        return Moments(
            rows,
            self.total + other.total,
            self.squares + other.squares,
            self.ones + other.ones,
            self.shares and other.shares,
            kept,
        )


def share_of(flags: Array | Flags, draw: np.random.Generator) -> Estimate:
    """The share of rows that are flagged.

    A bootstrap of rows that are all alike says nothing, so the far end is then 3 / n away (the
    rule of three).

    >>> share_of(np.zeros(30, bool), np.random.default_rng(0))
    Estimate(value=0.0, low=0.0, high=0.1, rows=30)
    """
    known = flags if isinstance(flags, Flags) else Flags(len(flags), int(flags.sum()))
    count = known.rows
    share = known.flagged / count if count else float("nan")
    if count < 2:
        return Estimate(share, None, None, count)
    if share in (0.0, 1.0):
        far = min(1.0, 3 / count)
        return Estimate(share, *((0.0, far) if share == 0 else (1 - far, 1.0)), count)
    low, high = np.quantile(draw.binomial(count, share, RESAMPLES) / count, ENDS)
    return Estimate(share, float(low), float(high), count)


def mean_of(values: Array | Moments, draw: np.random.Generator) -> Estimate:
    """The mean of some numbers; of very many the interval is that of the normal distribution."""
    known = values if isinstance(values, Moments) else Moments.of(values)
    count, kept = known.rows, known.kept
    mean = known.total / count if count else float("nan")
    if count < 2:
        return Estimate(mean, None, None, count)
    if kept is None:
        spread = max(0.0, known.squares - count * mean**2) / (count - 1)
        half = 1.96 * spread**0.5 / count**0.5
        return Estimate(mean, mean - half, mean + half, count)
    turns = max(1, AT_ONCE // count)
    means: list[float] = []
    while len(means) < RESAMPLES:
        drawn = draw.integers(0, count, (min(turns, RESAMPLES - len(means)), count))
        means += kept[drawn].mean(axis=1).tolist()
    low, high = np.quantile(means, ENDS)
    return Estimate(mean, float(low), float(high), count)
