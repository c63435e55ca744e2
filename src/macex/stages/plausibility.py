"""How usual a counterfactual is among the rows that meet the goal.

Plausibility is the share of goal rows whose mean distance to their five nearest goal rows is at
least the counterfactual's: 1 is typical, 0 is farther out than any of them. Equal rows count once,
or else nothing but a copy would be plausible among many copies; where many rows meet the goal, an
evenly spaced sample of them stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.schema import MISSING, UNKNOWN
from macex.stages.arrays import distinct

if TYPE_CHECKING:
    from macex.stages.distance import Scales

Array = np.ndarray[Any, np.dtype[Any]]

SAMPLE = 1000
NEAREST = 5
BLOCK = 4_000_000


@dataclass(frozen=True)
class Reference:
    """Goal rows to compare with; `usual` holds their own mean distances, sorted."""

    scales: Scales
    codes: Array  # (R, d)
    usual: Array  # (R,)

    def share(self, codes: Array) -> Array:
        """The plausibility of rows of codes (n, d); NaN where there are too few goal rows."""
        if len(self.codes) <= NEAREST:
            return np.full(len(codes), np.nan)
        mean = self._mean_distance(codes)
        below = np.searchsorted(self.usual, mean - 1e-6, side="left")
        return 1.0 - below / len(self.usual)

    def _mean_distance(self, codes: Array) -> Array:
        step = max(1, BLOCK // len(self.codes))
        parts = [
            _nearest_mean(_distances(self.scales, codes[start : start + step], self.codes))
            for start in range(0, len(codes), step)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)


def reference(scales: Scales, codes: Array) -> Reference:
    """The reference made of the distinct goal rows of (G, d), thinned evenly to a sample."""
    codes = codes[distinct(np.zeros(len(codes), np.intp), codes)]
    if len(codes) > SAMPLE:
        codes = codes[np.round(np.linspace(0, len(codes) - 1, SAMPLE)).astype(int)]
    if len(codes) <= NEAREST:
        return Reference(scales, codes, np.zeros(0))
    gaps = _distances(scales, codes, codes)
    np.fill_diagonal(gaps, np.inf)
    return Reference(scales, codes, np.sort(_nearest_mean(gaps)))


def _nearest_mean(gaps: Array) -> Array:
    near = np.partition(gaps, NEAREST - 1, axis=1)[:, :NEAREST]
    mean: Array = np.sort(near, axis=1).mean(axis=1, dtype=float)
    return mean


def _distances(scales: Scales, a: Array, b: Array) -> Array:
    """Distances of all rows of `a` to all rows of `b`, (n, R) float32, columns in name order."""
    total = np.zeros((len(a), len(b)), np.float32)
    for column in scales.by_name:
        x, y = a[:, column][:, None], b[:, column][None, :]
        if scales.discrete[column]:
            total += x != y
            continue
        gap = np.abs(x / scales.scale[column] - y / scales.scale[column]).astype(np.float32)
        odd = _special(x) | _special(y)
        total += np.where(odd, (x != y).astype(np.float32), gap) if odd.any() else gap
    return total


def _special(codes: Array) -> Array:
    reserved: Array = (codes == MISSING) | (codes == UNKNOWN)
    return reserved
