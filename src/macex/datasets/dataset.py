"""A dataset as a value: rows, labels, column kinds, and the split that the benchmarks use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macex.errors import OptionError

TRAIN_SHARE = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A classification table: features in `frame`, 0/1 (or 0 to k - 1) in `label`.

    `labels` names what these mean, `categorical` and `continuous` divide the columns of
    `frame`, and `source` says where the data come from.
    """

    name: str
    frame: pd.DataFrame
    label: NDArray[Any]
    labels: tuple[str, ...]
    categorical: tuple[str, ...]
    continuous: tuple[str, ...]
    source: str

    def split(self, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the training rows (80 %) and of the test rows, each sorted."""
        order = _shuffled(np.arange(len(self.frame)), seed)
        cut = round(TRAIN_SHARE * len(order))
        return np.sort(order[:cut]), np.sort(order[cut:])

    def rows(self, count: int, seed: int = 0) -> NDArray[np.int64]:
        """Positions of `count` test rows, drawn without replacement.

        A larger `count` only appends, so that a longer run repeats a shorter one.
        """
        _, test = self.split(seed)
        if not 0 <= count <= len(test):
            message = (
                f"count={count}: {self.name!r} has {len(test)} test rows; ask for 0 to that many"
            )
            raise OptionError(message)
        return _shuffled(test, seed)[:count]

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return f"Dataset({self.name!r}, {rows} rows, {columns} columns)"


def _shuffled(positions: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The order in which published figures took the rows, which NumPy keeps stable for good."""
    return np.random.RandomState(seed).permutation(positions)
