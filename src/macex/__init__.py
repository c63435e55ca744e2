"""macex: the least that would have to be different for a model to decide otherwise.

import macex as mx

explainer = mx.Explainer(model, X_train)
found = explainer.explain(X_test.head(50), n=3)
found[0]
"""

from __future__ import annotations

from macex.ask.constraints import Constraints
from macex.ask.goals import above, above_row, any_of, at_least, at_most, below, between, rise_by
from macex.errors import (
    ConstraintError,
    DataError,
    ExpressionError,
    GoalError,
    MacexError,
    ModelError,
    OptionError,
    SavedError,
    SchemaError,
)
from macex.explainer import Explainer
from macex.explainer.saving import load
from macex.explanation import (
    Action,
    Change,
    Cost,
    Counterfactual,
    Explanation,
    Explanations,
    Interval,
)
from macex.schema import Categorical, Continuous, Datetime, OneHot, Ordered, Schema
from macex.stages.candidates import Both, Domain, Neighbors
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection
from macex.stages.thresholds import Thresholds

__all__ = [
    "Action",
    "Both",
    "Categorical",
    "Change",
    "ConstraintError",
    "Constraints",
    "Continuous",
    "Cost",
    "Counterfactual",
    "DataError",
    "Datetime",
    "Domain",
    "Exhaustive",
    "Explainer",
    "Explanation",
    "Explanations",
    "ExpressionError",
    "GoalError",
    "GradientlessDescent",
    "GradientlessSearch",
    "Interval",
    "MacexError",
    "ModelError",
    "Neighbors",
    "OneHot",
    "OptionError",
    "Ordered",
    "Reinforce",
    "SavedError",
    "Schema",
    "SchemaError",
    "Section",
    "Selection",
    "Thresholds",
    "above",
    "above_row",
    "any_of",
    "at_least",
    "at_most",
    "below",
    "between",
    "load",
    "rise_by",
]
