"""What is done to every request and response before and after the application sees them.

Strange hosts and foreign origins are refused, bodies are counted as they arrive, and responses tell
browsers to load nothing from elsewhere.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from macex.server.problems import ProblemError, problem_response
from macex.server.security.gate import Gate
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


class TooMuchError(Exception):
    """A body is longer than allowed."""


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
        marked = _marking(send)
        if refused := self._refused(scope, headers):
            await problem_response(*refused)(scope, receive, marked)
            return
        try:
            most = self._most(scope, headers)
        except ProblemError as error:
            refusal = problem_response(error.status, error.detail, headers=error.headers)
            await refusal(scope, receive, marked)
            return
        if _length(headers) > most:
            await _too_much(most)(scope, receive, marked)
            return
        await self._counted(scope, receive, marked, most)

    async def _counted(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        taken, started, exceeded = 0, False, False

        async def counting() -> Message:
            nonlocal taken, exceeded
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                exceeded = True
                raise TooMuchError
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            if exceeded and not started:
                return  # what the application makes of the interruption is not sent
            started = started or message["type"] == "http.response.start"
            await send(message)

        failed = False
        try:
            await self.app(scope, counting, sending)
        except Exception:
            failed = not exceeded
            if failed:
                LOG.exception("request failed", extra={"method": scope["method"]})
            if failed and started:
                raise
        if exceeded and not started:
            await _too_much(most)(scope, receive, send)
        elif failed:
            said = "The fault is the server's; its log says more."
            await problem_response(500, said)(scope, receive, send)

    def _most(self, scope: Scope, headers: Headers) -> int:
        """How long the body may be: of a stranger, of a form, of an upload, of anything else."""
        long = "transfer-encoding" in headers or _length(headers) > STRANGER_BYTES
        if long and self.gate.caller(Request(scope)) is None:
            return min(STRANGER_BYTES, self.settings.body_bytes)
        media = headers.get("content-type", "").lower()
        if media.startswith("multipart/form-data") and _path(scope) in UPLOADS:
            return self.settings.upload_bytes
        fields = media.startswith("application/x-www-form-urlencoded")
        return min(FORM_BYTES, self.settings.body_bytes) if fields else self.settings.body_bytes

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return 400, "an address holds no NUL"
        if self.names and _hostname(f"//{host}") not in self.names:
            return 421, f"this server is not called {host!r}; MACEX_HOSTS names what it is called"
        origin = headers.get("origin")
        if scope["method"] in SAFE:
            return None
        foreign = origin is not None and _place(origin) != host
        if foreign or headers.get("sec-fetch-site") == "cross-site":
            return 403, f"pages of {origin or 'elsewhere'} may not change anything here"
        return None


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).rstrip("/")


def _too_much(most: int) -> Response:
    return problem_response(413, f"a body may have {most:,} bytes here")


def _length(headers: Headers) -> int:
    said = headers.get("content-length", "")
    return int(said[:20]) if said.isdecimal() else 0


def _hostname(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _marking(send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return marked
