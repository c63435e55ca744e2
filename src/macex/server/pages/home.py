"""The way in: the projects of the server, which are made, renamed and removed here."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, File, Request, Response, UploadFile
from fastapi.responses import HTMLResponse

from macex.errors import MacexError, OptionError
from macex.schema.schema import KINDS
from macex.server.api.jobs import found
from macex.server.api.needs import Admin, Asker, Reader
from macex.server.pages.address import Address
from macex.server.pages.shell import MEDIA, Form, PageRoute, assets, moved, page, version
from macex.server.problems import ProblemError
from macex.server.projects.uploads import Upload, made
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
CASES = (".npz", ".npy")  # files of time series
LONGEST = 100


@router.get("/")
def home(request: Request, _caller: Reader) -> HTMLResponse:
    """The projects."""
    projects = server_of(request).projects
    own = {project.name for project in projects if projects.removable(project.name)}
    return page(request, "home", {"own": own})


@router.get("/static/{edition}/{name}")
def asset(edition: str, name: str) -> Response:
    """A style sheet or module; of the present edition it never changes."""
    content = assets().get(name)
    if content is None:
        return Response(status_code=404)
    kept = "public, max-age=31536000, immutable" if edition == version() else "no-cache"
    kind = MEDIA[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"Cache-Control": kept})


@router.get("/new")
def new_page(request: Request, _caller: Admin) -> HTMLResponse:
    """The form."""
    return page(request, "new", {"fault": "", "kinds": KINDS})


@router.post("/new")
def make(
    request: Request,
    sent: Form,
    caller: Admin,
    model: Annotated[UploadFile, File()],
    data: Annotated[UploadFile, File()],
    rows: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Make the project and go to it, or say why it cannot be made."""
    server = server_of(request)
    if not caller.everywhere:
        raise ProblemError(403, "the key is for some projects only", code="scope_needed")
    series = (data.filename or "").lower().endswith(CASES)
    try:
        upload = Upload(
            title=sent.one("title") or "Project",
            model=model.file,
            data=data.file,
            rows=None if rows is None or not rows.size else rows.file,
            label=sent.one("label") or None,
            drop=_names(sent.one("drop")),
            classes=_names(sent.one("classes")) or None,
            schema={} if series else _schema(sent),
            kind="series" if series else "table",
            channels=_names(sent.one("channels")),
        )
        project = made(server.projects, upload, server.settings)
    except MacexError as error:
        values = {"fault": str(error), "kinds": KINDS, "address": sent}
        return page(request, "new", values, status=422)
    return moved(request, f"/projects/{project.name}")


def _names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _schema(sent: Address) -> dict[str, Any]:
    """The corrected kinds, by column."""
    try:
        found = json.loads(sent.one("schema") or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise OptionError("the columns could not be read: choose the file again")
    return found


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
