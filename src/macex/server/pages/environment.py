"""The templates of the pages: their own, and those of notebook and report."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from macex.render.charts import Chart

PHONE = 340.0  # pixels of a chart where the reader holds a phone


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
        finalize=_fitting,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@pass_context
def _fitting(context: Context, value: Any) -> Any:
    """What is written of a value: a chart is drawn for a phone where the page is (`phone`).

    A wide drawing would be shrunk there, and its letters with it.
    """
    if isinstance(value, Chart) and context.get("phone"):
        return value.within(PHONE)
    return value
