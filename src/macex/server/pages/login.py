"""Signing in: a key is shown once, and a cookie stands for it then."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from macex.server.api.needs import Reader
from macex.server.pages.shell import Form, PageRoute, moved, page
from macex.server.problems import ProblemError
from macex.server.security.sessions import COOKIE
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)


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
