"""Many rows at once: what is asked of all rows that a filter leaves, and the job that answers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import ValidationError

from macex.ask.goals import AnyOf, Goal, goal_stated
from macex.errors import MacexError, OptionError
from macex.render.fields import blank_fields
from macex.render.speech import Speech
from macex.server.api.jobs import submitted, visible
from macex.server.api.needs import Asker, Reader
from macex.server.api.shapes import JobRequest
from macex.server.pages.address import ASKING, LIMITING, Address
from macex.server.pages.constraints import constraints, editing, gist
from macex.server.pages.questions import asked_of, question
from macex.server.pages.rows import view_of
from macex.server.pages.shell import Form, PageRoute, address_of, moved, page
from macex.server.problems import ProblemError
from macex.server.projects.project import Project
from macex.server.security.gate import Caller
from macex.server.state import Server, server_of

MOST_NAMED = 1000  # rows that an address names one by one
LISTED = 20  # jobs on a page
router = APIRouter(include_in_schema=False, route_class=PageRoute)


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
