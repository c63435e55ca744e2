"""The paper's datasets, prepared the way its tables use them: two embedded, three from a folder."""

from __future__ import annotations

from macex.datasets.dataset import Dataset
from macex.datasets.tables import NAMES, load

__all__ = ["NAMES", "Dataset", "load"]
