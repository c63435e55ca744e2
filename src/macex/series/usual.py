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

    def share(self, case: Array) -> float | None:
        """The plausibility of a case (d, points); None where too few cases meet the goal."""
        if not len(self.mean):
            return None
        below = np.searchsorted(self.mean, _nearest_mean(_gaps(self.drawn, case)) - 1e-5)
        return round(1.0 - float(below) / len(self.mean), 6)


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
    gaps: Array = np.sqrt(((cases - case) ** 2).sum(axis=(1, 2), dtype=float))
    return gaps


def _nearest_mean(gaps: Array) -> float:
    return float(np.sort(gaps)[:NEAREST].mean())
