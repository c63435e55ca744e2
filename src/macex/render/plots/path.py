"""The way from a query to a counterfactual, one change at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.needed import Needed
from macex.render.plots.canvas import BAR, INK, QUIET, axes, mark_goal, score_name
from macex.render.plots.scoring import chosen, scored
from macex.render.speech import Speech
from macex.schema import Array


@dataclass
class PathDisplay:
    """The score after each change, the one that helps most first.

    The first entry of `steps` and `scores` is the query itself.
    """

    steps: Sequence[str]
    scores: Sequence[float]
    needed: Needed
    name: str = "score"
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_explanation(
        cls, explainer: Any, explanation: Any, *, rank: int = 1, ax: Any = None
    ) -> PathDisplay:
        """Ask the explainer's model about every row on the way, and draw."""
        found = chosen(explanation, rank)
        order, scores = walked(explainer, explanation, found)
        speech = Speech(explanation.names)
        steps = ["now"]
        for change in (found.changes[at] for at in order):
            before, after = speech.change(change)
            steps.append(f"{speech.name(change.column)}\n{before} → {after}")
        made = cls(steps, scores, explanation.needed, score_name(explanation))
        return made.plot(ax)

    def plot(self, ax: Any = None) -> PathDisplay:
        """Draw on these axes, or on new ones."""
        ax = axes(ax, (6, 0.9 + 0.55 * len(self.steps)))
        places = np.arange(len(self.steps))
        ax.barh(places[1:], np.diff(self.scores), 0.5, left=self.scores[:-1], color=BAR)
        for place, score in zip(places, self.scores, strict=True):
            end = min(place + 1, places[-1])
            ax.plot([score, score], [place, end], color=QUIET, lw=1, ls=":", zorder=1)
        ax.plot(self.scores, places, "o", color=INK, ms=6, zorder=3)
        ax.plot(self.scores[:1], places[:1], "o", color="white", mec=INK, ms=6, zorder=4)
        ax.margins(x=0.08)
        mark_goal(ax, self.needed, "x")
        ax.set_yticks(places, self.steps)
        ax.invert_yaxis()
        ax.set_xlabel(self.name)
        self.figure_, self.ax_ = ax.figure, ax
        return self


def walked(explainer: Any, explanation: Any, found: Any) -> tuple[list[int], list[float]]:
    """The changes in the order in which they help most, and the score after each.

    Cells that only follow from the changes are written with the last one.
    """
    row, target = explanation.source.codes.copy(), found.source.codes
    schema = explanation.source.rows.schema
    left = {at: schema.position(change.column) for at, change in enumerate(found.changes)}
    order, scores = [], [float(explanation.score)]
    while left:
        tries = np.stack([_set(row, target, column) for column in left.values()])
        if len(left) == 1:
            tries[:] = target
        values = scored(explainer, explanation, tries)
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
