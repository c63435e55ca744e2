"""The HTTP API and the pages: `create_app(Settings())` is an ASGI application."""

from __future__ import annotations

from macex.server.app import create_app
from macex.server.settings import Settings

__all__ = ["Settings", "create_app"]
