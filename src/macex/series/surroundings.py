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
        donor = _values(fitted, np.array([donors[name]]), channel, length)[0]
        if len(rows) <= NEAREST:
            found[name] = Surroundings(donor, None, None)
            continue
        values = _values(fitted, rows, channel, length)
        found[name] = Surroundings(donor, *_band(values))
    return found


def _band(values: Array) -> Array:
    """Between what most values (n, time) lie, gaps left out, (2, time)."""
    finite = np.isfinite(values)
    if finite.all():
        return np.asarray(np.quantile(values, BAND, axis=0))
    known = np.where(finite, values, np.nan)
    return np.asarray(np.nanquantile(np.where(finite.any(axis=0), known, 0.0), BAND, axis=0))


def _values(fitted: FittedSeries, rows: Array, channel: int, length: int) -> Array:
    """A channel of training cases on a time axis of the length, as numbers (n, length)."""
    train = fitted.train
    if train.even and train.longest == length:
        return np.asarray(train.values)[rows, channel].astype(float)
    lines = [np.asarray(train.values[row][channel], dtype=float) for row in rows]
    return np.stack([stretched(line, length) for line in lines])
