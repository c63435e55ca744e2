"""A chart as a value, several as one, and the elements of SVG that they are drawn with.

A chart draws itself in a notebook, a page, a report or a file of its own. Elements are text:
escaped, and the same bytes for the same numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import Literal, Self

from macex.errors import require_path
from macex.render.exports import write_whole

LETTER = 6.3  # how wide a letter of the drawings' text is, about
Kind = Literal["before", "after", "other"]
SVG = "http://www.w3.org/2000/svg"
HEAD, LETTER_OF_HEAD = 18.0, 1.15 * LETTER * 13 / 11  # pixels of a title's line, and of its letters


def element(name: str, attributes: Mapping[str, object], inside: str = "") -> str:
    """An element; attributes that are None are left out, `inside` is markup already.

    >>> element("rect", {"x": 1.0, "width": 2.25, "class": None})
    '<rect x="1" width="2.25"/>'
    """
    written = "".join(
        f' {key}="{number(value) if isinstance(value, float) else escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def rect(x: float, y: float, width: float, height: float, kind: str, told: str = "") -> str:
    """A rectangle of a class, which says `told` when it is pointed at."""
    places = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
    return element("rect", {"class": kind, **places}, title(told))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line of a class."""
    ends = {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)}
    return element("line", {"class": kind, **ends})


def circle(
    x: float, y: float, radius: float, kind: str, told: str = "", key: str | None = None
) -> str:
    """A dot of a class, which says `told` when it is pointed at; `key` is its `data-key`."""
    places = {"data-key": key, "cx": float(x), "cy": float(y), "r": float(radius)}
    return element("circle", {"class": kind, **places}, title(told))


def text(x: float, y: float, said: str, anchor: str | None = None, kind: str | None = None) -> str:
    """Words that begin at a place, or end there (`anchor="end"`), or have it as their middle."""
    places = {"x": float(x), "y": float(y), "text-anchor": anchor, "class": kind}
    return element("text", places, escape(said)) if said else ""


def title(told: str) -> str:
    """What an element says when it is pointed at, or read aloud."""
    return f"<title>{escape(told)}</title>" if told else ""


def number(value: float) -> str:
    """A coordinate with at most two decimals.

    >>> number(3.0), number(-0.001), number(12.345)
    ('3', '0', '12.35')
    """
    if not isfinite(value):
        return "0"
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def wide(said: str) -> float:
    """How wide words are, about."""
    return LETTER * len(said)


def shortened(said: str, room: float) -> str:
    """Words cut to a width.

    >>> shortened("Bachelors", 40.0)
    'Bache…'
    """
    most = max(2, int(room / LETTER + 1e-6))
    return said if len(said) <= most else f"{said[: most - 1]}…"


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
    """A picture with a title, and the same in words for readers who do not see it.

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
        """The same, drawn at most `width` pixels wide."""
        return replace(self, width=min(self.width, width))

    def svg(self) -> str:
        """The picture as an element of a page, which has its title as a heading."""
        return self._element(self.drawn(), {})

    def to_svg(self, path: str | Path) -> Path:
        """Write the picture to a file of its own, light or dark as its reader; its path."""
        from macex.render.html import style_sheet

        style = style_sheet("chart.css.j2", {"alone": True})
        target = require_path("path", path)
        page = self._element(self._titled(), {"xmlns": SVG}, f"<style>{style}</style>")
        write_whole(target, page.encode())
        return target

    def to_html(self) -> str:
        """The picture with its styles, on a ground of its own, as a fragment of any page."""
        from macex.render.html import style_sheet

        style = style_sheet("style.css.j2")
        drawn = self._element(self._titled(), {})
        card = f'<section class="mx-card">{drawn}</section>'
        return f'<div class="macex"><style>{style}</style>{card}</div>'

    def _titled(self) -> Drawing:
        """What is drawn, under the title."""
        drawing = self.drawn()
        lines = wrap(self.title, max(10, int(drawing.width / LETTER_OF_HEAD)))
        if not lines:
            return drawing
        heads = [text(2.0, 14 + HEAD * at, said, kind="mx-title") for at, said in enumerate(lines)]
        top = HEAD * len(lines) + 6
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


@dataclass(frozen=True)
class Stack(Chart):
    """Charts one under the other."""

    charts: tuple[Chart, ...]

    def told(self) -> str:
        """What each of them shows."""
        return ". ".join(map(str, self.charts)) or "nothing to draw"

    def within(self, width: float) -> Self:
        """The same, each chart drawn at most `width` pixels wide."""
        return replace(self, charts=tuple(chart.within(width) for chart in self.charts))

    def drawn(self) -> Drawing:
        """The charts, and their titles."""
        top, parts, wide = 0.0, [], 1.0
        for chart in self.charts:
            if chart.title:
                parts.append(text(2.0, top + 13, chart.title, kind="mx-axis-name"))
                top += HEAD
            drawing = chart.drawn()
            place = {"transform": f"translate(0 {top:g})"}
            parts.append(element("g", place, drawing.inside))
            top, wide = top + drawing.height, max(wide, drawing.width)
        return Drawing(wide, max(1.0, top), "".join(parts))
