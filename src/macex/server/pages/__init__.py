"""The pages of the server."""

from __future__ import annotations

from fastapi import FastAPI


def add_pages(app: FastAPI) -> None:
    """Put the pages beside the API."""
    del app
