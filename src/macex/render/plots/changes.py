"""How often each column changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from macex.render.charts.bars import Bar, Bars
from macex.render.names import called
from macex.render.plots.display import Display


@dataclass(frozen=True)
class ChangesDisplay(Display):
    """A bar for each column, as long as the number of times it changes, longest on top.

    With `shap` (mean |SHAP| by column) both are shares of their sums, side by side, as in the
    paper's Figure 2.
    """

    names: Sequence[str]
    times: Sequence[int]
    shap: Sequence[float] = ()
    title: str = field(default="How often each column changes", kw_only=True)

    @classmethod
    def from_explanations(cls, explanations: Any, *, shap: Any = None) -> ChangesDisplay:
        """Count over a batch."""
        summary = explanations.summary(shap, plan=False)
        times: Mapping[str, int] = dict(summary.columns)
        columns = list(dict.fromkeys([*times, *summary.shap]))
        names = tuple(called(column, summary.names) for column in columns)
        values = [summary.shap.get(column, 0.0) for column in columns] if summary.shap else ()
        return cls(names, tuple(times.get(column, 0) for column in columns), tuple(values))

    @property
    def chart(self) -> Bars:
        """The bars."""
        if not self.shap:
            bars = [Bar(n, float(t), str(t)) for n, t in zip(self.names, self.times, strict=True)]
            return Bars(tuple(bars), "counterfactuals that change the column")
        both = zip(self.names, _shares(self.times), _shares(self.shap), strict=True)
        bars = [Bar(name, changed, beside=shap) for name, changed, shap in both]
        return Bars(tuple(bars), "share", ("changes", "mean |SHAP|"))


def _shares(values: Sequence[float]) -> list[float]:
    total = sum(values) or 1.0
    return [value / total for value in values]
