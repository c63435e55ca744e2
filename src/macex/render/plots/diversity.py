"""How different the counterfactuals of one query are: who changes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.errors import OptionError
from macex.metrics import diversity
from macex.render.plots.canvas import INK, LINE, QUIET, axes
from macex.render.speech import Speech


@dataclass
class DiversityDisplay:
    """A map of answers and columns: a dot where an answer changes a column, and the new value.

    `overlap` is the mean share of changed columns that two answers have in common: 0 where no two
    change the same one.
    """

    columns: Sequence[str]
    values: Sequence[dict[str, str]]
    overlap: float
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_explanation(cls, explanation: Any, *, ax: Any = None) -> DiversityDisplay:
        """Compare the counterfactuals of an explanation, and draw."""
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
        return cls(columns, values, round(float(overlap), 6)).plot(ax)

    def plot(self, ax: Any = None) -> DiversityDisplay:
        """Draw on these axes, or on new ones."""
        ax = axes(ax, (1.6 + 1.3 * len(self.columns), 1.2 + 0.5 * len(self.values)))
        for row, answer in enumerate(self.values):
            ax.axhline(row, color=LINE, lw=1, zorder=0)
            for place, column in enumerate(self.columns):
                if column in answer:
                    ax.plot(place, row, "o", color=INK, ms=8)
                    ax.annotate(
                        answer[column],
                        (place, row),
                        (0, 8),
                        textcoords="offset points",
                        ha="center",
                        fontsize="small",
                        color=QUIET,
                    )
        ax.set_xticks(range(len(self.columns)), self.columns)
        ax.set_yticks(range(len(self.values)), [f"answer {i + 1}" for i in range(len(self.values))])
        ax.set_xlim(-0.6, len(self.columns) - 0.4)
        ax.set_ylim(len(self.values) - 0.4, -0.8)
        ax.set_xlabel(f"columns in common: {100 * self.overlap:.0f} %")
        self.figure_, self.ax_ = ax.figure, ax
        return self
