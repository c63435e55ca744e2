"""Jobs: questions about many rows."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response, StreamingResponse

from macex.engine.predictions import checked_goal
from macex.explainer import Explainer
from macex.server.api.cases import check, refuse_other
from macex.server.api.needs import Asker, Chosen, Identity, Reader, Running, Size, Start
from macex.server.api.responses import JobInfo, JobList, job_said, written
from macex.server.api.shapes import ExplainRequest, Filter, JobRequest
from macex.server.bodies import BodyRoute
from macex.server.jobs import results
from macex.server.jobs.results import FORMS
from macex.server.jobs.work import parted
from macex.server.problems import ProblemError, documented
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.projects.table import View
from macex.server.questions import (
    Ask,
    check_reach,
    constraints_of,
    frame_of,
    goal_of,
    models_of,
    per_row,
    read_cases_of,
)
from macex.server.room import require_room
from macex.server.security.gate import Caller
from macex.server.settings import Settings
from macex.server.state import Server
from macex.server.storage.jobs import Job
from macex.server.turns import turn_name

router = APIRouter(route_class=BodyRoute, tags=["jobs"], responses=documented(409))
RESULT: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {"schema": {"type": "string"}} for media in FORMS.values()}}
}


@router.post("/projects/{name}/jobs", status_code=202, response_model=JobInfo)
async def submit(asked: JobRequest, project: Chosen, server: Running, caller: Asker) -> Response:
    """Explain many rows: given ones, places of the table, or what a filter leaves of it."""
    return await server.turns.run(project, partial(begun, server, project, caller, asked))


@router.get("/jobs", response_model=JobList)
def jobs(
    server: Running,
    caller: Reader,
    project: Annotated[str | None, Query(max_length=100)] = None,
    start: Start = 0,
    size: Size = 100,
) -> Response:
    """The caller's jobs, newest first, of one project or of all; an admin sees everybody's."""
    bounds = visible(caller)
    found = server.jobs.all(project, size, start=start, **bounds)
    total = server.jobs.count(project, **bounds)
    said = [job_said(server.jobs, job) for job in found]
    return written(JobList(jobs=said, start=start, total=total))


@router.get("/jobs/{identity}")
def job(identity: Identity, server: Running, caller: Reader) -> JobInfo:
    """How far a job is."""
    return job_said(server.jobs, found(server, identity, caller))


def _own(identity: Identity, server: Running, caller: Reader) -> Job:
    return found(server, identity, caller)


async def _followed(
    server: Running, caller: Reader, own: Annotated[Job, Depends(_own)]
) -> AsyncIterator[str]:
    """A job that is the caller's to follow, with a place for one more who does."""
    with server.following.seat(caller.key_id):
        yield own.id


@router.get("/jobs/{identity}/events", response_class=EventSourceResponse)
async def events(
    server: Running, followed: Annotated[str, Depends(_followed)]
) -> AsyncIterable[ServerSentEvent]:
    """Server-sent events: one `job` whenever there is progress, the last when it ends."""
    async for text in server.following.of(followed):
        yield ServerSentEvent(event="job", raw_data=text)


@router.post("/jobs/{identity}/cancel")
def cancel(identity: Identity, server: Running, caller: Asker) -> JobInfo:
    """End a job; the rows that are finished stay."""
    job = found(server, identity, caller)
    server.runner.cancel(job.id)
    return job_said(server.jobs, server.jobs.get(job.id))


@router.delete("/jobs/{identity}", status_code=204)
def remove(identity: Identity, server: Running, caller: Asker) -> Response:
    """Forget a job that is at its end, and its result."""
    job = found(server, identity, caller)
    if not job.ended:
        raise ProblemError(409, "the job has not ended: cancel it first")
    server.jobs.remove(job.id)
    return Response(status_code=204)


@router.get("/jobs/{identity}/result", response_class=Response, responses=RESULT)
def result(
    identity: Identity,
    server: Running,
    caller: Reader,
    form: Annotated[Literal["ndjson", "csv", "parquet", "html"], Query(alias="format")] = "ndjson",
) -> Response:
    """The result: one JSON line per row, a table as CSV or Parquet, or a page.

    What a cancelled job has finished can be had, too.
    """
    job = found(server, identity, caller)
    if not job.ended:
        raise ProblemError(409, f"{job.done} of {job.total} rows are finished: ask again later")
    project = server.projects[job.project].open()
    ending = {"ndjson": "jsonl"}.get(form, form)
    headers = {"Content-Disposition": f'attachment; filename="{project.name}-{job.id}.{ending}"'}
    pieces = results.written(server.jobs, project, job, form)
    in_turns = server.looking.each(turn_name(project.name), pieces)
    return StreamingResponse(in_turns, media_type=FORMS[form], headers=headers)


def visible(caller: Caller) -> dict[str, Any]:
    """Which jobs a caller sees: their own, or all of those projects that they look after."""
    key = None if caller.may("admin") else caller.key_id
    return {"key": key, "projects": caller.projects}


def found(server: Server, identity: str, caller: Caller) -> Job:
    """A job by its id; to anybody but its maker, or an admin, there is none."""
    try:
        job = server.jobs.get(identity)
    except KeyError:
        job = None
    own = job is not None and (caller.may("admin") or job.key == caller.key_id)
    if job is None or not own or not caller.sees(job.project):
        raise ProblemError(404, f"there is no job {identity!r}", code="unknown_job")
    return job


def begun(server: Server, project: Project, caller: Caller, asked: JobRequest) -> Response:
    """A new job, as a response that says where to look for it."""
    job = submitted(server, project, caller, asked)
    response = written(job_said(server.jobs, job), 202)
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return response


def submitted(server: Server, project: Project, caller: Caller, asked: JobRequest) -> Job:
    """A job for a request; what can be checked before it begins is checked now."""
    check_question(asked, server.settings)
    if asked.timeout_s is not None:
        raise ProblemError(
            422, "timeout_s is for explain: a job runs until it ends or is cancelled"
        )
    if server.jobs.unfinished(caller.key_id) >= server.settings.jobs_at_once:
        most = server.settings.jobs_at_once
        raise ProblemError(429, f"{caller.name!r} has {most} unfinished jobs")
    require_room(server.settings)
    options = asked.options(server.settings, timed=False)
    given = (asked.wanted(), asked.constraints)
    models_of(project, others(server, caller, options.also))
    source, total = _source(project, asked, server.settings)
    if isinstance(project, SeriesProject):
        check(project, Ask(options, np.zeros((total, 1, 1)), *given))
    else:
        _check(options.explainer(project), *given, total)
        check_reach(project, options)
    if not 0 < total <= server.settings.job_rows:
        raise ProblemError(
            422 if not total else 413,
            f"the job has {total:,} rows: a job may have 1 to {server.settings.job_rows:,}",
        )
    chunk = server.settings.job_chunk
    parts, apart = parted(*given)
    filtered = None if asked.filter is None else asked.filter.model_dump()
    question = {"options": vars(options), **parts, "filter": filtered}
    job = server.jobs.add(
        project.name,
        caller.name,
        question,
        source | apart,
        total=total,
        chunk=chunk,
        key=caller.key_id,
        model=project.model_hash,
    )
    server.runner.submit(job)
    return job


def check_question(asked: ExplainRequest, settings: Settings) -> None:
    """Raise for a question that asks for too much."""
    if asked.n > settings.answers:
        said = f"n: at most {settings.answers} answers for each row, not {asked.n}"
        raise ProblemError(422, said)


def others(server: Server, caller: Caller, names: Sequence[str]) -> list[Project]:
    """Further projects, of those that the caller may see."""
    found = [server.projects.get(name) if caller.sees(name) else None for name in names]
    for name, project in zip(names, found, strict=True):
        if project is None:
            raise ProblemError(422, f"also: there is no project {name!r}", code="unknown_project")
    return [project.open() for project in found if project is not None]


def _check(explainer: Explainer, want: Any, constraints: Any, total: int) -> None:
    """Raise for a goal or constraints that no row can be asked with."""
    for one in per_row("want", want, total) if isinstance(want, list) else [want]:
        checked_goal(explainer.engine, goal_of(explainer, one))
    each = per_row("constraints", constraints, total) if isinstance(constraints, list) else None
    for one in each or [constraints]:
        if (constraints := constraints_of(one)) is not None:
            explainer.engine.merged(constraints)


def _source(project: Project, asked: JobRequest, settings: Settings) -> tuple[dict[str, Any], int]:
    """Which rows or cases a job is about, and how many they are."""
    refuse_other(project, asked)
    what = "cases" if project.series_only else "rows"
    own: Any = getattr(asked, what)
    if [own, asked.places, asked.filter].count(None) != 2:
        by = "by decision" if project.series_only else "of the table"
        raise ProblemError(422, f"give {what}, or places, or a filter {by}: one of them")
    if own is not None:
        if isinstance(project, SeriesProject):
            project.predicted(read_cases_of(own)[:1])
        else:
            project.explainer().schema.read(frame_of(project.explainer(), own))
        return {what: own}, len(own)
    if asked.filter is not None:
        places = _filtered(project, asked.filter)
    else:
        there = project if isinstance(project, SeriesProject) else project.table
        places = [there.checked(place) for place in asked.places or ()]
    return {"places": places[: settings.job_rows + 1]}, len(places)


def _filtered(project: Project, chosen: Filter) -> list[int]:
    """The places that a filter leaves, in their order."""
    if not isinstance(project, SeriesProject):
        places: list[int] = np.sort(project.table.places(View(**chosen.model_dump()))).tolist()
        return places
    if chosen.search or chosen.where:
        raise ProblemError(422, "cases are filtered by decision alone")
    cases: list[int] = project.places(chosen.decision).tolist()
    return cases
