"""The actions of a plan as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from macex.render.plots.canvas import BAR, OTHER, axes


def plan_axes(texts: Sequence[str], actions: Sequence[Any], asked: int, ax: Any = None) -> Any:
    """A bar for each action: the rows it flips, and in front those that no action above flips."""
    ax = axes(ax, (7, 0.8 + 0.4 * max(1, len(texts))))
    places = range(len(texts))
    ax.barh(places, [a.flips for a in actions], 0.7, color=OTHER, label="flips")
    ax.barh(places, [a.adds for a in actions], 0.7, color=BAR, label="adds")
    ax.set_yticks(list(places), texts)
    ax.invert_yaxis()
    ax.set_xlabel(f"of {asked} rows")
    if texts:
        ax.legend(frameon=False)
    return ax
