"""Charts of answers, by their names: trade-offs, who changes what, and how often in many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from macex.errors import OptionError, require_choice
from macex.metrics import diversity, front, whys
from macex.render.charts.axes import Categories, Dot, Measure
from macex.render.charts.bars import Bar, Bars, Histogram, Layer
from macex.render.charts.chart import Chart
from macex.render.charts.curve import Curve
from macex.render.charts.two_columns import Scatter
from macex.render.contexts import context
from macex.render.names import called
from macex.render.plots.decision import chosen
from macex.render.plots.display import Display, bounds, score_axis, score_name, shaded
from macex.render.speech import Speech

ONE, MANY = ("context", "diversity", "front"), ("changes", "scores")
BINS = 20


@dataclass(frozen=True)
class DiversityDisplay(Display):
    """A map of answers and columns: a dot where an answer changes a column, and the new value.

    `overlap` is the mean share of changed columns that two answers have in common: 0 where no two
    change the same one.
    """

    columns: Sequence[str]
    values: Sequence[dict[str, str]]
    overlap: float
    title: str = field(default="What each answer changes", kw_only=True)

    @classmethod
    def from_explanation(cls, explanation: Any) -> DiversityDisplay:
        """Compare the counterfactuals of an explanation."""
        found = _changing(explanation)
        speech = Speech(explanation.names)
        values = [
            {speech.name(change.column): speech.change(change)[1] for change in answer.changes}
            for answer in found
        ]
        columns = list(dict.fromkeys(name for answer in values for name in answer))
        codes = np.stack([answer.source.codes for answer in found])
        apart = diversity(codes, explanation.source.codes, len(found)).column_sets
        overlap = 1 - apart if len(found) > 1 else 0.0
        return cls(tuple(columns), tuple(values), round(float(overlap), 6))

    @property
    def chart(self) -> Scatter:
        """A line of dots for each answer."""
        count = len(self.values)
        answers = tuple(f"answer {at}" for at in range(count, 0, -1))
        dots = tuple(
            Dot(float(self.columns.index(column)), float(count - 1 - at), value, "after")
            for at, changed in enumerate(self.values)
            for column, value in changed.items()
        )
        x = Categories(f"columns in common: {100 * self.overlap:.0f} %", tuple(self.columns))
        width = max(320.0, 120.0 + 130.0 * len(self.columns))
        high = 70.0 + 44.0 * count
        return Scatter(x, Categories("", answers), (), (), dots, width=width, height=high)


@dataclass(frozen=True)
class FrontDisplay(Display):
    """Answers by distance and score: a full dot for those that no other answer beats in all.

    `best` says which these are. The label of a dot is the number of changes and why it is there.
    """

    distance: Sequence[float]
    score: Sequence[float]
    plausibility: Sequence[float | None]
    labels: Sequence[str]
    best: Sequence[bool]
    explanation: Any = field(repr=False, default=None)
    title: str = field(default="Near or sure: the answers by distance and score", kw_only=True)

    @classmethod
    def from_explanation(cls, explanation: Any) -> FrontDisplay:
        """Compare the counterfactuals of an explanation."""
        found = _changing(explanation)
        kept = front(found, explanation.goal)
        reasons = whys(found, explanation.goal)
        return cls(
            [one.distance for one in found],
            [one.score for one in found],
            [one.plausibility for one in found],
            [_label(*both) for both in zip(found, reasons, strict=True)],
            [any(one is other for other in kept) for one in found],
            explanation,
        )

    @property
    def chart(self) -> Curve:
        """A dot for each answer over the goal's part of the scores."""
        answers = zip(self.distance, self.score, self.labels, self.best, strict=True)
        dots = tuple(
            Dot(distance, score, label, "after" if best else "other")
            for distance, score, label, best in answers
        )
        needed = self.explanation.needed
        y = score_axis(score_name(self.explanation), self.score, needed)
        x = Measure.over("distance", [0.0, *self.distance], 0.05)
        return Curve(x, y, (), bounds(needed), shaded(needed, y), dots, height=320.0)


def _changing(explanation: Any) -> list[Any]:
    """The answers that change something."""
    found = [answer for answer in explanation.counterfactuals if answer.changes]
    if not found:
        raise OptionError(f"the explanation has nothing to compare ({explanation.status})")
    return found


def _label(found: Any, why: str | None) -> str:
    changes = f"{found.sparsity} change{'s' * (found.sparsity != 1)}"
    return f"{changes}, {why}" if why not in (None, "fewest") else changes


@dataclass(frozen=True)
class ChangesDisplay(Display):
    """A bar for each column, as long as the number of times it changes, longest on top.

    With `shap` (mean |SHAP| by column) both are shares of their sums, side by side, as in the
    paper's Figure 2.
    """

    names: Sequence[str]
    times: Sequence[int]
    shap: Sequence[float] = ()
    title: str = field(default="How often each column changes", kw_only=True)

    @classmethod
    def from_explanations(cls, explanations: Any, *, shap: Any = None) -> ChangesDisplay:
        """Count over a batch."""
        summary = explanations.summary(shap, plan=False)
        times: Mapping[str, int] = dict(summary.columns)
        columns = list(dict.fromkeys([*times, *summary.shap]))
        names = tuple(called(column, summary.names) for column in columns)
        values = [summary.shap.get(column, 0.0) for column in columns] if summary.shap else ()
        return cls(names, tuple(times.get(column, 0) for column in columns), tuple(values))

    @property
    def chart(self) -> Bars:
        """The bars."""
        if not self.shap:
            bars = [Bar(n, float(t), str(t)) for n, t in zip(self.names, self.times, strict=True)]
            return Bars(tuple(bars), "counterfactuals that change the column")
        both = zip(self.names, _shares(self.times), _shares(self.shap), strict=True)
        bars = [Bar(name, changed, beside=shap) for name, changed, shap in both]
        return Bars(tuple(bars), "share", ("changes", "mean |SHAP|"))


def _shares(values: Sequence[float]) -> list[float]:
    total = sum(values) or 1.0
    return [value / total for value in values]


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
