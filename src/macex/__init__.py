"""macex: the least that would have to be different for a model to decide otherwise.

import macex as mx

explainer = mx.Explainer(model, X_train)
found = explainer.explain(X_test.head(50), n=3)
found[0]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from macex.version import __version__

if TYPE_CHECKING:
    from macex.ask.constraints import Constraints
    from macex.ask.goals import above, above_row, any_of, at_least, at_most, below, between, rise_by
    from macex.audit import Audit
    from macex.causes.causes import Causes
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
    from macex.explanation import (
        Action,
        Change,
        Cost,
        Counterfactual,
        Explanation,
        Explanations,
        Interval,
    )
    from macex.models.acceleration import accelerate
    from macex.models.files.model_file import ModelFile, load_model
    from macex.models.http import Endpoint
    from macex.models.kinds.networks import Network
    from macex.render.names import Name
    from macex.render.plots import (
        ChangesDisplay,
        DecisionDisplay,
        DiversityDisplay,
        FrontDisplay,
        PathDisplay,
    )
    from macex.replays import Replay, replay
    from macex.scale.files import explain_file
    from macex.scale.frames import explain_frames
    from macex.scale.run import FileRun
    from macex.schema import Categorical, Continuous, Datetime, OneHot, Ordered, Schema
    from macex.series.constraints import SeriesConstraints
    from macex.series.explainer import SeriesExplainer
    from macex.series.nearness import NearCases
    from macex.series.segments import Segments
    from macex.series.storage import load
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

__all__ = [
    "Action",
    "Audit",
    "Bias",
    "Both",
    "Categorical",
    "Causes",
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
    "FrontDisplay",
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

# Where each name is defined. A name is imported when it is first used, so that `import macex` is
# quick; the imports above tell the same to type checkers, and a test compares the two.
_HOMES = {
    "macex.ask.constraints": "Constraints",
    "macex.ask.goals": "above above_row any_of at_least at_most below between rise_by",
    "macex.audit": "Audit",
    "macex.causes.causes": "Causes",
    "macex.client": "Client",
    "macex.cohort.bias": "Bias",
    "macex.cohort.picture": "Picture",
    "macex.cohort.plans": "Plan",
    "macex.cohort.recourse": "Recourse",
    "macex.errors": (
        "ConstraintError DataError ExpressionError GoalError MacexError ModelError ModelFileError "
        "OptionError RenderError RunError SavedError SchemaError ServerError"
    ),
    "macex.explainer": "Explainer",
    "macex.explanation": "Action Change Cost Counterfactual Explanation Explanations Interval",
    "macex.models.acceleration": "accelerate",
    "macex.models.files.model_file": "ModelFile load_model",
    "macex.models.http": "Endpoint",
    "macex.models.kinds.networks": "Network",
    "macex.render.names": "Name",
    "macex.render.plots": "ChangesDisplay DecisionDisplay DiversityDisplay FrontDisplay "
    "PathDisplay",
    "macex.replays": "Replay replay",
    "macex.scale.files": "explain_file",
    "macex.scale.frames": "explain_frames",
    "macex.scale.run": "FileRun",
    "macex.schema": "Categorical Continuous Datetime OneHot Ordered Schema",
    "macex.series.constraints": "SeriesConstraints",
    "macex.series.explainer": "SeriesExplainer",
    "macex.series.storage": "load",
    "macex.series.nearness": "NearCases",
    "macex.series.segments": "Segments",
    "macex.series.values": (
        "SeriesAction SeriesChange SeriesCounterfactual SeriesExplanation SeriesExplanations"
    ),
    "macex.stages.candidates": "Both Domain Neighbors",
    "macex.stages.finetune.descent": "GradientlessDescent",
    "macex.stages.finetune.section": "Section",
    "macex.stages.search.exhaustive": "Exhaustive",
    "macex.stages.search.gradientless": "GradientlessSearch",
    "macex.stages.search.reinforce": "Reinforce",
    "macex.stages.selection": "Selection",
    "macex.stages.thresholds": "Thresholds",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name or a room, imported on first use."""
    if name in _MODULES:
        value = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return value
    try:
        return import_module(f"macex.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"macex.{name}":
            raise
        raise AttributeError(f"module 'macex' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
