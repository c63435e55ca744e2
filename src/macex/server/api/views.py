"""Saved views, and the audit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from macex.server.api.needs import Admin, Asker, Identity, Name, Reader, Running, Size, Start
from macex.server.api.responses import ViewInfo, ViewList
from macex.server.api.shapes import ViewRequest
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.room import require_room
from macex.server.storage.audit import records
from macex.server.storage.views import SavedView

router = APIRouter(route_class=BodyRoute, tags=["views"], responses=documented())
LINES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}


@router.get("/projects/{name}/views")
def views(
    name: Name, server: Running, _caller: Reader, start: Start = 0, size: Size = 1000
) -> ViewList:
    """The saved views of a project."""
    project = server.projects[name].name
    said = [_said(view) for view in server.views.of(project, start, size)]
    return ViewList(views=said, start=start, total=server.views.count(project))


@router.post("/projects/{name}/views", status_code=201)
def save(name: Name, asked: ViewRequest, server: Running, caller: Asker) -> ViewInfo:
    """Keep the state of a page under a name."""
    project = server.projects[name]
    require_room(server.settings)
    return _said(server.views.save(project.name, caller.name, asked.name, asked.state))


@router.get("/projects/{name}/views/{identity}")
def view(name: Name, identity: Identity, server: Running, _caller: Reader) -> ViewInfo:
    """One saved view."""
    found = server.views.get(server.projects[name].name, identity)
    if found is None:
        raise ProblemError(404, f"there is no view {identity!r}")
    return _said(found)


@router.delete("/projects/{name}/views/{identity}", status_code=204)
def remove(name: Name, identity: Identity, server: Running, _caller: Asker) -> Response:
    """Forget a saved view."""
    if not server.views.remove(server.projects[name].name, identity):
        raise ProblemError(404, f"there is no view {identity!r}")
    return Response(status_code=204)


@router.get("/audit", response_class=Response, responses=LINES)
def audit(
    server: Running,
    caller: Admin,
    project: Annotated[str | None, Query(max_length=100)] = None,
    since: Annotated[
        datetime | None, Query(description="The earliest time, of UTC if it names no zone.")
    ] = None,
    start: Start = 0,
    size: Annotated[int | None, Query(ge=1, description="At most so many; else all.")] = None,
) -> Response:
    """The audit records as lines of JSON, oldest first: a file that `macex replay` reads."""

    since = since.replace(tzinfo=UTC) if since is not None and since.tzinfo is None else since
    if not (caller.everywhere if project is None else caller.sees(project)):
        raise ProblemError(403, "name a project that the key is for", code="scope_needed")

    def lines() -> Iterator[str]:
        for record in records(server.engine, project, since=since, start=start, size=size):
            yield json.dumps(record, ensure_ascii=False) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def _said(view: SavedView) -> ViewInfo:
    shared = {name: getattr(view, name) for name in ViewInfo.model_fields}
    return ViewInfo(**shared)
