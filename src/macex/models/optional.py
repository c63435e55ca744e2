"""Libraries that only some models or features need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str) -> Any:
    """A module of, or on, an optional library, or an error that says how to install it.

    >>> needed("a_library_nobody_has", "trees")
    Traceback (most recent call last):
    ...
    ImportError: a_library_nobody_has is not installed: pip install macex[trees]
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = error.name or module.partition(".")[0]
        raise ImportError(f"{name} is not installed: pip install macex[{extra}]") from error
