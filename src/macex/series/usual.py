"""How usual a counterfactual is among the training cases that meet the goal.

As for tables: the share of goal cases whose mean distance to their five nearest goal cases is at
least the counterfactual's. Where many cases meet the goal, an evenly spaced sample stands for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.schema import Array

SAMPLE = 250
NEAREST = 5


class Usual(NamedTuple):
    """Goal cases to compare with, drawn with few points, and their own mean distances."""

    drawn: Array  # (R, d, points)
    mean: Array  # (R,) sorted; empty where there are too few cases

    def shares(self, own: Array, samples: Array, changed: Array) -> Array:
        """The plausibility of samples (n, d, points), (n,); NaN where too few cases meet the goal.

        They are a case's `own` (d, points) but for the channels that changed, (n, d).
        """
        if not len(self.mean):
            return np.full(len(samples), np.nan)
        same, mean = _gaps(self.drawn, own), np.empty(len(samples))  # (R, d)
        for line, (sample, moved) in enumerate(zip(samples, changed, strict=True)):
            square = same.copy()
            square[:, moved] = _gaps(self.drawn[:, moved], sample[moved])
            mean[line] = _nearest_mean(np.sqrt(square.sum(axis=1)))
        below = np.searchsorted(self.mean, mean - 1e-5)
        return np.asarray(np.round(1.0 - below / len(self.mean), 6))


def usual_of(drawn: Array, rows: Array) -> Usual:
    """The goal cases `rows` as something to compare with."""
    if len(rows) > SAMPLE:
        rows = rows[np.round(np.linspace(0, len(rows) - 1, SAMPLE)).astype(int)]
    cases = drawn[rows]
    if len(rows) <= NEAREST:
        return Usual(cases, np.zeros(0))
    flat = cases.reshape(len(rows), -1).astype(float)
    square = (flat**2).sum(axis=1)
    gaps = np.sqrt(np.maximum(square[:, None] + square - 2 * flat @ flat.T, 0.0))
    np.fill_diagonal(gaps, np.inf)
    return Usual(cases, np.sort([_nearest_mean(line) for line in gaps]))


def _gaps(cases: Array, case: Array) -> Array:
    """The squared distances of every channel, (R, d)."""
    gaps: Array = ((cases - case) ** 2).sum(axis=2, dtype=float)
    return gaps


def _nearest_mean(gaps: Array) -> float:
    return float(np.sort(gaps)[:NEAREST].mean())
