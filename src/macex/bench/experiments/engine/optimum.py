"""The nearest valid row over all values seen in training, by scoring every row that is nearer.

It knows nothing of the engine, so that the engine can be held against it. An answer bounds the
question: only rows nearer than the answer need scoring, nearest first, until one is valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from macex.datasets import Dataset
from macex.schema import Array

SLACK = 1e-9
CHUNK = 32_768


@dataclass(frozen=True, eq=False)
class NearestOptimum:
    """Finds, for queries of one cell, how near a valid row can be.

    `most` bounds the rows that are looked at for one query.
    """

    model: Any
    dataset: Dataset
    train: pd.DataFrame
    most: int = 400_000

    def distance(self, query: pd.DataFrame, bound: float) -> float | None:
        """The least distance at or below `bound` of a valid row; None past `most` rows.

        `bound` is the distance of a row that is known to be valid.
        """
        found = self._nearer(query, bound)
        if found is None:
            return None
        values, distances = found
        own = self.model.predict(query)[0]
        for start in range(0, len(distances), CHUNK):
            part = {name: column[start : start + CHUNK] for name, column in values.items()}
            frame = pd.DataFrame(part)[list(self.train)].astype(self.train.dtypes.to_dict())
            valid = self.model.predict(frame) != own
            if valid.any():
                return float(distances[start + int(valid.argmax())])
        return bound

    def _nearer(self, query: pd.DataFrame, bound: float) -> tuple[dict[str, Array], Array] | None:
        """All rows nearer than `bound`, nearest first: values by column, and distances."""
        distances = np.zeros(1)
        chosen: dict[str, Array] = {}
        for name in sorted(self._seen, key=lambda name: -len(self._seen[name])):
            values, steps = self._steps(name, query[name].iloc[0])
            total = distances[:, None] + steps[None, :]  # (row, value)
            row, value = np.nonzero(total < bound - SLACK)
            if len(row) > self.most:
                return None
            chosen = {earlier: column[row] for earlier, column in chosen.items()}
            chosen[name] = values[value]
            distances = total[row, value]
        order = np.argsort(distances, kind="stable")
        return {name: column[order] for name, column in chosen.items()}, distances[order]

    def _steps(self, name: str, own: Any) -> tuple[Array, Array]:
        """The seen values of a column, the query's own among them, and their distances."""
        values = np.append(self._seen[name], own)
        if name in self.dataset.categorical:
            return values, (values != own).astype(float)
        return values, np.abs(values - own) / self._scale[name]

    @cached_property
    def _seen(self) -> dict[str, Array]:
        return {name: self.train[name].unique() for name in self.train.columns}

    @cached_property
    def _scale(self) -> dict[str, float]:
        """The paper's divisors: the median, 1 where it is 0."""
        return {
            name: abs(float(self.train[name].median())) or 1.0 for name in self.dataset.continuous
        }
