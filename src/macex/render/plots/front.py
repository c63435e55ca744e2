"""The trade-offs between the counterfactuals of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from macex.errors import OptionError
from macex.metrics import front, whys
from macex.render.charts.axes import Measure
from macex.render.charts.curve import Curve
from macex.render.charts.labels import Dot
from macex.render.plots.display import Display
from macex.render.plots.goals import bounds, score_axis, score_name, shaded


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
        found = [answer for answer in explanation.counterfactuals if answer.changes]
        if not found:
            raise OptionError(f"the explanation has nothing to compare ({explanation.status})")
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


def _label(found: Any, why: str | None) -> str:
    changes = f"{found.sparsity} change{'s' * (found.sparsity != 1)}"
    return f"{changes}, {why}" if why not in (None, "fewest") else changes
