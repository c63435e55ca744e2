"""Charts of one explanation, and of many, by their names."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from macex.errors import require_choice
from macex.render.charts.axes import Measure
from macex.render.charts.bars import Bars
from macex.render.charts.chart import Chart
from macex.render.charts.histogram import Histogram, Layer
from macex.render.contexts import context
from macex.render.plots.changes import ChangesDisplay
from macex.render.plots.diversity import DiversityDisplay
from macex.render.plots.front import FrontDisplay
from macex.render.plots.goals import score_name
from macex.render.plots.model_scores import chosen
from macex.render.speech import Speech

ONE, MANY = ("context", "diversity", "front"), ("changes", "scores")
BINS = 20


def explanation_chart(explanation: Any, kind: str, rank: int) -> Chart:
    """A chart of one explanation."""
    require_choice("kind", kind, ONE)
    if not explanation.counterfactuals:
        return Bars((), title="No answer", words=explanation.reason or explanation.status)
    if kind == "diversity":
        return DiversityDisplay.from_explanation(explanation)
    if kind == "front":
        return FrontDisplay.from_explanation(explanation)
    found = chosen(explanation, rank)
    drawn = context(explanation, found, Speech(explanation.names))
    return Bars((), title="Nothing to draw", words=_why(found)) if drawn is None else drawn


def batch_chart(explanations: Any, kind: str) -> Chart:
    """A chart of many explanations."""
    require_choice("kind", kind, MANY)
    if kind == "changes":
        return ChangesDisplay.from_explanations(explanations)
    before = [one.score for one in explanations if isfinite(one.score)]
    after = [one.counterfactuals[0].score for one in explanations if one.counterfactuals]
    held = [*before, *after]
    low, high = min(held, default=0.0), max(held, default=1.0)
    name = _scores_name(explanations)
    x = Measure(name, 0.0, 1.0) if low >= 0 and high <= 1 else Measure.over(name, held)
    named = [("now", before), ("best answer", after)]
    layers = tuple(Layer(name, _binned(values, x)) for name, values in named)
    return Histogram(x, layers, title="Scores now, and of the best answers")


def _scores_name(explanations: Any) -> str:
    """Of which class the scores are: one name if all rows have the same goal."""
    names = {score_name(one) for one in explanations if isfinite(one.score)}
    return names.pop() if len(names) == 1 else "score toward the goal of each row"


def _binned(values: list[float], x: Measure) -> tuple[float, ...]:
    counts, _ = np.histogram(values, BINS, (x.low, x.high))
    return tuple(counts.tolist())


def _why(found: Any) -> str:
    return "the training rows are not known" if found.changes else "nothing has to change"
