"""Several charts as one, each with its title above it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from macex.render.charts.chart import Chart, Drawing
from macex.render.charts.svg import element, text

HEAD = 18.0


@dataclass(frozen=True)
class Stack(Chart):
    """Charts one under the other."""

    charts: tuple[Chart, ...]

    def told(self) -> str:
        """What each of them shows."""
        return ". ".join(map(str, self.charts)) or "nothing to draw"

    def within(self, width: float) -> Self:
        """Each of them for so many pixels."""
        return replace(self, charts=tuple(chart.within(width) for chart in self.charts))

    def drawn(self) -> Drawing:
        """The charts, and their titles."""
        top, parts, wide = 0.0, [], 1.0
        for chart in self.charts:
            if chart.title:
                parts.append(text(2.0, top + 13, chart.title, kind="mx-axis-name"))
                top += HEAD
            drawing = chart.drawn()
            place = {"transform": f"translate(0 {top:g})"}
            parts.append(element("g", place, drawing.inside))
            top, wide = top + drawing.height, max(wide, drawing.width)
        return Drawing(wide, max(1.0, top), "".join(parts))
