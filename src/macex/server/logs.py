"""Log lines: one JSON object each, without personal values unless they are asked for.

Of a request the id, the caller, the route, the model, the question and the time it took are
written, never the cells it carries; the query of an address, which may hold what somebody searched
for, only with `log_values`. Lines are written on a thread of their own: nobody waits for them.
"""

from __future__ import annotations

import atexit
import json
import logging
import queue
import secrets
import time
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from logging.handlers import QueueHandler, QueueListener
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from macex.server.metrics import Metrics
from macex.server.problems import CALLED
from macex.server.security.gate import KNOWN
from macex.server.structured import bound_contextvars, structlog

LOG = logging.getLogger("macex.server")
WAITING = 10_000  # lines that may wait to be written; more of them are lost
Event = MutableMapping[str, Any]
PLAIN = ("n", "max_rows", "timeout_s", "margin", "diagnose", "robust", "reach")
NAMED = ("method", "prefer", "structure", "also")


class JsonLines(structlog.stdlib.ProcessorFormatter):
    """A log record as one line of JSON.

    Of an error the kind and the places are written; its message, which may quote a cell, only with
    `values`.

    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "ready", "port": 8000})
    >>> json.loads(JsonLines().format(record))["port"]
    8000
    """

    def __init__(self, *, values: bool = False) -> None:
        def error(_logger: Any, _method: str, event: Event) -> Event:
            event.pop("color_message", None)  # uvicorn's second message, for terminals
            fault = event.pop("exc_info", None)
            if fault and fault[0] is not None:
                places = [f"{one.filename}:{one.lineno}" for one in traceback.extract_tb(fault[2])]
                bare = {"kind": fault[0].__name__, "places": places}
                event["error"] = "".join(traceback.format_exception(*fault)) if values else bare
            return event

        super().__init__(
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.ExtraAdder(),
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                structlog.processors.EventRenamer("message"),
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                error,
                structlog.processors.JSONRenderer(json.dumps, ensure_ascii=False, default=str),
            ]
        )


class Unhurried(QueueHandler):
    """Makes lines where they are logged, and leaves the writing to others."""

    def enqueue(self, record: logging.LogRecord) -> None:
        """Put a line into the queue; one that finds no room is lost."""
        with suppress(queue.Full):
            self.queue.put_nowait(record)


def log_to_stderr(*, values: bool) -> Callable[[], None]:
    """Send what macex and uvicorn log to the standard error, as lines of JSON.

    What is returned writes the lines that wait, and ends it.
    """
    lines: queue.Queue[logging.LogRecord] = queue.Queue(WAITING)
    handler = Unhurried(lines)
    handler.setFormatter(JsonLines(values=values))
    for name in ("macex", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    listener = QueueListener(lines, logging.StreamHandler())
    listener.start()
    ended = False

    def end() -> None:
        nonlocal ended
        if not ended:
            ended = True
            listener.stop()

    atexit.register(end)
    return end


class Logging:
    """Writes a line for every request, and counts it."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        *,
        values: bool,
        model: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """`model` gives the hash of a project's model."""
        self.app, self.metrics, self.values, self.model = app, metrics, values, model

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch a request go by."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, identity, status = time.perf_counter(), secrets.token_hex(8), 500
        noted: dict[str, Any] = {}
        CALLED.set(identity)
        NOTED.set(noted)

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", identity.encode())]
            await send(message)

        with bound_contextvars(request_id=identity):
            try:
                await self.app(scope, receive, watching)
            finally:
                took = time.perf_counter() - began
                self._write(scope, status, took, {"request_id": identity, **noted})

    def _write(self, scope: Scope, status: int, took: float, noted: dict[str, Any]) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self.metrics.request(scope["method"], route, status, took)
        line: dict[str, Any] = {"method": scope["method"], "route": route}
        line |= {"status": status, "duration_ms": round(1000 * took, 1)}
        if (caller := scope.get(KNOWN)) is not None:
            line |= {"key": caller.key_id, "caller": caller.name}
            name = scope.get("path_params", {}).get("name")
            if name is not None and caller.sees(name) and (model := self.model(name)):
                line |= {"project": name, "model": model}
        if self.values:
            line |= {"path": scope["path"], "query": scope["query_string"].decode("latin-1")}
        LOG.info("request", extra={**line, **noted})


NOTED: ContextVar[dict[str, Any] | None] = ContextVar("noted", default=None)
"""The notes of the request that is being answered, by all threads that answer it."""


def note(parts: Mapping[str, Any]) -> None:
    """Let the log line of the present request say this, too."""
    noted = NOTED.get()
    if noted is not None:
        noted.update(parts)


def gist(
    options: Mapping[str, Any], want: Any, constraints: Any, filtered: Any = None
) -> dict[str, Any]:
    """A question without what may be personal: which goal and which constraints, not their values.

    >>> gist({"n": 2, "robust": None}, {"kind": "rise_by", "by": 0.1}, {"fixed": ["age"]})
    {'n': 2, 'goal': 'rise_by', 'constraints': ['fixed']}
    """
    said = {part: options[part] for part in (*PLAIN, *NAMED) if options.get(part)}
    goals = {_goal(one) for one in (want if isinstance(want, list) else [want])}
    said["goal"] = ", ".join(sorted(goals))
    each = constraints if isinstance(constraints, list) else [constraints]
    parts = sorted({str(part) for one in each if isinstance(one, Mapping) for part in one})
    if parts:
        said["constraints"] = parts
    if isinstance(filtered, Mapping) and any(filtered.values()):
        said["filter"] = sorted(part for part, value in filtered.items() if value)
    return said


def _goal(want: Any) -> str:
    if want is None:
        return "any other"
    if isinstance(want, Mapping):
        return str(want.get("kind"))
    return getattr(want, "kind", None) or (
        "label" if isinstance(want, str | int | float) else "goal"
    )
