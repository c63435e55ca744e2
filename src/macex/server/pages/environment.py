"""The templates of the pages: their own, and those of notebook and report."""

from __future__ import annotations

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


@cache
def templates() -> Environment:
    """All templates; what comes from data is escaped."""
    return Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("macex.server.pages", "templates"),
                PackageLoader("macex.render", "templates"),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
