"""What is done to every request and response before and after the application sees them.

Strange hosts and foreign origins are refused, bodies are counted and timed as they arrive, HEAD is
answered like GET without the body, and responses tell browsers to load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from urllib.parse import SplitResult, urlsplit

from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from macex.server.problems import ProblemError, database_problem, problem_response
from macex.server.security.gate import FORMS, PACE, Gate
from macex.server.settings import Settings

LOG = logging.getLogger("macex.server")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE = ("GET", "HEAD", "OPTIONS")
UPLOADS = ("/api/v1/projects", "/api/v1/inspect", "/new")
FORM_BYTES = 2**20  # of fields, which take many times their bytes once they are read
STRANGER_BYTES = 2**14  # enough to show a key


SLOW_LINE = 50_000  # bytes a second that a body may come at, and no fewer for long


class CutError(Exception):
    """A body is longer than allowed, or takes too long."""


class EnoughError(Exception):
    """All that is asked for was sent."""


class Arriving:
    """A body on its way: how much of it came, and what is to be said if it is cut off."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most, self._seconds = receive, most, seconds
        self._began, self._taken, self._whole = time.monotonic(), 0, False
        self.refusal: Response | None = None

    async def __call__(self) -> Message:
        """The next piece; waiting for somebody to leave, after the last, has no end."""
        if self._whole:
            return await self._receive()
        left = self._began + self._seconds + self._taken / SLOW_LINE - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.001, left))
        except TimeoutError:
            said = "the body did not come in time"
            self.refusal = problem_response(408, said, headers={"Connection": "close"})
            raise CutError from None
        self._taken += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._taken > self._most:
            self.refusal = _too_much(self._most)
            raise CutError
        return message


class Wrapping:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, settings: Settings, gate: Gate) -> None:
        self.app, self.settings, self.gate = app, settings, gate
        bound = settings.local or bool(settings.hosts)
        self.names = {*settings.hosts, *LOOPBACK} if bound else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, count and mark."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        marked = _marking(scope, send)
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
            marked = _bare(_marking(scope, send))
        if refused := self._refused(scope, headers):
            await problem_response(*refused)(scope, receive, marked)
            return
        try:
            most = await self._most(scope, headers)
        except ProblemError as error:
            refusal = problem_response(error.status, error.detail, headers=error.headers)
            await refusal(scope, receive, marked)
            return
        except SQLAlchemyError as error:
            await database_problem(error)(scope, receive, marked)
            return
        if _length(headers) > most:
            await _too_much(most)(scope, receive, marked)
            return
        await self._answered(scope, receive, marked, most)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        arriving, started, failed = (
            Arriving(receive, most, self.settings.body_seconds),
            False,
            False,
        )

        async def sending(message: Message) -> None:
            nonlocal started
            if arriving.refusal is not None and not started:
                return  # what the application makes of the interruption is not sent
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, arriving, sending)
        except Exception as fault:
            failed = arriving.refusal is None and not _enough(fault)
            if failed:
                LOG.exception("request failed", extra={"method": scope["method"]})
            if failed and started:
                raise
        if arriving.refusal is not None and not started:
            await arriving.refusal(scope, receive, send)
        elif failed:
            said = "The fault is the server's; its log says more."
            await problem_response(500, said)(scope, receive, send)

    async def _most(self, scope: Scope, headers: Headers) -> int:
        """How long the body may be: of a stranger, of a form, of an upload, of anything else."""
        anybody = min(STRANGER_BYTES, self.settings.body_bytes)
        if "transfer-encoding" not in headers and _length(headers) <= anybody:
            return self.settings.body_bytes
        caller = await self.gate.identify(Request(scope))
        if caller is None:
            return anybody
        media = headers.get("content-type", "").lower()
        uploads = media.startswith("multipart/form-data") and _path(scope) in UPLOADS
        if uploads and caller.may("admin"):  # for others not even a temporary file is written
            return self.settings.upload_bytes
        most = self.settings.body_bytes
        return min(FORM_BYTES, most) if media.startswith(FORMS) else most

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return 400, "an address cannot hold NUL"
        if self.names and (_split(f"//{host}").hostname or "").rstrip(".") not in self.names:
            return 421, f"this server does not answer to {host!r}; MACEX_HOSTS lists its names"
        origin = headers.get("origin")
        if scope["method"] in SAFE:
            return None
        foreign = origin is not None and _split(origin).netloc != host
        if foreign or headers.get("sec-fetch-site") == "cross-site":
            return 403, f"pages of {origin or 'elsewhere'} may not change anything here"
        return None


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).rstrip("/")


def _too_much(most: int) -> Response:
    return problem_response(413, f"a body may have at most {most:,} bytes here")


def _length(headers: Headers) -> int:
    said = headers.get("content-length", "")
    return int(said[:20]) if said.isdecimal() else 0


def _split(address: str) -> SplitResult:
    """The parts of an address, all empty where it is none."""
    try:
        parts = urlsplit(address)
        _ = parts.hostname
    except ValueError:
        return urlsplit("")
    return parts


def _bare(send: Send) -> Send:
    """The same answer without its body; one that goes on is ended."""

    async def bare(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "body": b"", "more_body": False})
        if message.get("more_body", False):
            raise EnoughError

    return bare


def _enough(fault: BaseException) -> bool:
    """Whether an answer was ended on purpose, in whatever group of tasks."""
    if isinstance(fault, BaseExceptionGroup):
        return all(map(_enough, fault.exceptions))
    return isinstance(fault, EnoughError)


def _marking(scope: Scope, send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in (HEADERS | scope.get(PACE, {})).items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return marked


OF_PROJECT = re.compile(r"(?:/api/v1)?/projects/([^/]+)")


class Admission:
    """Refuses requests to a project that holds `most` of them already."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request of a project while it is answered."""
        path: str = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        found = OF_PROJECT.match(path) if scope["type"] == "http" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        name = found[1]
        if self._held[name] >= self.most:
            said = f"{self.most} requests wait for project {name[:100]!r}: ask again later"
            await problem_response(503, said, headers={"Retry-After": "5"})(scope, receive, send)
            return
        self._held[name] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._held[name] -= 1
            if not self._held[name]:
                del self._held[name]
