"""A display: something computed that is drawn as a chart, and how all of them draw scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from macex.ask.answers import Needed
from macex.render.charts.axes import Measure
from macex.render.charts.chart import Chart, Drawing, Span
from macex.render.scores import goal_text
from macex.render.speech import Speech


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


def score_axis(name: str, scores: Sequence[float], needed: Needed) -> Measure:
    """An axis that holds the scores and the goal's bounds: of probabilities from 0 to 1."""
    held = [score for score in (*scores, *bounds(needed)) if isfinite(score)]
    if held and min(held) >= 0 and max(held) <= 1:
        return Measure(name, 0.0, 1.0)
    return Measure.over(name, held, 0.08)


def bounds(needed: Needed) -> tuple[float, ...]:
    """The ends of the scores that reach the goal, as far as there are any."""
    return tuple(bound for bound in (needed.low, needed.high) if isfinite(bound))


def shaded(needed: Needed, axis: Measure) -> Span | None:
    """The scores on an axis that reach the goal."""
    if not needed.bounded:
        return None
    return Span(max(axis.low, needed.low), min(axis.high, needed.high))


def score_name(explanation: Any) -> str:
    """What the axis of scores is called."""
    label = explanation.needed.label
    if label is not None:
        return f"score for {label}"
    decided = explanation.label is not None
    return f"score for {goal_text(explanation, Speech())}" if decided else "score"
