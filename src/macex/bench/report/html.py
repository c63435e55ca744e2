"""The report as one self-contained page of HTML."""

from __future__ import annotations

from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from macex.bench.report.document import Document
from macex.render.exports import write_whole
from macex.render.palette import DARK, LIGHT


def page(document: Document) -> str:
    """The whole page; what came from files and methods is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("macex.bench.report"), PackageLoader("macex.render")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coded"] = _coded
    values = {"document": document, "light": LIGHT, "dark": DARK, "alone": True}
    return environment.get_template("report.html.j2").render(values)


def write_page(document: Document, path: Path) -> None:
    """Write the page at once."""
    write_whole(path, page(document).encode())


def _coded(text: str) -> Markup:
    """What stands between backticks as code; all of it escaped."""
    parts = [escape(part) for part in text.split("`")]
    coded = [Markup("<code>{}</code>").format(p) if at % 2 else p for at, p in enumerate(parts)]
    return Markup("").join(coded)
