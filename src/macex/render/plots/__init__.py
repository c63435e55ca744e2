"""Drawings with matplotlib, as displays in scikit-learn's way.

A `from_...` method computes and draws; `plot(ax=...)` draws again elsewhere. What was drawn is kept
as `figure_` and `ax_`, and what was computed as attributes.
"""

from __future__ import annotations

from macex.render.plots.changes import ChangesDisplay
from macex.render.plots.decision import DecisionDisplay
from macex.render.plots.diversity import DiversityDisplay
from macex.render.plots.front import FrontDisplay
from macex.render.plots.path import PathDisplay

__all__ = ["ChangesDisplay", "DecisionDisplay", "DiversityDisplay", "FrontDisplay", "PathDisplay"]
