"""What changed channels are seen beside: where they come from, and what is usual."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from macex.ask.answers import Goals
from macex.schema import Array
from macex.series.fitted import FittedSeries
from macex.series.mixtures import stretched
from macex.series.usual import NEAREST
from macex.series.values import SeriesChange, Surroundings

BAND = (0.1, 0.9)  # between these shares of the cases that meet the goal
CASES, CELLS = 100, 400_000  # that a band is computed of, and their values
DRAWN = 12  # channels, at most


def surroundings(
    fitted: FittedSeries, goals: Goals, query: int, changes: Iterable[SeriesChange], length: int
) -> dict[str, Surroundings]:
    """Beside what each changed channel is drawn, by name; for as many as are drawn."""
    donors = {change.channel: change.case for change in changes}
    rows = fitted.meeting(goals, query) if donors else np.zeros(0, int)
    most = max(NEAREST + 1, min(CASES, CELLS // max(1, length)))
    if len(rows) > most:
        rows = rows[np.round(np.linspace(0, len(rows) - 1, most)).astype(int)]
    found = {}
    for name in list(donors)[:DRAWN]:
        channel = fitted.names.index(name)
        donor = _values(fitted, donors[name], channel, length)
        if len(rows) <= NEAREST:
            found[name] = Surroundings(donor, None, None)
            continue
        values = np.stack([_values(fitted, int(row), channel, length) for row in rows])
        known = np.where(np.isfinite(values), values, np.nan)
        low, high = np.nanquantile(np.where(np.isnan(known).all(axis=0), 0.0, known), BAND, axis=0)
        found[name] = Surroundings(donor, low, high)
    return found


def _values(fitted: FittedSeries, case: int, channel: int, length: int) -> Array:
    """A channel of a training case on a time axis of the length, as numbers."""
    return stretched(np.asarray(fitted.train.values[case][channel], dtype=float), length)
