"""Results as values: explanations, counterfactuals, and their exports."""

from __future__ import annotations

from macex.explanation.batch import Explanations
from macex.explanation.summary import Summary
from macex.explanation.values import (
    Action,
    Change,
    Cost,
    Counterfactual,
    Explanation,
    Interval,
    Source,
)

__all__ = [
    "Action",
    "Change",
    "Cost",
    "Counterfactual",
    "Explanation",
    "Explanations",
    "Interval",
    "Source",
    "Summary",
]
