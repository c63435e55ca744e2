"""The application: API and pages joined, and what is done to every request."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from macex.server.api import cases, explanations, jobs, projects, service, views
from macex.server.logs import Logging
from macex.server.pages import cases as case_pages
from macex.server.pages import glance, home, job, reference, row, rows
from macex.server.pages.shell import add_lost
from macex.server.problems import ProblemDetail, add_problems
from macex.server.recent import Recent
from macex.server.security.middleware import Admission, Wrapping
from macex.server.settings import Settings
from macex.server.state import Server, server_for
from macex.server.workers.pool import Workers
from macex.version import __version__

ABOUT = "The least that would have to be different for a model to decide otherwise."
COMPRESSED_FROM = 1000  # bytes of an answer
PREFIX = "/api/v1"
API = (service, projects, cases, explanations, jobs, views)
PAGES = (home, glance, rows, row, case_pages, job, reference)
KEPT = 8  # outcomes of jobs that are not summed up again
PACES = 200  # jobs whose pace is watched


def create_app(settings: Settings | None = None, workers: Workers | None = None) -> FastAPI:
    """An ASGI application for these settings, and for workers that have begun, if some have."""
    server = server_for(settings or Settings(), workers)
    app = FastAPI(
        title="macex",
        summary=ABOUT,
        version=__version__,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.server = server
    app.state.outcomes, app.state.plans = Recent(most=KEPT), Recent(most=KEPT)
    app.state.paces = Recent(most=PACES)
    add_problems(app)
    for room in API:
        app.include_router(room.router, prefix=PREFIX)
    _describe_problems(app)
    for room in PAGES:
        app.include_router(room.router)
    add_lost(app)
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM, compresslevel=5)
    app.add_middleware(Admission, most=max(1, server.settings.requests_at_once // 2))
    app.add_middleware(Wrapping, settings=server.settings, gate=server.gate)
    app.add_middleware(
        Logging,
        metrics=server.metrics,
        values=server.settings.log_values,
        model=server.projects.model_hash,
    )
    return app


def _describe_problems(app: FastAPI) -> None:
    """Let OpenAPI know the shape of errors, which no route names as its answer."""
    make = app.openapi

    def described() -> dict[str, object]:
        document = make()
        own = ProblemDetail.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= {**own.pop("$defs"), "ProblemDetail": own}
        return document

    app.openapi = described  # type: ignore[method-assign]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    server: Server = app.state.server
    threads = to_thread.current_default_thread_limiter()
    threads.total_tokens = max(threads.total_tokens, server.settings.requests_at_once)
    gc.freeze()
    server.start()
    try:
        yield
    finally:
        server.close()
