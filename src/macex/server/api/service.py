"""The server itself: is it there, what did it count, who is signed in."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from macex.server.api.needs import Reader, Running
from macex.server.api.responses import Health, Limits, Readiness, SessionInfo
from macex.server.api.shapes import SessionRequest
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.security.gate import Caller
from macex.server.security.sessions import COOKIE
from macex.version import __version__

router = APIRouter(route_class=BodyRoute, tags=["service"], responses=documented())


@router.get("/health")
async def health(server: Running) -> Health:
    """Whether the server is there, and how much one request may ask for. Needs no key."""
    limits = server.settings.model_dump(include=set(Limits.model_fields))
    counts = Limits(**limits, counterfactuals=server.settings.answers)
    return Health(version=__version__, limits=counts)


@router.get("/ready")
async def ready(server: Running) -> Readiness:
    """Whether the server takes questions: not when it is ending, nor without its database.

    Needs no key.
    """
    if server.workers.closing:
        raise ProblemError(503, "the server is ending")
    if server.watch.fault:
        said = "the database does not answer"
        raise ProblemError(503, said, headers={"Retry-After": "2"}, code="database")
    return Readiness(ready=True)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(server: Running, _caller: Reader) -> Response:
    """What the server counted, for Prometheus."""
    return PlainTextResponse(server.metrics.text())


@router.get("/session")
def session(caller: Reader) -> SessionInfo:
    """Who is asking."""
    return _said(caller)


@router.post("/session", status_code=201, response_model=SessionInfo)
def sign_in(asked: SessionRequest, server: Running, request: Request) -> Response:
    """Begin a session of the page: the key is shown once and a cookie stands for it then."""
    response = JSONResponse(None, 201)
    said = _said(server.gate.sign_in(request, response, asked.key))
    response.body = said.model_dump_json().encode()
    response.headers["content-length"] = str(len(response.body))
    return response


@router.delete("/session", status_code=204)
def sign_out(request: Request, server: Running, _caller: Reader) -> Response:
    """End the session for everyone who has its cookie."""
    server.gate.sessions.end(request.cookies.get(COOKIE, ""))
    response = Response(status_code=204)
    response.delete_cookie(COOKIE)
    return response


def _said(caller: Caller) -> SessionInfo:
    return SessionInfo(name=caller.name, scopes=list(caller.scopes), csrf=caller.csrf)
