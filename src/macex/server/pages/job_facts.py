"""What a job was asked, by whom, and how long it will take, in words."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from macex.ask.goals import Goal, goal_told
from macex.errors import MacexError
from macex.server.jobs.results import chosen
from macex.server.pages.questions import SAID
from macex.server.projects.project import Project
from macex.server.questions import goal_of
from macex.server.recent import Recent
from macex.server.storage.jobs import Job

SOON_S = 1.0  # of watching before a guess is worth telling
Paces = Recent[str, tuple[float, int]]


def facts(project: Project, job: Job) -> list[tuple[str, str]]:
    """What is asked of which rows, by whom, since when."""
    asked: Mapping[str, Any] = job.question
    options = asked.get("options", {})
    told = [
        ("Rows", chosen(asked.get("filter")) or "given ones"),
        ("Wanted", _goal(project, asked.get("want"))),
        ("May change", _limits(asked.get("constraints"))),
        ("Answers", str(options.get("n", 1))),
        ("Best is", SAID.get(options.get("prefer", ""), str(options.get("prefer", "")))),
        ("Search", SAID.get(options.get("method", ""), str(options.get("method", "")))),
        ("Asked by", job.owner),
        ("Begun", _moment(job.created)),
    ]
    if job.finished:
        told.append(("Ended", _moment(job.finished)))
    return [(name, text) for name, text in told if text]


def left(job: Job, paces: Paces) -> str:
    """How long a running job will still take; nothing until that can be guessed."""
    if job.status != "running" or job.done >= job.total:
        return ""
    since, done = paces.get(job.id, lambda: (time.monotonic(), job.done))
    seconds, rows = time.monotonic() - since, job.done - done
    if seconds < SOON_S or rows <= 0:
        return ""
    return f"about {span((job.total - job.done) * seconds / rows)} left"


def span(seconds: float) -> str:
    """A time as people say it.

    >>> span(7.2), span(200), span(9000)
    ('8 s', '4 min', '2.5 h')
    """
    if seconds < 90:
        return f"{int(seconds) + 1} s"
    return f"{int(seconds / 60) + 1} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _goal(project: Project, want: Any) -> str:
    if isinstance(want, list):
        return "one for each row"
    if want is None:
        return "any other decision"
    try:
        goal = goal_of(project.explainer(), want)
    except MacexError:
        return json.dumps(want, ensure_ascii=False)
    return goal_told(goal) if isinstance(goal, Goal) else str(goal)


def _limits(limits: Any) -> str:
    if isinstance(limits, list):
        return "something else for each row"
    if not limits:
        return "everything that the project allows"
    return "; ".join(f"{part} {_said(value)}" for part, value in limits.items())


def _said(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def _moment(text: str) -> str:
    return f"{text[:16].replace('T', ' ')} UTC"
