"""The report as one self-contained page of HTML."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from macex.bench.report.document import Block, Document, ReportPicture, ReportTable
from macex.render.files import write_whole


def page(document: Document) -> str:
    """The whole page; what came from files and methods is escaped."""
    environment = Environment(
        loader=PackageLoader("macex.bench.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["table"] = _is_table
    environment.tests["picture"] = _is_picture
    environment.filters["drawn"] = _drawn
    environment.filters["coded"] = _coded
    return environment.get_template("report.html.j2").render(document=document)


def write_page(document: Document, path: Path) -> None:
    """Write the page at once."""
    write_whole(path, page(document).encode())


def _is_table(block: Block) -> bool:
    return isinstance(block, ReportTable)


def _is_picture(block: Block) -> bool:
    return isinstance(block, ReportPicture)


def _drawn(picture: ReportPicture) -> Markup:
    """The drawing itself: `svg.py` escapes every text in it."""
    return Markup(picture.svg)  # noqa: S704


def _coded(text: str) -> Markup:
    """What stands between backticks as code; all of it escaped."""
    parts = [escape(part) for part in text.split("`")]
    coded = [Markup("<code>{}</code>").format(p) if at % 2 else p for at, p in enumerate(parts)]
    return Markup("").join(coded)
