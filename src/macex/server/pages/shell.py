"""What all pages have in common: templates, files, how they are sent, and who may see them.

The files are read once and served by name; no name that comes with a request becomes a path.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any, cast
from urllib.parse import quote

from anyio import to_thread
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from macex.errors import MacexError
from macex.render.charts import Chart
from macex.render.palette import DARK, LIGHT, PRINT
from macex.server.bodies import in_turn, require_form
from macex.server.pages.address import Address
from macex.server.problems import OTHER, STATUSES, ProblemError, database_problem, status_of
from macex.server.projects.project import Project
from macex.server.security.gate import caller_of
from macex.server.state import server_of

PARTS = "x-macex-parts"  # the header by which the module asks for parts of a page
HEADERS = {"Cache-Control": "no-store", "Vary": f"{PARTS}, user-agent"}
MEDIA = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PHONE = 340.0  # pixels of a chart where the reader holds a phone
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


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


@cache
def assets() -> dict[str, bytes]:
    """The content of each file, by name."""
    folder = files("macex.server.pages").joinpath("static")
    found = {file.name: file.read_bytes() for file in folder.iterdir() if "." in file.name}
    palettes = {"light": LIGHT, "dark": DARK, "paper": PRINT}
    names = ("style.css.j2", "live.css.j2")
    shared = [templates().get_template(name).render(palettes).encode() for name in names]
    found["pages.css"] = b"\n".join([*shared, found["pages.css"]])
    return found


@cache
def version() -> str:
    """Changes whenever a file does, so that browsers may keep files for ever."""
    content = b"".join(assets()[name] for name in sorted(assets()))
    return sha256(content).hexdigest()[:12]


@cache
def templates() -> Environment:
    """All templates; what comes from data is escaped."""
    return Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("macex.server.pages", "templates"),
                PackageLoader("macex.render", "templates"),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_fitting,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@pass_context
def _fitting(context: Context, value: Any) -> Any:
    """What is written of a value: a chart is drawn for a phone where the page is (`phone`).

    A wide drawing would be shrunk there, and its letters with it.
    """
    if isinstance(value, Chart) and context.get("phone"):
        return value.within(PHONE)
    return value


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
