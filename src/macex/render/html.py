"""Results as HTML: a fragment for notebooks, a page that stands alone.

Everything that comes from the caller is escaped by the templates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from macex.render.cards import cards
from macex.render.files import write_whole
from macex.render.text import counted
from macex.render.values import change_text, shown


def fragment(items: Sequence[Any], total: int | None = None) -> str:
    """Cards for a notebook: the first of a batch of `total`, or an explanation on its own."""
    left = 0 if total is None else total - len(items)
    shown_cards = cards(items, numbered=total is not None)
    return _rendered("fragment.html.j2", {"cards": shown_cards, "left": left})


def summary_fragment(summary: Any) -> str:
    """A summary for a notebook."""
    return _rendered("summary.html.j2", {"summary": summary})


def report(items: Sequence[Any], title: str, meta: Mapping[str, Any], summary: Any = None) -> str:
    """A whole page that asks for nothing outside itself."""
    values = {
        "cards": cards(items, numbered=True),
        "title": title,
        "counted": counted(items),
        "meta": {key: shown(value) for key, value in meta.items()},
        "summary": summary,
    }
    return _rendered("report.html.j2", values)


def write(path: Path, page: str) -> None:
    """Writes a page at once."""
    write_whole(path, page.encode())


@cache
def _templates() -> Environment:
    loader = PackageLoader("macex.render", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["change"] = change_text
    return environment


def _rendered(template: str, values: Mapping[str, Any]) -> str:
    return _templates().get_template(template).render(values)
