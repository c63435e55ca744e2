"""Saved views: a name for an address, kept with the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from macex.errors import OptionError
from macex.server.api.needs import Asker
from macex.server.pages.address import Address
from macex.server.pages.guard import Form, PageRoute
from macex.server.pages.login import inside
from macex.server.pages.shell import moved
from macex.server.room import require_room
from macex.server.state import Server, server_of


@dataclass(frozen=True)
class ListedView:
    """A saved view as the page lists it."""

    id: str
    name: str
    by: str
    address: str


router = APIRouter(include_in_schema=False, route_class=PageRoute)
LONGEST = 200


def kept_views(server: Server, project: str) -> list[ListedView]:
    """The saved views of a project; one that was saved over HTTP is a state of the list."""
    return [
        ListedView(
            view.id, view.name, f"{view.owner}, {view.created[:10]}", _address(project, view.state)
        )
        for view in server.views.of(project)
    ]


def _address(project: str, state: Any) -> str:
    parts = state if isinstance(state, Mapping) else {}
    if "address" in parts:
        return inside(str(parts["address"]))
    plain = [(str(key), str(value)) for key, value in parts.items() if value is not None]
    return f"/projects/{project}?{Address(plain)}"


@router.post("/projects/{name}/views")
def keep(request: Request, name: str, sent: Form, caller: Asker) -> Response:
    """Keep an address under a name, and go back to it."""
    server = server_of(request)
    title, address = sent.one("name").strip(), inside(sent.one("state"))
    if not 0 < len(title) <= LONGEST or not title.isprintable():
        raise OptionError(f"a view has a name of 1 to {LONGEST} letters")
    require_room(server.settings)
    server.views.save(server.projects[name].name, caller.name, title, {"address": address})
    return RedirectResponse(address, 303)


@router.post("/projects/{name}/views/{identity}/forget")
def forget(request: Request, name: str, identity: str, _caller: Asker) -> Response:
    """Forget a view."""
    server = server_of(request)
    server.views.remove(server.projects[name].name, identity)
    return moved(request, f"/projects/{name}")
