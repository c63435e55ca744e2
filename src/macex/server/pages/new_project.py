"""A new project from files: a model, its training rows, and what their columns are taken for."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, File, Request, Response, UploadFile
from fastapi.responses import HTMLResponse

from macex.errors import MacexError, OptionError
from macex.schema.statement import KINDS
from macex.server.api.needs import Admin
from macex.server.pages.address import Address
from macex.server.pages.guard import Form, PageRoute
from macex.server.pages.shell import moved, page
from macex.server.problems import ProblemError
from macex.server.projects.uploads import Upload, made
from macex.server.state import server_of

CASES = (".npz", ".npy")  # files of time series
router = APIRouter(include_in_schema=False, route_class=PageRoute)


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
