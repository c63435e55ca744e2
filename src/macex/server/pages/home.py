"""The way in: the projects of the server, and the files that all pages need."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from macex.server.api.needs import Reader
from macex.server.pages.assets import KINDS, assets, version
from macex.server.pages.guard import PageRoute
from macex.server.pages.shell import page
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)


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
    kind = KINDS[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"Cache-Control": kept})
