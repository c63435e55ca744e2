"""The application: API and pages joined, and what is done to every request."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from macex.server.api.routes import add_api
from macex.server.logs import Logging
from macex.server.pages import add_pages
from macex.server.problems import add_problems
from macex.server.security.middleware import Wrapping
from macex.server.settings import Settings
from macex.server.state import Server, server_for
from macex.server.workers.admission import Admission
from macex.server.workers.pool import Workers
from macex.version import __version__

ABOUT = "The least that would have to be different for a model to decide otherwise."
COMPRESSED_FROM = 1000  # bytes of an answer


def create_app(settings: Settings | None = None, workers: Workers | None = None) -> FastAPI:
    """An ASGI application for these settings, and for workers that have begun, if some have."""
    server = server_for(settings or Settings(), workers)
    app = FastAPI(
        title="macex",
        summary=ABOUT,
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.server = server
    add_problems(app)
    add_api(app)
    add_pages(app)
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
