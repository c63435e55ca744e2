"""Scores of rows that were never asked for: made from a query's codes, read toward its goal."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.ask.goals import AnyOf, at_least
from macex.errors import OptionError
from macex.schema import Array


def scored(explainer: Any, explanation: Any, codes: Array) -> Array:
    """The scores of rows of codes (n, d) that differ from the query, toward its goal."""
    source = explanation.source
    if explainer.columns != list(source.rows.schema.frame_names):
        raise OptionError("the explanation is of other columns than the explainer's: give its own")
    frame = source.rows.frame(np.full(len(codes), source.query), codes)
    scores: Array = explainer.score(frame, want=_toward(explainer, explanation))
    return scores


def _toward(explainer: Any, explanation: Any) -> Any:
    """The goal as it was for the query, whatever the row that is scored."""
    goal = explanation.goal
    if not isinstance(goal, AnyOf):
        return at_least(0.0, label=goal.label)
    if goal.labels is not None:
        return goal
    return AnyOf(tuple(label for label in explainer.classes if label != explanation.label))


def chosen(explanation: Any, rank: int) -> Any:
    """The counterfactual of a rank, 1 being the best."""
    count = len(explanation.counterfactuals)
    if not 1 <= rank <= count:
        known = f"has {count}" if count else f"has none ({explanation.status})"
        raise OptionError(f"rank={rank}: the explanation {known}")
    return explanation.counterfactuals[rank - 1]
