"""The way in: signing in, and the projects of the server: made, renamed and removed."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, File, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from macex.errors import MacexError, OptionError
from macex.schema.schema import KINDS
from macex.server.api.needs import Admin, Reader
from macex.server.pages.address import Address
from macex.server.pages.shell import MEDIA, Form, PageRoute, assets, moved, page, version
from macex.server.problems import ProblemError
from macex.server.projects.uploads import Upload, made
from macex.server.security.sessions import COOKIE
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


@router.get("/login")
def login_page(request: Request) -> Response:
    """The form for a key; the address that the server printed signs in without one."""
    wanted, gate = inside(request.query_params.get("next", "/")), server_of(request).gate
    values = {"wanted": wanted, "fault": "", "printed": gate.printed}
    token = request.query_params.get("token")
    if token is None:
        return page(request, "login", values)
    response = moved(request, wanted)
    try:
        gate.redeem(request, response, token)
    except ProblemError as error:
        return page(request, "login", {**values, "fault": error.detail}, status=error.status)
    return response


@router.post("/login")
def sign_in(request: Request, sent: Form) -> Response:
    """Begin a session and go where the caller wanted to."""
    wanted = inside(sent.one("next", "/"))
    response = RedirectResponse(wanted, 303)
    try:
        server_of(request).gate.sign_in(request, response, sent.one("key"))
    except ProblemError as error:
        values = {"wanted": wanted, "fault": error.detail, "printed": False}
        return page(request, "login", values, status=error.status)
    return response


@router.post("/logout")
def sign_out(request: Request, _caller: Reader) -> Response:
    """End the session."""
    server_of(request).gate.sessions.end(request.cookies.get(COOKIE, ""))
    response = moved(request, "/login")
    response.delete_cookie(COOKIE)
    return response


def inside(address: str) -> str:
    """An address of this server, or the way in for any other.

    >>> inside("/projects/loans?n=2"), inside("//elsewhere.example/"), inside("https://e.example")
    ('/projects/loans?n=2', '/', '/')
    """
    own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if own and address.isprintable() else "/"
