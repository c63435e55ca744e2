"""The pages of the server."""

from __future__ import annotations

from fastapi import FastAPI

from macex.server.pages import home, listing, looking


def add_pages(app: FastAPI) -> None:
    """Put the pages beside the API."""
    for room in (home, listing, looking):
        app.include_router(room.router)
