"""How often each column changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from macex.render.names import called
from macex.render.plots.canvas import BAR, OTHER, axes


@dataclass
class ChangesDisplay:
    """A bar for each column, as long as the number of times it changes, longest on top.

    With `shap` (mean |SHAP| by column) both are shares of their sums, side by side, as in the
    paper's Figure 2.
    """

    names: Sequence[str]
    times: Sequence[int]
    shap: Sequence[float] = ()
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_explanations(
        cls, explanations: Any, *, shap: Any = None, ax: Any = None
    ) -> ChangesDisplay:
        """Count over a batch, and draw."""
        summary = explanations.summary(shap, plan=False)
        times: Mapping[str, int] = dict(summary.columns)
        columns = list(dict.fromkeys([*times, *summary.shap]))
        names = [called(column, summary.names) for column in columns]
        values = [summary.shap.get(column, 0.0) for column in columns] if summary.shap else ()
        return cls(names, [times.get(column, 0) for column in columns], values).plot(ax)

    def plot(self, ax: Any = None) -> ChangesDisplay:
        """Draw on these axes, or on new ones."""
        height = 0.8 + (0.45 if self.shap else 0.3) * max(1, len(self.names))
        ax = axes(ax, (6, height))
        places = list(range(len(self.names)))
        if self.shap:
            ax.barh(
                [p - 0.2 for p in places], _shares(self.times), 0.38, color=BAR, label="changes"
            )
            ax.barh(
                [p + 0.2 for p in places],
                _shares(self.shap),
                0.38,
                color=OTHER,
                label="mean |SHAP|",
            )
            ax.set_xlabel("share")
            ax.legend(frameon=False)
        else:
            ax.barh(places, self.times, 0.7, color=BAR)
            ax.set_xlabel("counterfactuals that change the column")
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        self.figure_, self.ax_ = ax.figure, ax
        return self


def _shares(values: Sequence[float]) -> list[float]:
    total = sum(values) or 1.0
    return [value / total for value in values]
