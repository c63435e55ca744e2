"""Errors as a client sees them: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from math import ceil
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from macex.errors import MacexError, UnavailableError
from macex.explanation.json import plain
from macex.server.projects.catalogue import UnknownProjectError

LOG = logging.getLogger("macex.server")
MEDIA = "application/problem+json"
LONGEST = 2000  # characters of a detail, which may quote what was sent
CALLED: ContextVar[str] = ContextVar("request", default="")
"""The id of the request that is being answered."""
KIND = "urn:macex:error:"  # then the name of the library's own error
STATUSES = {
    400: ("bad_request", "The request cannot be read"),
    401: ("key_needed", "A key is needed"),
    403: ("not_allowed", "This is not allowed"),
    404: ("not_found", "There is no such thing"),
    405: ("method_not_allowed", "This cannot be done here"),
    408: ("too_slow", "That took too long"),
    409: ("conflict", "Not yet, or no longer"),
    413: ("too_large", "That is too much"),
    415: ("wrong_content_type", "This server does not read that form"),
    421: ("wrong_host", "This server has another name"),
    422: ("invalid", "The request is wrong"),
    429: ("too_many_requests", "Too many requests"),
    500: ("server_error", "The server failed"),
    503: ("unavailable", "The server is busy"),
    507: ("no_room", "The server has no room"),
}
"""What an error is called for programs, unless it has a name of its own, and for people.

The names for programs do not change.
"""
OTHER = ("error", "It did not work")


class Fault(BaseModel):
    """One thing that is wrong, and where."""

    at: str = Field(examples=["body.n"])
    said: str = Field(examples=["Input should be greater than or equal to 1"])


class ProblemDetail(BaseModel):
    """What went wrong."""

    type: str = Field(examples=["urn:macex:error:SchemaError"])
    code: str = Field(examples=["schema"], description="Stable, for programs.")
    title: str = Field(examples=["The request is wrong"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["row 0 has no column 'age'"])
    errors: list[Fault] = Field(default_factory=list)
    request_id: str = Field(examples=["4f1c1e0a9b7d2c33"], description="As the log has it.")


class ProblemError(Exception):
    """An answer that is an error."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})
        self.code = code


def problem_response(
    status: int,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: list[dict[str, str]] | None = None,
    kind: str = "about:blank",
    code: str | None = None,
) -> Response:
    """An error as a response."""
    usual, title = STATUSES.get(status, OTHER)
    body: dict[str, Any] = {"type": kind, "code": code or usual}
    body |= {"title": title, "status": status, "detail": shortened(detail)}
    body |= {"errors": errors or [], "request_id": CALLED.get()}
    return JSONResponse(body, status, headers=dict(headers or {}), media_type=MEDIA)


def database_problem(error: Exception) -> Response:
    """What is said where the database fails: nothing is wrong with the request."""
    LOG.error("the database failed", extra={"kind": type(error).__name__})
    said = "the database does not answer: try again in a moment"
    return problem_response(503, said, headers={"Retry-After": "2"}, code="database")


def shortened(detail: str) -> str:
    """A detail that does not send back all of what came."""
    return detail if len(detail) <= LONGEST else f"{detail[:LONGEST]}…"


def code_of(error: MacexError) -> str:
    """The name of an error of the library for programs.

    >>> code_of(UnknownProjectError("there is no project 'x'"))
    'unknown_project'
    """
    words = re.findall(r"[A-Z][a-z]*", type(error).__name__.removesuffix("Error"))
    return "_".join(words).lower() or "macex"


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of the errors of a route, beside those that any route may have."""
    common = (400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 503, 507)
    body = {"content": {MEDIA: {"schema": {"$ref": "#/components/schemas/ProblemDetail"}}}}
    return {
        status: {"description": STATUSES[status][1], **body}
        for status in sorted({*common, *statuses})
    }


def status_of(error: MacexError) -> int:
    """The status that an error of the library becomes."""
    if isinstance(error, UnavailableError):
        return 503
    return 404 if isinstance(error, UnknownProjectError) else 422


def add_problems(app: FastAPI) -> None:
    """Answer every error in the same form."""

    def problem(_request: Request, error: Exception) -> Response:
        known = error if isinstance(error, ProblemError) else ProblemError(500, str(error))
        return problem_response(known.status, known.detail, headers=known.headers, code=known.code)

    def wrong(_request: Request, error: Exception) -> Response:
        status = status_of(error) if isinstance(error, MacexError) else 500
        code = code_of(error) if isinstance(error, MacexError) else None
        kind, waits = f"{KIND}{type(error).__name__}", {}
        if isinstance(error, UnavailableError):
            waits = {"Retry-After": str(ceil(error.retry_s))}
        return problem_response(status, str(error), headers=waits, kind=kind, code=code)

    def invalid(_request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        faults = [{"at": _place(one), "said": _said(one)} for one in found]
        first = f"{faults[0]['at']}: {faults[0]['said']}" if faults else "it cannot be read"
        return problem_response(422, first, errors=faults)

    def http(_request: Request, error: Exception) -> Response:
        known = error if isinstance(error, HTTPException) else HTTPException(500)
        return problem_response(known.status_code, str(known.detail), headers=known.headers)

    def failed(_request: Request, error: Exception) -> Response:
        return database_problem(error)

    app.add_exception_handler(SQLAlchemyError, failed)
    app.add_exception_handler(ProblemError, problem)
    app.add_exception_handler(MacexError, wrong)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def _said(fault: Any) -> str:
    """What is wrong, without the word that pydantic begins the messages of others with."""
    return shortened(str(fault.get("msg")).removeprefix("Value error, "))


def _place(fault: Any) -> str:
    return ".".join(str(plain(part))[:100] for part in fault.get("loc", ())) or "request"
