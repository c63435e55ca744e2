"""Charts as values: drawn as SVG without scripts, the same on a page, in a notebook and a report.

Each is a frozen dataclass. A template writes it as it is, a notebook shows it, `to_svg(path)` makes
a file of it, and `str()` says what it shows.
"""

from __future__ import annotations

from macex.render.charts.axes import Axis, Categories, Dot, Measure
from macex.render.charts.bars import Bar, Bars, Dumbbell, Histogram, Layer, Way
from macex.render.charts.chart import Chart, Mark, Span, Stack
from macex.render.charts.curve import Curve, Line, coverage
from macex.render.charts.two_columns import HeatMap, Point, Scatter

__all__ = [
    "Axis",
    "Bar",
    "Bars",
    "Categories",
    "Chart",
    "Curve",
    "Dot",
    "Dumbbell",
    "HeatMap",
    "Histogram",
    "Layer",
    "Line",
    "Mark",
    "Measure",
    "Point",
    "Scatter",
    "Span",
    "Stack",
    "Way",
    "coverage",
]
