"""Who may see a page, and what is shown to those who may not or whose page cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast
from urllib.parse import quote

from anyio import to_thread
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from macex.errors import MacexError
from macex.server.bodies import in_turn, require_form
from macex.server.pages.address import Address
from macex.server.pages.shell import moved, page
from macex.server.problems import OTHER, STATUSES, ProblemError, database_problem, status_of
from macex.server.state import server_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose errors are pages; unknown callers are asked to sign in."""

    def get_route_handler(self) -> Handler:
        """The handler, with its errors caught."""
        handle = in_turn(self, super().get_route_handler(), lambda server: server.showing)

        async def handled(request: Request) -> Response:
            try:
                return await _loading(request) or await handle(request)
            except SQLAlchemyError as error:
                return database_problem(error)
            except ProblemError as error:
                if error.status == 401:
                    return _sign_in(request)
                return _said(request, error.status, error.detail)
            except MacexError as error:
                return _said(request, status_of(error), str(error))
            except RequestValidationError as error:
                return _said(request, *_unreadable(error))

        return handled


async def _loading(request: Request) -> Response | None:
    """A page that says so while a project is opened; programs wait, as do parts of pages."""
    name, server = request.path_params.get("name"), server_of(request)
    if name is None or request.headers.get("sec-fetch-mode") != "navigate":
        return None
    caller = None if request.method != "GET" else await server.gate.identify(request)
    if caller is None or not caller.sees(name):
        return None
    project = server.projects.known(name) or await to_thread.run_sync(server.projects.get, name)
    if project is None or await server.opening.soon(project):
        return None
    return page(request, "loading", {"title": project.title})


async def _form(request: Request) -> Address:
    """What a form sent."""
    require_form(request)
    sent = await request.form()
    return Address([(key, text) for key, text in sent.multi_items() if isinstance(text, str)])


Form = Annotated[Address, Depends(_form)]


def add_lost(app: FastAPI) -> None:
    """Where a page is missing, browsers get a page that says so, and programs a problem."""
    programs = app.exception_handlers[HTTPException]

    def lost(request: Request, error: Exception) -> Response:
        browser = "text/html" in request.headers.get("accept", "")
        if not browser or request.url.path.startswith("/api/"):
            return cast("Response", programs(request, error))
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _said(request, status, f"Nothing is shown at {request.url.path}.")

    app.add_exception_handler(HTTPException, lost)


def _unreadable(error: RequestValidationError) -> tuple[int, str]:
    """What to say of an address, or of a form, with a part that cannot be read."""
    where, *_, part = [str(one) for one in error.errors()[0]["loc"]]
    if where == "path":
        return 404, "A part of this address is not a number."
    return 422, f"{part} is missing, or cannot be read."


def _sign_in(request: Request) -> Response:
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    there = wanted if request.method == "GET" else "/"
    return moved(request, f"/login?next={quote(there, safe='')}")


def _said(request: Request, status: int, detail: str) -> Response:
    values = {"heading": STATUSES.get(status, OTHER)[1], "detail": detail}
    return page(request, "error", values, status=status)
