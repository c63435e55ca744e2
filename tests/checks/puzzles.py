"""Small spaces with arbitrary models: nothing additive, nothing smooth, easy to try out whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

VALUES = {
    "colour": ["blue", "green", "red"],
    "level": [1, 3, 4, 8],
    "ratio": [0.1, 0.5, 0.9],
    "size": ["L", "M", "S"],
}


def data(seed: int = 0, count: int = 70) -> pd.DataFrame:
    """Training rows in which every value is seen."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(values, count) for name, values in VALUES.items()}
    for name, values in VALUES.items():
        columns[name][: len(values)] = values
    frame = pd.DataFrame(columns)
    return frame.astype({"colour": str, "size": str, "level": "int64", "ratio": "float64"})


@dataclass(frozen=True)
class Table:
    """A probability for every cell of the space, drawn at random; few cells say yes."""

    seed: int
    share: float = 0.08

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        """The probability of yes."""
        shape = tuple(len(values) for values in VALUES.values())
        rng = np.random.default_rng(self.seed)
        low, high = rng.uniform(0, 0.49, shape), rng.uniform(0.51, 1, shape)
        table = np.where(rng.random(shape) < self.share, high, low)
        cell = tuple(self._place(name, rows[name].to_numpy()) for name in VALUES)
        return table[cell]

    def says_yes(self, rows: pd.DataFrame) -> np.ndarray:
        """The decision."""
        return self(rows) > 0.5

    @staticmethod
    def _place(name: str, cells: np.ndarray) -> np.ndarray:
        """Which value of a column a cell is; numbers between two belong to the lower one."""
        values = np.array(VALUES[name], dtype=object if isinstance(VALUES[name][0], str) else float)
        if values.dtype == object:
            return np.array([VALUES[name].index(cell) for cell in cells], dtype=int)
        return np.clip(np.searchsorted(values, cells.astype(float), side="right") - 1, 0, None)
