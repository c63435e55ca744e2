"""How usual a counterfactual is among the rows that meet the goal.

Plausibility is the share of goal rows whose mean distance to their five nearest goal rows is at
least the counterfactual's: 1 is typical, 0 is farther out than all of them. Equal rows count once:
otherwise only copies would be plausible among many copies. If many rows meet the goal, an evenly
spaced sample of them is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from macex.schema import Array, any_special, special
from macex.stages.arrays import distinct

if TYPE_CHECKING:
    from macex.stages.distance import Scales


SAMPLE = 1000
SMALL_SAMPLE = 250  # where every query has a goal of its own
NEAREST = 5
BLOCK = 1_000_000  # distances held at once: few enough for the cache


@dataclass(frozen=True)
class Reference:
    """Goal rows to compare with; `usual` holds their own mean distances, sorted."""

    scales: Scales
    codes: Array  # (R, d)
    levels: tuple[Array, ...]  # the categories met, column by column
    hot: Array  # (F, R) float32: the categories of the rows, one-hot
    usual: Array  # (R,)

    def share(self, codes: Array) -> Array:
        """The plausibility of rows of codes (n, d); NaN where there are too few goal rows."""
        if not len(self.usual):
            return np.full(len(codes), np.nan)
        step = max(1, BLOCK // len(self.codes))
        parts = [
            _nearest_mean(self.distances(codes[start : start + step]))
            for start in range(0, len(codes), step)
        ]
        mean = np.concatenate([*parts, np.zeros(0)])
        below = np.searchsorted(self.usual, mean - 1e-6, side="left")
        return 1.0 - below / len(self.usual)

    def distances(self, codes: Array) -> Array:
        """Distances of rows (n, d) to all rows of the reference, (n, R) float32.

        Equal categories are counted by one matrix product; a count of whole numbers is exact.
        """
        discrete = _columns(self.scales, discrete=True)
        total = len(discrete) - _one_hot(codes[:, discrete], self.levels) @ self.hot
        some = any_special(codes) or self._gappy
        for column, scaled in self._numbers:
            x = codes[:, column]
            gap = np.subtract.outer(_scaled(self.scales, column, x), scaled)
            np.abs(gap, out=gap)
            if some:
                y = self.codes[:, column]
                odd = np.logical_or.outer(special(x), special(y))
                gap = np.where(odd, np.not_equal.outer(x, y), gap)
            total += gap
        return total

    @cached_property
    def _numbers(self) -> list[tuple[int, Array]]:
        """The columns of numbers, scaled."""
        numbers = _columns(self.scales, discrete=False).tolist()
        return [(one, _scaled(self.scales, one, self.codes[:, one])) for one in numbers]

    @cached_property
    def _gappy(self) -> bool:
        return any_special(self.codes)


def reference(scales: Scales, codes: Array, most: int = SAMPLE) -> Reference:
    """The reference made of the distinct goal rows of (G, d), thinned evenly to a sample."""
    codes = thinned(codes, most)
    codes = evenly(codes[distinct(np.zeros(len(codes), np.intp), codes)], most)
    discrete = _columns(scales, discrete=True)
    levels = tuple(np.unique(codes[:, column]) for column in discrete)
    hot = np.ascontiguousarray(_one_hot(codes[:, discrete], levels).T)
    made = Reference(scales, codes, levels, hot, np.zeros(0))
    if len(codes) <= NEAREST:
        return made
    gaps = made.distances(codes)
    np.fill_diagonal(gaps, np.inf)
    return replace(made, usual=np.sort(_nearest_mean(gaps)))


def thinned(rows: Array, most: int) -> Array:
    """As many goal rows, evenly spaced, as are looked at to make a reference of `most`."""
    return evenly(rows, 40 * most)


def evenly(rows: Array, most: int) -> Array:
    """The rows, or `most` of them, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows[np.round(np.linspace(0, len(rows) - 1, most)).astype(int)]


def _columns(scales: Scales, *, discrete: bool) -> Array:
    return scales.by_name[scales.discrete[scales.by_name] == discrete]


def _one_hot(codes: Array, levels: tuple[Array, ...]) -> Array:
    parts = [codes[:, place][:, None] == level for place, level in enumerate(levels)]
    return np.concatenate([np.zeros((len(codes), 0)), *parts], axis=1, dtype=np.float32)


def _nearest_mean(gaps: Array) -> Array:
    near = np.partition(gaps, NEAREST - 1, axis=1)[:, :NEAREST]
    mean: Array = np.sort(near, axis=1).mean(axis=1, dtype=float)
    return mean


def _scaled(scales: Scales, column: int, codes: Array) -> Array:
    return (np.where(special(codes), 0.0, codes) / scales.scale[column]).astype(np.float32)
