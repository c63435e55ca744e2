"""Saved views: a name for an address, kept with the project."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from macex.errors import OptionError
from macex.server.api.needs import Asker
from macex.server.pages.entering import inside
from macex.server.pages.guard import Form, PageRoute
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
LONGEST = 200


@router.post("/projects/{name}/views")
def keep(request: Request, name: str, sent: Form, caller: Asker) -> Response:
    """Keep an address under a name, and go back to it."""
    server = server_of(request)
    title, address = sent.one("name").strip(), inside(sent.one("state"))
    if not 0 < len(title) <= LONGEST:
        raise OptionError(f"a view has a name of 1 to {LONGEST} letters")
    server.views.save(server.projects[name].name, caller.name, title, {"address": address})
    return RedirectResponse(address, 303)


@router.post("/projects/{name}/views/{identity}/forget")
def forget(request: Request, name: str, identity: str, _caller: Asker) -> Response:
    """Forget a view."""
    server = server_of(request)
    server.views.remove(server.projects[name].name, identity)
    root = request.scope.get("root_path", "")
    return RedirectResponse(f"{root}/projects/{name}", 303)
