"""Log lines: one JSON object each, without personal values unless they are asked for.

Of a request the route is written, never the cells it carries; the query of an address, which may
hold what somebody searched for, only with `log_values`.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
import traceback
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from macex.server.metrics import Metrics
from macex.server.problems import CALLED
from macex.server.security.gate import KNOWN

LOG = logging.getLogger("macex.server")
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """A log record as one line of JSON.

    Of an error the kind and the places are written; its message, which may quote a cell, only with
    `values`.

    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "ready", "port": 8000})
    >>> json.loads(JsonLines().format(record))["port"]
    8000
    """

    def __init__(self, *, values: bool = False) -> None:
        super().__init__()
        self.values = values

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in STANDARD}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = self._told(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)

    def _told(self, fault: Any) -> Any:
        if self.values:
            return self.formatException(fault)
        places = [f"{one.filename}:{one.lineno}" for one in traceback.extract_tb(fault[2])]
        return {"kind": fault[0].__name__, "places": places}


def log_to_stderr(*, values: bool) -> None:
    """Send what macex and uvicorn log to the standard error, as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(values=values))
    for name in ("macex", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


class Logging:
    """Writes a line for every request, and counts it."""

    def __init__(self, app: ASGIApp, metrics: Metrics, *, values: bool) -> None:
        self.app, self.metrics, self.values = app, metrics, values

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch a request go by."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, identity, status = time.perf_counter(), secrets.token_hex(8), 500
        CALLED.set(identity)

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", identity.encode())]
            await send(message)

        try:
            await self.app(scope, receive, watching)
        finally:
            took = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "unknown")
            self.metrics.request(scope["method"], route, status, took)
            line = {"request": identity, "method": scope["method"], "route": route}
            line |= {"status": status, "ms": round(1000 * took, 1)}
            if (caller := scope.get(KNOWN)) is not None:
                line |= {"key": caller.key_id, "caller": caller.name}
            if self.values:
                line |= {"path": scope["path"], "query": scope["query_string"].decode("latin-1")}
            LOG.info("request", extra=line)
