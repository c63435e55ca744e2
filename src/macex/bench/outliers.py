"""How unusual a row is by measures that macex does not rank by.

The local outlier factor and an isolation forest, both scikit-learn's and fitted on the training
rows that the model decides as wanted, and the distance to the nearest training row of all. The
first two see one-hot categories and standardised numbers, and call a row an outlier that is farther
out than 95 % of the rows they were fitted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from macex.bench.cells import Cell, encoder
from macex.schema import Array, special
from macex.stages.distance import Scales

MEASURES = ("lof", "isolation", "real")
MOST = 4000  # rows that a measure is fitted on
LEAST = 40
SHARE = 0.05


class Outliers:
    """Measures rows of one cell against its training rows, `codes` in the scales of the judge."""

    def __init__(self, cell: Cell, codes: Array, decisions: Array, scales: Scales) -> None:
        self.cell, self.codes, self.decisions, self.scales = cell, codes, decisions, scales
        self._fitted: dict[Any, dict[str, Any]] = {}

    @cached_property
    def _columns(self) -> Any:
        from sklearn.preprocessing import StandardScaler

        return encoder(self.cell.dataset, StandardScaler()).fit(self.cell.train)

    def __call__(self, own: Array, frame: Any, codes: Array) -> dict[str, Array]:
        """For each row whether it is an outlier by two measures, and how far the next row is.

        `own` are the labels of the queries, `codes` the rows of `frame` again; NaN where too few
        training rows are decided as wanted.
        """
        table = np.asarray(self._columns.transform(frame), dtype=float)
        found = {name: np.full(len(codes), np.nan) for name in MEASURES}
        for label in np.unique(own):
            mine = own == label
            for name, model in self._models(label).items():
                found[name][mine] = model.predict(table[mine]) < 0
        found["real"] = self.nearest(codes)
        return found

    def _models(self, label: Any) -> Mapping[str, Any]:
        """The two measures, fitted on rows that are decided otherwise than `label`."""
        from sklearn.ensemble import IsolationForest
        from sklearn.neighbors import LocalOutlierFactor

        if label not in self._fitted:
            wanted = np.flatnonzero(self.decisions != label)
            if len(wanted) > MOST:
                wanted = np.sort(np.random.default_rng(0).choice(wanted, MOST, replace=False))
            models = {
                "lof": LocalOutlierFactor(novelty=True, contamination=SHARE),
                "isolation": IsolationForest(random_state=0, contamination=SHARE),
            }
            if len(wanted) >= LEAST:
                table = np.asarray(self._columns.transform(self.cell.train.iloc[wanted]), float)
                self._fitted[label] = {name: one.fit(table) for name, one in models.items()}
            else:
                self._fitted[label] = {}
        return self._fitted[label]

    def nearest(self, codes: Array) -> Array:
        """The distance to the nearest training row, summed up column by column."""
        return np.array([self._steps(row).min(initial=np.inf) for row in codes])

    def _steps(self, row: Array) -> Array:
        """How far every training row is from a row, (T,)."""
        found = np.zeros(len(self.codes))
        for place, column in enumerate(self._by_column):
            known = self.scales.discrete[place] or special(row[place])
            if known:
                found += column != row[place]
                continue
            steps = np.abs(column - row[place])
            steps /= self.scales.scale[place]
            odd = self._odd[place]
            if odd is not None:
                steps[odd] = 1.0
            found += steps
        return found

    @cached_property
    def _by_column(self) -> Array:
        """The training rows, (d, T)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def _odd(self) -> list[Array | None]:
        """Where the numbers of training rows are missing; None for a column that is whole."""
        masks = (special(column) for column in self._by_column)
        return [mask if mask.any() else None for mask in masks]
