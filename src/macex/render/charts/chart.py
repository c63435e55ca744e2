"""A chart as a value: it draws itself in a notebook, a page, a report or a file of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, Self

from macex.errors import require_path
from macex.render.charts.svg import LETTER, element, text
from macex.render.files import write_whole
from macex.render.palette import DARK, LIGHT, PRINT

Kind = Literal["before", "after", "other"]
SVG = "http://www.w3.org/2000/svg"
TITLE, LETTER_OF_TITLE = 18.0, 1.15 * LETTER * 13 / 11  # pixels of a line, and of a bold letter


@dataclass(frozen=True)
class Mark:
    """A value to point out: the query's own (`"before"`), a new one (`"after"`), or another."""

    at: float
    text: str
    kind: Kind = "before"


@dataclass(frozen=True)
class Span:
    """A part of an axis to shade."""

    low: float
    high: float
    text: str = ""


@dataclass(frozen=True)
class Drawing:
    """What is drawn on an area of pixels; `active` if it holds links, which a picture may not."""

    width: float
    height: float
    inside: str
    active: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart(ABC):
    """A picture with a title, and the same in words for who does not see it.

    A template writes it as it is (`{{ chart }}`), under a heading of the page; a notebook and a
    file show its title, too. It has neither scripts nor styles of its own: classes and the page's
    style sheet give it its colours. `words` takes the place of what it would say of itself; without
    its title it is `width` times `height` pixels where there is room.
    """

    title: str = ""
    words: str = ""
    width: float = 560.0
    height: float = 260.0

    @abstractmethod
    def told(self) -> str:
        """What it shows, in words."""

    @abstractmethod
    def drawn(self) -> Drawing:
        """What is drawn."""

    def within(self, width: float) -> Self:
        """The same drawn for so many pixels, where it would be wider."""
        return replace(self, width=min(self.width, width))

    def svg(self) -> str:
        """The picture as an element of a page, which has its title as a heading."""
        return self._element(self.drawn(), {})

    def to_svg(self, path: str | Path) -> Path:
        """Write the picture to a file of its own, light or dark as its reader; its path."""
        values = {"light": LIGHT, "dark": DARK, "alone": True}
        style = _styles().get_template("chart.css.j2").render(values)
        target = require_path("path", path)
        page = self._element(self._titled(), {"xmlns": SVG}, f"<style>{style}</style>")
        write_whole(target, page.encode())
        return target

    def to_html(self) -> str:
        """The picture with its styles, on a ground of its own, as a fragment of any page."""
        palettes = {"light": LIGHT, "dark": DARK, "paper": PRINT}
        style = _styles().get_template("style.css.j2").render(palettes)
        drawn = self._element(self._titled(), {})
        card = f'<section class="mx-card">{drawn}</section>'
        return f'<div class="macex"><style>{style}</style>{card}</div>'

    def _titled(self) -> Drawing:
        """What is drawn, under the title."""
        drawing = self.drawn()
        lines = wrap(self.title, max(10, int(drawing.width / LETTER_OF_TITLE)))
        if not lines:
            return drawing
        heads = [text(2.0, 14 + TITLE * at, said, kind="mx-title") for at, said in enumerate(lines)]
        top = TITLE * len(lines) + 6
        under = element("g", {"transform": f"translate(0 {top:g})"}, drawing.inside)
        inside = "".join([*heads, under])
        return Drawing(drawing.width, drawing.height + top, inside, drawing.active)

    def _element(self, drawing: Drawing, more: dict[str, str], style: str = "") -> str:
        attributes = {
            **more,
            "class": "macex mx-chart" if style else "mx-chart",
            "viewBox": f"0 0 {drawing.width:g} {drawing.height:g}",
            "width": f"{drawing.width:g}",
            "height": f"{drawing.height:g}",
            "role": "group" if drawing.active else "img",
            "aria-label": str(self),
        }
        return element("svg", attributes, f"{style}{drawing.inside}")

    def __html__(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        parts = (self.title.rstrip("."), self.words or self.told())
        return ". ".join(said for said in parts if said)


@cache
def _styles() -> Any:
    from jinja2 import Environment, PackageLoader

    return Environment(
        loader=PackageLoader("macex.render", "templates"),
        autoescape=False,  # noqa: S701 - style sheets of our own, without any text of a caller
        trim_blocks=True,
        lstrip_blocks=True,
    )
