"""The paper's datasets, prepared as its tables use them, and a way to add others."""

from __future__ import annotations

from macex.datasets.registry import load, names, register
from macex.datasets.series import SERIES, SeriesDataset, load_series
from macex.datasets.tables import NAMES, Dataset

SERIES_NAMES = tuple(SERIES)

__all__ = [
    "NAMES",
    "SERIES_NAMES",
    "Dataset",
    "SeriesDataset",
    "load",
    "load_series",
    "names",
    "register",
]
