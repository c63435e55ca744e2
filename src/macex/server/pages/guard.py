"""Who may see a page, and what is shown to those who may not or whose page cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from macex.errors import MacexError
from macex.server.pages.address import Address
from macex.server.pages.shell import page
from macex.server.problems import TITLES, ProblemError, status_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose errors are pages; whoever is unknown is asked to sign in."""

    def get_route_handler(self) -> Handler:
        """The handler, with its errors caught."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except ProblemError as error:
                if error.status == 401:
                    return _sign_in(request)
                return _said(request, error.status, error.detail)
            except MacexError as error:
                return _said(request, status_of(error), str(error))
            except RequestValidationError:
                return _said(request, 404, "This address has a part that is no number.")

        return handled


async def _form(request: Request) -> Address:
    """What a form sent."""
    sent = await request.form()
    return Address([(key, text) for key, text in sent.multi_items() if isinstance(text, str)])


Form = Annotated[Address, Depends(_form)]


def _sign_in(request: Request) -> Response:
    root = request.scope.get("root_path", "")
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    there = wanted if request.method == "GET" else "/"
    return RedirectResponse(f"{root}/login?next={quote(there, safe='')}", 303)


def _said(request: Request, status: int, detail: str) -> Response:
    values = {"heading": TITLES.get(status, "It did not work"), "detail": detail}
    return page(request, "error", values, status=status)
