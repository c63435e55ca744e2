"""Asking the model about samples that are mixed from cases when they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.models.asking import Asker
from macex.schema import Array
from macex.series.mixing import Mixture, Patches

CELLS = 16_000_000  # numbers in one call of the model, at most


@dataclass
class SeriesAsker(Asker):
    """Asks one model about codes by channel or patches, as samples of a bounded number at once."""

    mixture: Mixture = field(kw_only=True)

    def frame(self, full: Array, at: Array) -> Any:
        """The samples as the model gets them."""
        return self.mixture.train.given(self.mixture.samples(full, at))

    def row(self, query: int, codes: Array) -> Any:
        """One sample as the caller would write it."""
        return self.frame(codes[None], np.array([query]))[0]

    def chunk(self, columns: int) -> int:
        """Samples per call: bounded in memory, and in time where there is a deadline."""
        return min(rows_at_once(self.mixture.cases), super().chunk(columns))

    def cells(self, query: int, codes: Array) -> dict[str, object]:
        """Which channels of a sample come from which training case."""
        code = Patches.read(codes[None], self.mixture.cases.width).code[0]
        return {
            self.schema.names[channel]: f"case {self.mixture.donors[query, code[channel] - 1]}"
            for channel in np.flatnonzero(code)
        }


def rows_at_once(cases: Any) -> int:
    """How many cases the model is given in one call."""
    return max(1, CELLS // max(1, cases.width * cases.longest))
