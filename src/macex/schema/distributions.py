"""How the values of every column are spread over training rows, by decision: counts, no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from macex.schema.cells import Array
from macex.schema.columns import special

if TYPE_CHECKING:
    from macex.schema.columns import Column
    from macex.schema.schema import Schema

BINS = 24  # of a column of numbers
EDGE = 0.005  # the share of rows beyond each end, which count in the outer bins
FAR = 1.5  # the ends are those of training, unless it is so much wider than all but these rows


@dataclass(frozen=True, eq=False)
class Distributions:
    """Counts of training rows by decision and by bin, the bins of all columns side by side.

    A column of numbers has bins of equal width between its `ends`, and rows beyond them count in
    the outer bins; any other column has a bin for each of its categories. `rows` counts rows by
    decision.
    """

    counts: Array  # (classes, bins of all columns)
    ends: Array  # (d, 2)
    rows: Array  # (classes,)
    starts: tuple[int, ...]  # where the bins of each column begin, and where the last ones end

    def of(self, column: int, wanted: Array | None = None) -> Array:
        """The counts of a column's bins, of all rows or of those with wanted decisions (K,)."""
        part = self.counts[:, self.starts[column] : self.starts[column + 1]]
        return np.asarray((part if wanted is None else part[wanted]).sum(axis=0))

    def total(self, wanted: Array | None = None) -> int:
        """How many rows were counted."""
        return int((self.rows if wanted is None else self.rows[wanted]).sum())


def distributions(schema: Schema, codes: Array, decision: Array, classes: int) -> Distributions:
    """Count training rows (n, d) by the model's decision (n,), one of `classes` many.

    >>> import pandas as pd
    >>> from macex.schema import Schema
    >>> frame = pd.DataFrame({"job": ["a", "b", "b", "b"]})
    >>> schema = Schema.infer(frame)
    >>> codes = schema.read(frame).codes
    >>> distributions(schema, codes, np.array([0, 0, 1, 1]), 2).of(0, np.array([False, True]))
    array([0, 2])
    """
    ends = np.array([_ends(column, codes[:, at]) for at, column in enumerate(schema.columns)])
    starts = _starts(schema)
    counts = np.zeros((classes, starts[-1]), np.int64)
    for at, column in enumerate(schema.columns):
        values, known = codes[:, at], ~special(codes[:, at])
        bins = values if column.discrete else _binned(values, *ends[at])
        place = bins[known].astype(np.int64) + starts[at]
        np.add.at(counts, (decision[known], place), 1)
    return Distributions(
        counts, ends.reshape(-1, 2), np.bincount(decision, minlength=classes), starts
    )


def restored(schema: Schema, counts: Array, ends: Array, rows: Array) -> Distributions:
    """Distributions from their arrays as they were stored."""
    starts = _starts(schema)
    if counts.shape != (len(rows), starts[-1]) or ends.shape != (len(schema.columns), 2):
        raise ValueError("the distributions are of other columns")
    return Distributions(counts, ends, rows, starts)


def _starts(schema: Schema) -> tuple[int, ...]:
    sizes = [len(column.table) if column.discrete else BINS for column in schema.columns]
    return (0, *np.cumsum(sizes, dtype=int).tolist())


def _ends(column: Column, values: Array) -> tuple[float, float]:
    """The range of training, without a few rows that are far away from all others."""
    known = values[~special(values)]
    if column.discrete or not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    most = np.quantile(known, [EDGE, 1 - EDGE])
    if high - low > FAR * (most[1] - most[0]) > 0:
        low, high = float(most[0]), float(most[1])
    width = max(1.0, float(np.spacing(abs(low)) * BINS))  # so wide that its ends differ
    return (low, high) if high > low else (low - width, low + width)


def _binned(values: Array, low: float, high: float) -> Array:
    share = (values - low) / (high - low)
    return np.clip(np.floor(share * BINS), 0, BINS - 1)
