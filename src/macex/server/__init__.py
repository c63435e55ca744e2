"""The HTTP API and the pages: `create_app(Settings())` is an ASGI application."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from macex.server.app import create_app
    from macex.server.settings import Settings

__all__ = ["Settings", "create_app"]
PLACES = {"Settings": "macex.server.settings", "create_app": "macex.server.app"}


def __getattr__(name: str) -> Any:
    """What is asked for, imported then: projects can be described without a web library."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(PLACES[name]), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"{error.name} is not installed: pip install macex[server]") from error
