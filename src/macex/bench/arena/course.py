"""Quality against rows: what each method comes to at every budget, as tables and pictures.

Only cells that were asked at every budget count, so that a line shows what more rows do and not
which cells were done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from macex.bench.arena.entries import OURS
from macex.bench.arena.scores import BETTER, CELL, HALF, means, trusted
from macex.bench.report.document import Block, ReportSection, ReportTable
from macex.render.charts import Chart, Curve, Measure
from macex.render.charts.curve import Line

MEASURES = ("valid", "changed", "plausibility", "refits")
DEFAULT = "default"
SAID = """\
Means over the {} cells that were asked at every budget, by who solved {:.0%} of the queries."""


@dataclass(frozen=True)
class Course:
    """First answers, scored, by budget."""

    first: pd.DataFrame

    @cached_property
    def budgets(self) -> list[int]:
        """The budgets, smallest first."""
        return sorted(self.first["budget"].unique().tolist())

    @cached_property
    def shared(self) -> pd.DataFrame:
        """The lines of cells that every method was asked about at every budget."""
        asked = self.first.groupby([*CELL, "method"])["budget"].transform("nunique")
        least = asked.groupby([self.first[name] for name in CELL]).transform("min")
        return self.first[least == len(self.budgets)]

    @property
    def cells(self) -> int:
        """How many cells these are."""
        return int(self.shared.groupby(CELL).ngroups)

    def table(self, measure: str) -> pd.DataFrame:
        """Means (methods, budgets) of a measure."""
        return trusted(means(self.shared, ("method", "budget")))[measure].unstack("budget")  # noqa: PD010

    def sections(self) -> list[ReportSection]:
        """A table for each measure; nothing where there is one budget, or no cell has them all."""
        if len(self.budgets) < 2 or self.shared.empty:
            return []
        blocks: list[Block] = [SAID.format(self.cells, HALF)]
        for measure in self._known:
            heads = ("method", *(f"{budget:,} rows" for budget in self.budgets))
            shown = ReportTable(f"{measure} by rows", heads)
            held = self.table(measure)
            last = -BETTER[measure] * held.iloc[:, -1]
            for name in last.sort_values(na_position="last", kind="stable").index:
                shown.add(str(name), *map(float, held.loc[name]))
            blocks.append(shown)
        return [ReportSection("Quality against rows", blocks)]

    @property
    def _known(self) -> list[str]:
        return [one for one in MEASURES if one in self.shared and self.shared[one].notna().any()]

    def pictures(self) -> dict[str, tuple[str, Chart]]:
        """The same as charts, by the names of their files."""
        if len(self.budgets) < 2 or self.shared.empty:
            return {}
        return {f"anytime-{one}": (f"{one} by rows", self.chart(one)) for one in self._known}

    def chart(self, measure: str) -> Chart:
        """The default, and the best and middle of the others."""
        table = self.table(measure)
        others = table.drop(index=[name for name in OURS if name in table.index])
        rows = tuple(float(np.log10(one)) for one in self.budgets)
        best = others.max() if BETTER[measure] > 0 else others.min()
        lines = [Line(rows, tuple(map(float, best)), "best baseline", "before")]
        lines.append(Line(rows, tuple(map(float, others.median())), "middle baseline", "other"))
        if DEFAULT in table.index:
            lines.append(Line(rows, tuple(map(float, table.loc[DEFAULT])), DEFAULT))
        ticks = tuple((at, f"{10**at:,.0f}") for at in rows)
        axis = Measure("rows a query", rows[0] - 0.05, rows[-1] + 0.05, ticks)
        values = [value for one in lines for value in one.y]
        words = self._words(lines)
        return Curve(axis, Measure.over(measure, values), tuple(lines), words=words)

    def _words(self, lines: Sequence[Line]) -> str:
        ends = f"from {self.budgets[0]:,} to {self.budgets[-1]:,} rows"
        said = "; ".join(f"{one.name} {one.y[0]:.2f} to {one.y[-1]:.2f}" for one in lines)
        return f"{ends}: {said}"
