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
from macex.schema import Categorical, Continuous, Datetime, Ordered, Schema
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer
from macex.series.nearness import NearCases
from macex.series.segments import Segments
from macex.series.values import (
    SeriesAction,
    SeriesChange,
    SeriesCounterfactual,
    SeriesExplanation,
    SeriesExplanations,
)
from macex.stages.candidates import Both, Domain, Neighbors
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection

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
    "NearCases",
    "Neighbors",
    "OptionError",
    "Ordered",
    "Reinforce",
    "SavedError",
    "Schema",
    "SchemaError",
    "Section",
    "Segments",
    "Selection",
    "SeriesAction",
    "SeriesChange",
    "SeriesConstraints",
    "SeriesCounterfactual",
    "SeriesExplainer",
    "SeriesExplanation",
    "SeriesExplanations",
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
