"""Goals as plain JSON, and back: what an audit or a half-finished run keeps of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from macex.ask.goals import AnyOf, Band, Goal, RiseBy
from macex.errors import GoalError


def goal_stated(goal: Goal) -> dict[str, Any]:
    """A goal with every bound to the last digit; a bound that is not there is null.

    >>> goal_stated(RiseBy(0.1, label="yes"))
    {'kind': 'rise_by', 'by': 0.1, 'label': 'yes'}
    """
    if isinstance(goal, AnyOf):
        labels = None if goal.labels is None else [_plain(label) for label in goal.labels]
        return {"kind": "any_of", "labels": labels}
    if isinstance(goal, Band):
        low = None if np.isinf(goal.low) else goal.low
        high = None if np.isinf(goal.high) else goal.high
        open_ends = {"open_low": goal.open_low, "open_high": goal.open_high}
        return {"kind": "band", "low": low, "high": high, **open_ends, "label": _plain(goal.label)}
    if isinstance(goal, RiseBy):
        return {"kind": "rise_by", "by": goal.by, "label": _plain(goal.label)}
    raise GoalError("above_row(...) must be resolved by the explainer first")


def goal_read(document: Mapping[str, Any]) -> Goal:
    """The goal that was stated."""
    parts = {part: value for part, value in document.items() if part != "kind"}
    if document["kind"] == "any_of":
        labels = parts["labels"]
        return AnyOf(None if labels is None else tuple(labels))
    if document["kind"] == "rise_by":
        return RiseBy(**parts)
    low = -np.inf if parts["low"] is None else parts["low"]
    high = np.inf if parts["high"] is None else parts["high"]
    return Band(**{**parts, "low": low, "high": high})


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label
