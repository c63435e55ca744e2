"""Displays of explanations: what was computed as fields, and a chart of it.

A `from_...` method computes; a notebook shows the chart, and `to_svg(path)` writes it to a file.
"""

from __future__ import annotations

from macex.render.plots.answers import ChangesDisplay, DiversityDisplay, FrontDisplay
from macex.render.plots.decision import DecisionDisplay, PathDisplay

__all__ = ["ChangesDisplay", "DecisionDisplay", "DiversityDisplay", "FrontDisplay", "PathDisplay"]
