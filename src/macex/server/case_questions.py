"""Questions about cases of time series, put to the explainer of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.answers import Answers, compile_goals
from macex.ask.goals import resolve
from macex.errors import GoalError, SchemaError
from macex.schema import Array
from macex.series.values import SeriesExplanations
from macex.server.projects.series import SeriesProject
from macex.server.questions import CallOptions, plain_goal
from macex.server.storage.audit import asked_by


@dataclass(frozen=True)
class CaseAsk:
    """Cases with a goal and constraints each, and who asked."""

    options: CallOptions
    cases: Array
    want: Any = None
    constraints: Any = None
    by: Mapping[str, Any] = field(default_factory=dict)
    also: Sequence[Any] = ()  # the models that `options.also` names


def read_cases_of(given: Sequence[Any]) -> Array:
    """Cases that came with a request, (cases, channels, time)."""
    try:
        cases = np.array(given, dtype=float)
    except (ValueError, OverflowError):
        raise SchemaError("cases are lists of channels, each a list of as many numbers") from None
    if cases.ndim != 3 or not cases.size:
        raise SchemaError(f"cases are (cases, channels, time), not {cases.shape}")
    return cases


def goals_of(project: SeriesProject, want: Any) -> Any:
    """Goals from JSON: one for all cases, or a list of one each, checked against the model."""
    if isinstance(want, list):
        return [goals_of(project, one) for one in want]
    if isinstance(want, Mapping) and want.get("kind") == "above_row":
        raise GoalError("above_row is for rows: ask for a score, such as above(0.7)")
    explainer = project.case_explainer()
    goal, outlook = plain_goal(want, explainer.classes), explainer.fitted.outlook
    own = Answers(np.zeros((1, max(1, outlook.width))), np.zeros(1, int))
    compile_goals(resolve(goal, 1), own, outlook, 0.0)
    return goal


def explained(project: SeriesProject, ask: CaseAsk) -> SeriesExplanations:
    """The answers for cases; the caller holds the project's turn."""
    explainer = project.case_explainer(ask.options.method, ask.options.prefer)
    with asked_by([ask.by] * len(ask.cases)):
        return explainer.explain(
            ask.cases,
            want=goals_of(project, ask.want),
            constraints=ask.constraints,
            also=ask.also,
            **ask.options.call,
        )
