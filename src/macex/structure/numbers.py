"""The continuous columns as numbers, in which formulas, lines and orders are looked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.schema import Array, Schema, special

CHECKED = 1000  # rows in which those that a few rows do not refute are tried
LEAST = 40  # rows, below which nothing is said


class Numbers(NamedTuple):
    """The continuous columns that vary: their places, and their numbers with NaN for missing."""

    places: list[int]
    values: Array  # (n, k)
    steps: Array  # (k,)

    def without(self, dropped: set[int]) -> Numbers:
        """The same without the columns at some places of the table."""
        kept = [at for at, place in enumerate(self.places) if place not in dropped]
        return Numbers([self.places[at] for at in kept], self.values[:, kept], self.steps[kept])


def numbers_of(schema: Schema, codes: Array, least: int = 2) -> Numbers:
    """The continuous columns with at least `least` values."""
    places = [
        at
        for at, column in enumerate(schema.columns)
        if column.kind == "continuous" and len(column.seen) >= least
    ]
    values = codes[:, places]
    steps = np.array([schema.columns[at].step for at in places])
    return Numbers(places, np.where(special(values), np.nan, values), steps)
