"""Demšar's diagram: methods by their average ranks, joined where they are not told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from macex.bench.arena.ranks import groups
from macex.render.charts import Chart, Measure
from macex.render.charts.axes import Frame
from macex.render.charts.chart import Drawing, circle, line, text

LINE, FOOT = 17.0, 40.0
NAMES = 150.0


@dataclass(frozen=True)
class RankDiagram(Chart):
    """A line for each method at its average rank; bars join methods of one group.

    >>> print(RankDiagram({"a": 1.2, "b": 1.5, "c": 3.0}, difference=1.0, of="changes"))
    average ranks by changes: a 1.20, b 1.50, c 3.00; not told apart: a to b
    """

    ranks: Mapping[str, float]
    difference: float
    of: str
    width: float = field(default=640.0, kw_only=True)

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.ranks.items(), key=lambda item: (item[1], item[0]))

    def _groups(self) -> list[tuple[int, int]]:
        return groups(np.array([rank for _, rank in self._sorted()]), self.difference)

    def told(self) -> str:
        """The ranks, and which runs are not told apart."""
        named = self._sorted()
        said = ", ".join(f"{name} {rank:.2f}" for name, rank in named)
        runs = "; ".join(f"{named[a][0]} to {named[b][0]}" for a, b in self._groups())
        return f"average ranks by {self.of}: {said}" + (f"; not told apart: {runs}" if runs else "")

    def drawn(self) -> Drawing:
        """Names at the left, best first; a dot at each rank; bars of groups at the right."""
        named, runs = self._sorted(), self._groups()
        high = LINE * (len(named) + 1) + FOOT
        axis = Measure.over("average rank", [1.0, *(rank for _, rank in named)])
        room = self.width - NAMES - 12.0 * len(runs)
        frame = Frame(axis, Measure("", 0.0, 1.0, ((-1.0, ""),)), room, high, grid=False)
        parts = [frame.drawn()]
        for place, (name, rank) in enumerate(named):
            y = LINE * (place + 1)
            parts.append(circle(frame.across(rank), y - 4, 4, "mx-dot-0", f"{name}: {rank:.2f}"))
            parts.append(text(room + 4, y, name))
        for place, (first, last) in enumerate(runs):
            x = self.width - 12.0 * (len(runs) - place) + 4
            parts.append(
                line(x, LINE * (first + 1) - 10, x, LINE * (last + 1) + 2, "mx-line-after")
            )
        return Drawing(self.width, high, "".join(parts))
