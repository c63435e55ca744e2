"""Jobs: what is asked of all rows that a filter leaves, how far it is, and what its answers are.

The page of many rows begins a job. The page of a job says what was asked, how far it is, and in the
end what its answers have in common.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import ValidationError

from macex.ask.goals import AnyOf, Goal, goal_stated, goal_told
from macex.errors import MacexError, OptionError
from macex.explanation import Explanations
from macex.render.fields import blank_fields
from macex.render.overview import overview
from macex.render.sentences import sentences
from macex.render.sheets import Grid, Sheet, percent
from macex.render.speech import Speech
from macex.server.api.jobs import found as job_found
from macex.server.api.jobs import submitted, visible
from macex.server.api.needs import Asker, Reader
from macex.server.api.shapes import JobRequest
from macex.server.jobs.results import chosen, explanations
from macex.server.jobs.work import Work
from macex.server.pages.address import ASKING, LIMITING, Address
from macex.server.pages.constraints import constraints, editing, gist
from macex.server.pages.questions import SAID, asked_of, question
from macex.server.pages.rows import view_of
from macex.server.pages.shell import Form, PageRoute, address_of, moved, page, parts_asked, pieces
from macex.server.problems import ProblemError
from macex.server.projects.project import Project
from macex.server.questions import constraints_of, goal_of
from macex.server.recent import Recent
from macex.server.security.gate import Caller
from macex.server.state import Server, server_of
from macex.server.storage.jobs import Job

router = APIRouter(include_in_schema=False, route_class=PageRoute)
LINES = 50  # rows whose answer is said on the page
SUMMED = 20_000  # rows whose answers the page sums up
ACTIONS = 6
SOON_S = 1.0  # of watching before a guess is worth telling
Paces = Recent[str, tuple[float, int]]
MOST_NAMED = 1000  # rows that an address names one by one
LISTED = 20  # jobs on a page


@router.get("/projects/{name}/jobs/{identity}")
def job_page(request: Request, name: str, identity: str, caller: Reader) -> HTMLResponse:
    """How far a job is, or what it found."""
    server = server_of(request)
    project, job = _job(server, name, identity, caller)
    asked = parts_asked(request, ("job", "plan"))
    values: dict[str, Any] = {"job": job, "speech": Speech(project.parts.names), "sheet": None}
    values |= {"facts": facts(project, job), "left": left(job, request.app.state.paces)}
    if "plan" in asked or request.query_params.get("plan"):
        values |= {"sheet": _plan(request, project, job, caller)}
    if job.ended and asked != ["plan"]:
        values |= _outcome(request, server, project, job)
    if asked:
        return pieces(request, asked, values, project=project)
    return page(request, "job_page", values, project=project)


@router.post("/projects/{name}/jobs/{identity}/cancel")
def cancel(request: Request, name: str, identity: str, caller: Asker) -> Response:
    """End a job; the rows that are finished stay."""
    server = server_of(request)
    _, job = _job(server, name, identity, caller)
    server.runner.cancel(job.id)
    return moved(request, f"/projects/{name}/jobs/{job.id}")


@router.post("/projects/{name}/jobs/{identity}/remove")
def remove_job(request: Request, name: str, identity: str, caller: Asker) -> Response:
    """Forget a job that is at its end, and its answers."""
    server = server_of(request)
    job = job_found(server, identity, caller)
    if job.project != name:
        raise ProblemError(404, f"there is no job {identity!r} of this project")
    if not job.ended:
        raise ProblemError(409, "the job has not ended: cancel it first")
    server.jobs.remove(job.id)
    return moved(request, f"/projects/{name}/cohort")


def _job(server: Server, name: str, identity: str, caller: Caller) -> tuple[Project, Job]:
    project, job = server.projects[name], job_found(server, identity, caller)
    if job.project != project.name:
        raise ProblemError(404, f"there is no job {identity!r} of this project")
    return project.open(), job


def _outcome(request: Request, server: Server, project: Project, job: Job) -> dict[str, Any]:
    if not job.done or job.done > SUMMED:
        return {"overview": None, "charts": None, "lines": [], "summed": SUMMED}
    known: Recent[tuple[str, int], Explanations] = request.app.state.outcomes
    answers = known.get((job.id, job.done), lambda: explanations(server.jobs, project, job))
    speech = Speech(project.parts.names)
    return {
        "overview": overview(answers.summary(), speech),
        "charts": charts(answers),
        "lines": [(item.source.id, item.status, sentences(item)[0]) for item in answers[:LINES]],
        "summed": SUMMED,
    }


def charts(answers: Explanations) -> Sheet:
    """How many rows came out how, and how many changes their best answers take."""
    statuses = Counter(item.status for item in answers)
    changes = Counter(item.counterfactuals[0].sparsity for item in answers if item.counterfactuals)
    told = {
        "found": "an answer",
        "none": "provably none",
        "not_found": "none found",
        "budget": "rows or time ran out",
    }
    said = [(told[status], count) for status, count in statuses.most_common()]
    sizes = [(_size(size), count) for size, count in sorted(changes.items())]
    return Sheet("", grids=(_counted("Rows", said), _counted("Changes of the best answer", sizes)))


def _size(size: int) -> str:
    return "there already" if not size else f"{size} column{'s' if size != 1 else ''}"


def _counted(title: str, counts: list[tuple[str, int]]) -> Grid:
    whole = sum(count for _, count in counts) or 1
    lines = tuple((text, f"{count:,} ({percent(count / whole)})") for text, count in counts)
    return Grid(title, ("", "rows"), lines, tuple(count / whole for _, count in counts))


def _plan(request: Request, project: Project, job: Job, caller: Caller) -> Sheet:
    """Which common changes would flip how many of the job's rows: a question to the model."""
    if not caller.may("explain"):
        return Sheet("No plan", remarks=("It takes a key with the scope explain.",))
    if job.total > SUMMED:
        return Sheet("No plan", remarks=(f"Plans are made for at most {SUMMED:,} rows here.",))
    known: Recent[str, Sheet] = request.app.state.plans
    source = server_of(request).jobs.source(job.id)
    return known.get(job.id, lambda: _planned(Work(project, job, source)))


def _planned(work: Work) -> Sheet:
    project, job, asked = work.project, work.job, work.asked
    if work.apart:
        return Sheet("No plan", remarks=("Its rows are asked different questions.",))
    try:
        with project.lock:
            plan = work.explainer.plan(
                work.frame(0, job.total),
                want=goal_of(work.explainer, asked["want"]),
                constraints=constraints_of(asked["constraints"]),
                actions=ACTIONS,
            )
    except MacexError as error:
        return Sheet("No plan", remarks=(str(error),))
    return plan.sheet()


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


@router.get("/projects/{name}/cohort")
def cohort_page(request: Request, name: str, caller: Reader) -> HTMLResponse:
    """What is to be asked of which rows, and the jobs there are."""
    server = server_of(request)
    project = server.projects[name].open()
    values = _shown(server, project, address_of(request), caller)
    return page(request, "cohort", values, project=project)


@router.post("/projects/{name}/cohort")
def start(request: Request, name: str, sent: Form, caller: Asker) -> Response:
    """Begin a job, and go to its page."""
    server = server_of(request)
    project = server.projects[name].open()
    try:
        job = submitted(server, project, caller, requested(sent, project))
    except (MacexError, ProblemError) as error:
        values = _shown(server, project, sent, caller, str(error))
        return page(request, "cohort", {**values, "address": sent}, project=project, status=422)
    return moved(request, f"/projects/{project.name}/jobs/{job.id}")


def requested(address: Address, project: Project) -> JobRequest:
    """The job that an address asks for."""
    asked, view = question(address, project.explainer().classes), view_of(address)
    limits = constraints(address, project.explainer().schema)
    goal: Goal | None = asked.want if isinstance(asked.want, Goal) else None
    if goal is None and asked.want is not None:
        goal = AnyOf((asked.want,))
    chosen = {"filter": {"decision": view.decision, "search": view.search, "where": view.where}}
    parts = {
        **(chosen if not address.one("rows") else {"places": places_of(address)}),
        "n": asked.n,
        "want": None if goal is None else goal_stated(goal),
        "constraints": limits.to_dict() or None,
        "method": asked.method,
        "prefer": asked.prefer,
    }
    try:
        return JobRequest.model_validate(parts)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise OptionError(f"{wrong['loc'][-1]}: {wrong['msg']}") from None


def places_of(address: Address) -> list[int]:
    """The places of rows that an address names."""
    places = address.one("rows").split(",")
    if len(places) > MOST_NAMED or not all(one.isdecimal() and len(one) < 10 for one in places):
        raise OptionError(f"rows are up to {MOST_NAMED} whole numbers between commas")
    return list(dict.fromkeys(map(int, places)))


def _jobs(server: Server, project: Project, address: Address, caller: Caller) -> dict[str, object]:
    """Some of the newest jobs, or of those before them, and where older and newer ones begin."""
    said = address.one("older")
    start = int(said) if said.isdecimal() and len(said) < 10 else 0
    found = server.jobs.all(project.name, LISTED + 1, start=start, **visible(caller))
    newer = address.having({"older": max(0, start - LISTED) or None}) if start else None
    older = address.having({"older": start + LISTED}) if len(found) > LISTED else None
    return {"jobs": found[:LISTED], "newer": newer, "older": older}


def _shown(
    server: Server, project: Project, address: Address, caller: Caller, refused: str = ""
) -> dict[str, object]:
    table, explainer = project.table, project.explainer()
    speech, always = Speech(project.parts.names), explainer.constraints
    try:
        named = [table.checked(at) for at in places_of(address)] if address.one("rows") else None
        matching = len(table.places(view_of(address)) if named is None else named)
        fault = ""
    except MacexError as error:
        matching, fault = 0, str(error)
    return {
        "speech": speech,
        "matching": matching,
        "fault": fault,
        "refused": refused,
        **_jobs(server, project, address, caller),
        "most": server.settings.job_rows,
        **editing(address, explainer.schema, always, blank_fields(explainer.schema, speech)),
        "gist": gist(address, explainer.schema),
        "listing": address.without("a.", "b.", "two"),
        "carried": address.parts("rows") or address.parts("decision", "q", "where"),
        "asking": address.only(*ASKING, *LIMITING),
        **asked_of(address, explainer),
    }
