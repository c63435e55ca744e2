"""Explanations of rows about which the model was not asked: a status, a reason and no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macex.explanation.values import Cost, Explanation

if TYPE_CHECKING:
    from macex.ask.goals import Goal
    from macex.explanation.values import Asking, Source, Status
    from macex.render.names import Names


def unanswered(
    status: Status,
    reason: str,
    goal: Goal,
    *,
    method: str,
    source: Source,
    asked: Asking,
    names: Names | None = None,
) -> Explanation:
    """The explanation of a row that has no score."""
    return Explanation(
        label=None,
        score=float("nan"),
        goal=goal,
        status=status,
        reason=reason,
        miss=None,
        counterfactuals=(),
        actions=(),
        reasons=(),
        minimal=False,
        minimal_over=None,
        method=method,
        cost=Cost(0, 0, 0.0),
        source=source,
        names=names or {},
        asked=asked,
    )
