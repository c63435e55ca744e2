"""Rows as points: numbers as shares of their range, categories one-hot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from macex.ask.units import Unit, unit_codes
from macex.engine.batch import Outcome
from macex.schema import Array, special
from macex.stages.plausibility.distance import evenly

MOST_ROWS = 2000  # training rows that points are made of, evenly taken
MOST_VALUES = 60  # of a column that is one-hot: the most frequent
KEPT = 0.95  # the share of the variance that principal components keep


@dataclass(frozen=True)
class RowEmbedding:
    """Rows by unit, (n, U), as points in which two different categories are 1 apart (L1)."""

    units: tuple[Unit, ...]
    rows: Array  # (T, U) training rows
    index: Array  # (T,) their places among all training rows

    @classmethod
    def of(cls, opened: Outcome) -> RowEmbedding:
        """Made of at most 2,000 training rows."""
        ground = opened.fitted.ground
        index = evenly(np.arange(len(ground.codes)), MOST_ROWS)
        units = opened.task.space.units
        return cls(units, unit_codes(units, ground.codes[index]), index)

    @cached_property
    def points(self) -> Array:
        """The training rows as points."""
        return self(self.rows)

    @cached_property
    def unit_of(self) -> Array:
        """Which unit each coordinate belongs to."""
        wide = [_column(unit, self.rows[:1, at]).shape[1] for at, unit in enumerate(self.units)]
        return np.repeat(np.arange(len(self.units)), wide)

    def __call__(self, rows: Array) -> Array:
        """Rows as points; a missing number is the middle of its range."""
        parts = [_column(unit, rows[:, place]) for place, unit in enumerate(self.units)]
        return np.column_stack(parts) if parts else np.zeros((len(rows), 0))


def _column(unit: Unit, values: Array) -> Array:
    if unit.discrete:
        frequent = unit.seen[np.argsort(-unit.counts, kind="stable")[:MOST_VALUES]]
        return (values[:, None] == np.sort(frequent)) / 2.0
    wide = unit.high - unit.low
    share = (values - unit.low) / (wide if wide > 0 else 1.0)
    return np.where(special(values), 0.5, share)[:, None]


class Reconstruction:
    """How badly principal components of the training rows give a row back: squared error."""

    def __init__(self, embedding: RowEmbedding) -> None:
        self.embedding = embedding
        points = embedding.points
        self.mean = points.mean(axis=0)
        _, size, axes = np.linalg.svd(points - self.mean, full_matrices=False)
        share = np.cumsum(size**2) / max(float((size**2).sum()), 1e-12)
        self.axes = axes[: int(np.searchsorted(share, KEPT)) + 1]

    def __call__(self, rows: Array) -> Array:
        """The error of each row, (n,)."""
        points = self.embedding(rows) - self.mean
        left = points - (points @ self.axes.T) @ self.axes
        found: Array = np.round((left**2).sum(axis=1), 9)
        return found
