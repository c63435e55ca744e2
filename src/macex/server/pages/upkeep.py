"""Projects and jobs are renamed or removed."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from macex.errors import OptionError
from macex.server.api.jobs import found
from macex.server.api.needs import Admin, Asker
from macex.server.pages.guard import Form, PageRoute
from macex.server.pages.shell import moved
from macex.server.problems import ProblemError
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
LONGEST = 100


@router.post("/projects/{name}/rename")
def rename(request: Request, name: str, sent: Form, _caller: Admin) -> Response:
    """Give a project another title; its address stays."""
    title = sent.one("title").strip()
    if not 0 < len(title) <= LONGEST or not title.isprintable():
        raise OptionError(f"a project has a title of 1 to {LONGEST} letters")
    server_of(request).projects.rename(name, title)
    return moved(request, "/")


@router.post("/projects/{name}/remove")
def remove(request: Request, name: str, _caller: Admin) -> Response:
    """Delete a project with its files, jobs and views."""
    server_of(request).remove_project(name)
    return moved(request, "/")


@router.post("/projects/{name}/jobs/{identity}/remove")
def remove_job(request: Request, name: str, identity: str, caller: Asker) -> Response:
    """Forget a job that is at its end, and its answers."""
    server = server_of(request)
    job = found(server, identity, caller)
    if job.project != name:
        raise ProblemError(404, f"there is no job {identity!r} of this project")
    if not job.ended:
        raise ProblemError(409, "the job has not ended: cancel it first")
    server.jobs.remove(job.id)
    return moved(request, f"/projects/{name}/cohort")
