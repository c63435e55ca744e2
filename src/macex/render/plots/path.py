"""The way from a query to a counterfactual, one change at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.answers import Needed
from macex.render.charts.bars import Bar, Bars
from macex.render.plots.display import Display
from macex.render.plots.goals import bounds, score_axis, score_name, shaded
from macex.render.plots.model_scores import chosen, scored
from macex.render.speech import Speech
from macex.render.values import score_text
from macex.schema import Array


@dataclass(frozen=True)
class PathDisplay(Display):
    """The score after each change, the one that helps most first.

    The first entry of `steps` and `scores` is the query itself.
    """

    steps: Sequence[str]
    scores: Sequence[float]
    needed: Needed
    name: str = "score"
    title: str = field(default="The score after each change", kw_only=True)

    @classmethod
    def from_explanation(cls, explainer: Any, explanation: Any, *, rank: int = 1) -> PathDisplay:
        """Ask the explainer's model about every row on the way."""
        found = chosen(explanation, rank)
        order, scores = walked(explainer, explanation, found)
        speech = Speech(explanation.names)
        steps = ["now"]
        for change in (found.changes[at] for at in order):
            before, after = speech.change(change)
            steps.append(f"{speech.name(change.column)} {before} → {after}")
        return cls(tuple(steps), tuple(scores), explanation.needed, score_name(explanation))

    @property
    def chart(self) -> Bars:
        """A bar for each step, from the score before it to the score after it."""
        before = [min(0.0, *self.scores), *self.scores[:-1]]
        steps = zip(self.steps, before, self.scores, strict=True)
        bars = tuple(Bar(step, to, score_text(to), start=start) for step, start, to in steps)
        axis = score_axis(self.name, self.scores, self.needed)
        return Bars(bars, self.name, bounds=bounds(self.needed), goal=shaded(self.needed, axis))


def walked(explainer: Any, explanation: Any, found: Any) -> tuple[list[int], list[float]]:
    """The changes in the order in which they help most, and the score after each.

    What has causes follows each change; cells that are computed are written with the last one.
    """
    row, target = explanation.source.codes.copy(), found.source.codes
    schema = explanation.source.rows.schema
    left = {at: schema.position(change.column) for at, change in enumerate(found.changes)}
    order, scores = [], [float(explanation.score)]
    while left:
        tries = np.stack([_set(row, target, column) for column in left.values()])
        causal = explainer.engine.fitted.causal
        rows = tries if causal is None else causal.followed(tries, explanation.source.codes)
        if len(left) == 1:
            rows[:] = target
        values = scored(explainer, explanation, rows)
        best = int(values.argmax())
        at = list(left)[best]
        row, _ = tries[best], left.pop(at)
        order.append(at)
        scores.append(float(values[best]))
    return order, scores


def _set(row: Array, target: Array, column: int) -> Array:
    changed = row.copy()
    changed[column] = target[column]
    return changed
