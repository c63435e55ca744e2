"""Candidates as a table of options per unit, which the policy searches choose from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.schema import Array
from macex.stages.shapes import Candidates, Task


class UnitValues(NamedTuple):
    """The values on offer for every unit, padded to M."""

    value: Array  # (Q, U, M)
    real: Array  # (Q, U, M) bool
    entry: Array  # (U, M) which candidate it is, -1 for padding

    @property
    def open(self) -> Array:
        """Which units have anything on offer, (Q, U) bool."""
        return np.asarray(self.real.any(axis=2))

    def rows(self, task: Task, at: Array, chosen: Array, option: Array) -> Array:
        """Rows (n, U): where `chosen` the option (n, U), elsewhere the query's own value."""
        value = self.value[at[:, None], np.arange(option.shape[1]), option]
        return np.where(chosen, value, task.queries[at])

    def spread(self, table: Array, fill: float, width: int) -> Array:
        """A table by option (Q, U, M) as a table by candidate (Q, A)."""
        spread = np.full((len(table), width), fill)
        unit, place = np.nonzero(self.entry >= 0)
        spread[:, self.entry[unit, place]] = table[:, unit, place]
        return spread


def options_of(task: Task, candidates: Candidates) -> UnitValues:
    """The candidates that may be made, by unit."""
    width = task.space.width
    entries = [np.flatnonzero(candidates.unit == place) for place in range(width)]
    most = max([len(e) for e in entries], default=0) or 1
    entry = np.full((width, most), -1)
    for place, mine in enumerate(entries):
        entry[place, : len(mine)] = mine
    usable = candidates.real & candidates.allowed
    if not candidates.value.shape[1]:
        shape = (len(task.queries), width, most)
        return UnitValues(np.zeros(shape), np.zeros(shape, bool), entry)
    return UnitValues(candidates.value[:, entry], usable[:, entry] & (entry >= 0), entry)
