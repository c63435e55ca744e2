"""A model with a quicker twin, asked where it is faster; the model confirms every answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from macex.schema import Array


@dataclass(frozen=True)
class Report:
    """What a twin gains, and how well it agrees with its model.

    `model_ms` and `twin_ms` are milliseconds of one call with as many rows as `sizes` says.
    """

    way: str
    sizes: tuple[int, ...]
    model_ms: tuple[float, ...]
    twin_ms: tuple[float, ...]
    rows: int
    difference: float

    def __str__(self) -> str:
        """One line per size, and the agreement.

        >>> print(Report("ONNX", (1, 1024), (7.0, 12.0), (0.1, 15.0), 500, 1.2e-7))
        by ONNX; scores of 500 rows differ by at most 1.2e-07
           1 row        7.00 ms ->     0.10 ms
        1024 rows      12.00 ms (the model itself is asked)
        """
        lines = [
            f"by {self.way}; scores of {self.rows} rows differ by at most {self.difference:.1e}"
        ]
        for size, before, after in zip(self.sizes, self.model_ms, self.twin_ms, strict=True):
            rows = f"{size:>4} row{'s' if size > 1 else ' '} {before:>9.2f} ms"
            gain = f" -> {after:>8.2f} ms" if after < before else " (the model itself is asked)"
            lines.append(rows + gain)
        return "\n".join(lines)

    def pays(self, count: int) -> bool:
        """Whether the twin was faster at the measured size nearest to `count`."""
        nearest = min(
            range(len(self.sizes)), key=lambda at: abs(log(self.sizes[at]) - log(max(count, 1)))
        )
        return self.twin_ms[nearest] < self.model_ms[nearest]


@dataclass(frozen=True, repr=False)
class Quick:
    """A model that is asked through a quicker twin; made by `macex.accelerate`.

    `report` says what was measured. Counterfactuals are confirmed by `original`.
    """

    original: Any
    twin: Callable[[Any], Array]
    whole: frozenset[str]  # columns that training shows no missing value in
    report: Report

    def __call__(self, frame: Any, count: int) -> Array | None:
        """The twin's scores; None where it does not pay or cannot say."""
        if not self.report.pays(count) or self._strange(frame):
            return None
        try:
            return self.twin(frame)
        except Exception:  # noqa: BLE001 - whatever the twin cannot do, the model does
            return None

    def _strange(self, frame: Any) -> bool:
        """Whether a value is missing where none was in training: agreement was not checked."""
        if isinstance(frame, np.ndarray):
            return bool(self.whole) and frame.dtype.kind == "f" and bool(np.isnan(frame).any())
        return any(str(label) in self.whole and _gaps(frame[label]) for label in frame.columns)

    def __repr__(self) -> str:
        return f"Quick({type(self.original).__name__}, {self.report})"


def _gaps(column: Any) -> bool:
    if hasattr(column, "null_count"):
        return column.null_count() > 0 or bool(column.dtype.is_float() and column.is_nan().any())
    return bool(column.hasnans)
