"""The trade-offs between the counterfactuals of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from macex.errors import OptionError
from macex.render.plots.canvas import INK, LINE, QUIET, axes, mark_goal, score_name
from macex.render.strengths import front, strengths


@dataclass
class FrontDisplay:
    """Answers by distance and score: a full dot for those that no other answer beats in all.

    `best` says which these are. The label of a dot is the number of changes and why it is there,
    its size how plausible it is.
    """

    distance: Sequence[float]
    score: Sequence[float]
    plausibility: Sequence[float | None]
    labels: Sequence[str]
    best: Sequence[bool]
    explanation: Any = field(repr=False, default=None)
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_explanation(cls, explanation: Any, *, ax: Any = None) -> FrontDisplay:
        """Compare the counterfactuals of an explanation, and draw."""
        found = [answer for answer in explanation.counterfactuals if answer.changes]
        if not found:
            raise OptionError(f"the explanation has nothing to compare ({explanation.status})")
        kept = front(found)
        return cls(
            [one.distance for one in found],
            [one.score for one in found],
            [one.plausibility for one in found],
            [_label(*both) for both in zip(found, strengths(found), strict=True)],
            [any(one is other for other in kept) for one in found],
            explanation,
        ).plot(ax)

    def plot(self, ax: Any = None) -> FrontDisplay:
        """Draw on these axes, or on new ones."""
        ax = axes(ax, (6.4, 4.0))
        for place, label in enumerate(self.labels):
            at = (self.distance[place], self.score[place])
            size = 30 + 120 * (self.plausibility[place] or 0.0)
            fill = INK if self.best[place] else "none"
            ax.scatter(*at, s=size, facecolor=fill, edgecolor=INK if self.best[place] else LINE)
            ax.annotate(
                label, at, (7, 5), textcoords="offset points", fontsize="small", color=QUIET
            )
        ax.margins(0.15)
        ax.set_xlabel("distance")
        ax.set_ylabel(score_name(self.explanation))
        mark_goal(ax, self.explanation.needed, "y")
        self.figure_, self.ax_ = ax.figure, ax
        return self


def _label(found: Any, why: str) -> str:
    changes = f"{found.sparsity} change{'s' * (found.sparsity != 1)}"
    return f"{changes}, {why}" if why not in ("", "fewest changes") else changes
