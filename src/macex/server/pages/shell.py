"""What all pages have around them, and how a page, or a part of one, is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from macex.server.pages.address import Address
from macex.server.pages.assets import version
from macex.server.pages.environment import templates
from macex.server.projects.project import Project
from macex.server.security.gate import caller_of
from macex.server.state import server_of

PARTS = "x-macex-parts"  # the header by which the module asks for parts of a page
HEADERS = {"Cache-Control": "no-store", "Vary": f"{PARTS}, user-agent"}


def address_of(request: Request) -> Address:
    """The state that the address of a request holds."""
    return Address(request.query_params.multi_items())


def page_number(address: Address) -> int:
    """Which page of a list is shown, from 1."""
    text = address.one("page", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1


def attached(file: str) -> dict[str, str]:
    """The headers of an answer that is saved as a file."""
    return {"Content-Disposition": f'attachment; filename="{file}"', "Cache-Control": "no-store"}


def parts_asked(request: Request, known: tuple[str, ...]) -> list[str]:
    """Which parts of the page are asked for; none where it is the page as a whole."""
    asked = request.headers.get(PARTS, "").split()
    return [part for part in known if part in asked]


def moved(request: Request, path: str) -> RedirectResponse:
    """The way to another page of the server."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}", 303)


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    *,
    project: Project | None = None,
    status: int = 200,
) -> HTMLResponse:
    """A page."""
    return HTMLResponse(_rendered(request, f"{template}.html.j2", values, project), status, HEADERS)


def pieces(
    request: Request, names: list[str], values: Mapping[str, Any], *, project: Project
) -> HTMLResponse:
    """Parts of a page, which the module puts in the places of those that are there."""
    content = (_rendered(request, f"{name}.html.j2", values, project) for name in names)
    return HTMLResponse("\n".join(content), headers=HEADERS)


def _rendered(
    request: Request, template: str, values: Mapping[str, Any], project: Project | None
) -> str:
    server, visitor = server_of(request), caller_of(request)
    around = {
        "root": request.scope.get("root_path", ""),
        "version": version(),
        "address": address_of(request),
        "project": project,
        "projects": [one for one in server.projects if visitor is None or visitor.sees(one.name)],
        "visitor": visitor,
        "phone": "Mobi" in request.headers.get("user-agent", ""),  # what browsers of phones say
        "here_address": str(request.url.path)
        + ("?" + request.url.query if request.url.query else ""),
    }
    return templates().get_template(template).render({**around, **values})
