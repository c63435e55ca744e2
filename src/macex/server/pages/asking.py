"""Asking a project's explainer for the pages."""

from __future__ import annotations

from typing import Any

from macex.ask.constraints import Constraints
from macex.explanation import Explanations
from macex.server.pages.questions import Question
from macex.server.projects.project import Project
from macex.server.settings import Settings


def explained(
    settings: Settings, project: Project, rows: Any, asked: Question, constraints: Constraints
) -> Explanations:
    """The answers for a few rows, with what stands in the way where there are none."""
    explainer = project.explainer(asked.method, asked.prefer)
    with project.lock:
        return explainer.explain(
            rows,
            n=asked.n,
            want=asked.want,
            constraints=constraints,
            timeout_s=settings.explain_seconds,
            diagnose=bool(constraints) or bool(explainer.constraints),
            on_error="keep",
        )
