"""macex: the least that would have to be different for a model to decide otherwise.

import macex as mx

explainer = mx.Explainer(model, X_train)
found = explainer.explain(X_test.head(50), n=3)
found[0]
"""

from __future__ import annotations

from macex.ask.constraints import Constraints
from macex.ask.goals import above, above_row, any_of, at_least, at_most, below, between, rise_by
from macex.audit import Audit
from macex.client import Client
from macex.cohort.bias import Bias
from macex.cohort.picture import Picture
from macex.cohort.plans import Plan
from macex.cohort.recourse import Recourse
from macex.errors import (
    ConstraintError,
    DataError,
    ExpressionError,
    GoalError,
    MacexError,
    ModelError,
    ModelFileError,
    OptionError,
    RenderError,
    RunError,
    SavedError,
    SchemaError,
    ServerError,
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
from macex.models.accelerating import accelerate
from macex.models.files.loading import ModelFile, load_model
from macex.models.http import Endpoint
from macex.models.kinds.networks import Network
from macex.render.names import Name
from macex.render.plots import ChangesDisplay, DecisionDisplay, DiversityDisplay, PathDisplay
from macex.replaying import Replay, replay
from macex.scale.files import FileRun, explain_file
from macex.scale.frames import explain_frames
from macex.schema import Categorical, Continuous, Datetime, OneHot, Ordered, Schema
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
from macex.stages.thresholds import Thresholds
from macex.version import __version__

__all__ = [
    "Action",
    "Audit",
    "Bias",
    "Both",
    "Categorical",
    "Change",
    "ChangesDisplay",
    "Client",
    "ConstraintError",
    "Constraints",
    "Continuous",
    "Cost",
    "Counterfactual",
    "DataError",
    "Datetime",
    "DecisionDisplay",
    "DiversityDisplay",
    "Domain",
    "Endpoint",
    "Exhaustive",
    "Explainer",
    "Explanation",
    "Explanations",
    "ExpressionError",
    "FileRun",
    "GoalError",
    "GradientlessDescent",
    "GradientlessSearch",
    "Interval",
    "MacexError",
    "ModelError",
    "ModelFile",
    "ModelFileError",
    "Name",
    "NearCases",
    "Neighbors",
    "Network",
    "OneHot",
    "OptionError",
    "Ordered",
    "PathDisplay",
    "Picture",
    "Plan",
    "Recourse",
    "Reinforce",
    "RenderError",
    "Replay",
    "RunError",
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
    "ServerError",
    "Thresholds",
    "__version__",
    "above",
    "above_row",
    "accelerate",
    "any_of",
    "at_least",
    "at_most",
    "below",
    "between",
    "explain_file",
    "explain_frames",
    "load",
    "load_model",
    "replay",
    "rise_by",
]
