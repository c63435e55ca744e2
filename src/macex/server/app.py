"""The application: API and pages joined."""

from __future__ import annotations

from fastapi import FastAPI

from macex.server.pages import add_pages
from macex.server.projects.catalogue import Catalogue
from macex.server.settings import Settings
from macex.server.state import Server


def create_app(settings: Settings | None = None) -> FastAPI:
    """An ASGI application for these settings."""
    settings = settings or Settings()
    app = FastAPI(title="macex", openapi_url="/api/v1/openapi.json", docs_url=None, redoc_url=None)
    app.state.server = Server(
        settings, Catalogue(settings.projects, settings.project, lambda _name: None)
    )
    add_pages(app)
    return app
