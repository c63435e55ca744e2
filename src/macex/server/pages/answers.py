"""Asking a project's explainer for the pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anyio import from_thread
from fastapi import Request

from macex.ask.constraints import Constraints
from macex.explanation import Explanations
from macex.server.notes import gist, note
from macex.server.pages.questions import PageQuestion
from macex.server.problems import ProblemError
from macex.server.projects.project import WAIT_S, Project
from macex.server.questions import bounded_rows
from macex.server.settings import Settings
from macex.server.storage.audit import asked_by

LOOK_S = 0.2  # how often somebody who waits for a turn is looked after
Gone = Callable[[], bool]


def gone_of(request: Request) -> Gone:
    """Tells, on the thread of a page, whether its visitor has left or asked for something newer."""
    return lambda: from_thread.run(request.is_disconnected)


@contextmanager
def turn(project: Project, gone: Gone) -> Iterator[None]:
    """The project's lock, for callers who are still there when it is their turn."""
    until = time.monotonic() + WAIT_S
    while not project.lock.acquire(timeout=LOOK_S):
        if gone():
            raise ProblemError(503, "nobody waits for this any more")
        if time.monotonic() > until:
            raise project.busy()
    try:
        if gone():
            raise ProblemError(503, "nobody waits for this any more")
        yield
    finally:
        project.lock.release()


def explained(
    settings: Settings,
    project: Project,
    rows: Any,
    asked: PageQuestion,
    constraints: Constraints,
    gone: Gone,
    by: Mapping[str, str],
) -> Explanations:
    """The answers for a few rows, with what stands in the way where there are none."""
    explainer = project.explainer(asked.method, asked.prefer)
    note({"question": gist(vars(asked), asked.want, constraints.to_dict()), "rows": len(rows)})
    with turn(project, gone), asked_by([by] * len(rows)):
        return explainer.explain(
            rows,
            n=asked.n,
            want=asked.want,
            constraints=constraints,
            max_rows=bounded_rows(None, settings.model_rows),
            timeout_s=settings.explain_seconds,
            diagnose=bool(constraints) or bool(explainer.constraints),
            on_error="keep",
        )
