"""Whether cases look as if channels and time were mistaken for each other.

Nothing is guessed: a caller who did not say which layout is meant is asked.
"""

from __future__ import annotations

import warnings

import numpy as np

from macex.schema import Array
from macex.series.cases import Cases

SOME = 32  # cases that are looked at
SMOOTH, ROUGH = 0.8, 0.4  # how alike values next to each other are, along time and otherwise


def question(train: Cases) -> None:
    """Warn of cases that are smooth along channels, but not along time."""
    if not train.even or train.width <= train.longest:
        return
    values = np.asarray(train.values[:: max(1, len(train) // SOME)][:SOME], dtype=float)
    if _likeness(values.transpose(0, 2, 1)) > SMOOTH and _likeness(values) < ROUGH:
        warnings.warn(
            f"the cases are read as {train.width} channels x {train.longest} time points, but "
            "values change little from channel to channel and much from time to time: if they are "
            "(cases, time, channels), pass layout='channels_last', else layout='channels_first'",
            UserWarning,
            stacklevel=4,
        )


def turned_round(cases: Cases, train: Cases) -> bool:
    """Whether cases with as many channels as time points fit training better turned round."""
    if not (cases.even and train.even) or train.width != train.longest or len(cases) == 0:
        return False
    known = np.asarray(train.values[:: max(1, len(train) // SOME)][:SOME], dtype=float)
    center, spread = np.nanmean(known, axis=(0, 2)), np.nanstd(known, axis=(0, 2)) + 1e-9
    given = np.asarray(cases.values[:SOME], dtype=float)
    here, there = (
        np.nanmean(np.abs((np.nanmean(one, axis=2) - center) / spread))
        for one in (given, given.transpose(0, 2, 1))
    )
    return bool(here > 1 and here > 4 * there)


def _likeness(values: Array) -> float:
    """How alike values next to each other along the last axis are: a correlation, 0 for noise."""
    if values.shape[2] < 3:
        return 0.0
    centered = values - np.nanmean(values, axis=(0, 2), keepdims=True)
    product = np.nanmean(centered[:, :, 1:] * centered[:, :, :-1])
    return float(product / (np.nanmean(centered**2) + 1e-12))
