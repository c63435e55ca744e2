"""What all drawings share: axes, the goal's part of a scale, colours. Imports matplotlib."""

from __future__ import annotations

from math import isfinite
from typing import Any

from macex.ask.needed import Needed
from macex.render.palette import LIGHT

INK, QUIET, LINE = LIGHT["ink"], LIGHT["quiet"], LIGHT["line"]
BAR, OTHER, GOAL, EDGE = LIGHT["bar"], LIGHT["other"], LIGHT["goal"], LIGHT["good"]
WARM = LIGHT["warn"]


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or new ones of a size in inches."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("matplotlib is not installed: pip install macex[plots]") from error
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def mark_goal(ax: Any, needed: Needed, direction: str) -> None:
    """Shade the scores that reach the goal along the `"x"` or `"y"` axis."""
    if not needed.bounded:
        return
    span, line = (ax.axvspan, ax.axvline) if direction == "x" else (ax.axhspan, ax.axhline)
    low, high = ax.get_xlim() if direction == "x" else ax.get_ylim()
    room = 0.04 * (high - low)
    bounds = [bound for bound in (needed.low, needed.high) if isfinite(bound)]
    low, high = min(low, *(b - room for b in bounds)), max(high, *(b + room for b in bounds))
    span(max(low, needed.low), min(high, needed.high), color=GOAL, alpha=0.6, zorder=0, lw=0)
    for bound in bounds:
        line(bound, color=EDGE, lw=1, zorder=1)
    (ax.set_xlim if direction == "x" else ax.set_ylim)(low, high)


def score_name(explanation: Any) -> str:
    """What the axis of scores is called."""
    from macex.render.needs import goal_text
    from macex.render.speech import Speech

    label = explanation.needed.label
    if label is not None:
        return f"score for {label}"
    decided = explanation.label is not None
    return f"score for {goal_text(explanation, Speech())}" if decided else "score"
