"""How different the counterfactuals of one query are: who changes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.errors import OptionError
from macex.metrics import diversity
from macex.render.charts.axes import Categories
from macex.render.charts.labels import Dot
from macex.render.charts.scatter import Scatter
from macex.render.plots.display import Display
from macex.render.speech import Speech


@dataclass(frozen=True)
class DiversityDisplay(Display):
    """A map of answers and columns: a dot where an answer changes a column, and the new value.

    `overlap` is the mean share of changed columns that two answers have in common: 0 where no two
    change the same one.
    """

    columns: Sequence[str]
    values: Sequence[dict[str, str]]
    overlap: float
    title: str = field(default="What each answer changes", kw_only=True)

    @classmethod
    def from_explanation(cls, explanation: Any) -> DiversityDisplay:
        """Compare the counterfactuals of an explanation."""
        found = [answer for answer in explanation.counterfactuals if answer.changes]
        if not found:
            raise OptionError(f"the explanation has nothing to compare ({explanation.status})")
        speech = Speech(explanation.names)
        values = [
            {speech.name(change.column): speech.change(change)[1] for change in answer.changes}
            for answer in found
        ]
        columns = list(dict.fromkeys(name for answer in values for name in answer))
        codes = np.stack([answer.source.codes for answer in found])
        apart = diversity(codes, explanation.source.codes, len(found)).column_sets
        overlap = 1 - apart if len(found) > 1 else 0.0
        return cls(tuple(columns), tuple(values), round(float(overlap), 6))

    @property
    def chart(self) -> Scatter:
        """A line of dots for each answer."""
        count = len(self.values)
        answers = tuple(f"answer {at}" for at in range(count, 0, -1))
        dots = tuple(
            Dot(float(self.columns.index(column)), float(count - 1 - at), value, "after")
            for at, changed in enumerate(self.values)
            for column, value in changed.items()
        )
        x = Categories(f"columns in common: {100 * self.overlap:.0f} %", tuple(self.columns))
        width = max(320.0, 120.0 + 130.0 * len(self.columns))
        high = 70.0 + 44.0 * count
        return Scatter(x, Categories("", answers), (), (), dots, width=width, height=high)
