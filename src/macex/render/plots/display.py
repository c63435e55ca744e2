"""A display: something computed that is drawn as a chart."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from macex.render.charts.chart import Chart, Drawing


@dataclass(frozen=True, kw_only=True)
class Display(Chart):
    """What was computed is its fields; `chart` is the picture of it."""

    @property
    @abstractmethod
    def chart(self) -> Chart:
        """The picture."""

    def told(self) -> str:
        """What it shows, in words."""
        return str(self.chart)

    def drawn(self) -> Drawing:
        """What is drawn."""
        return self.chart.drawn()
