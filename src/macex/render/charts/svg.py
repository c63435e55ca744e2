"""Elements of a drawing as text: escaped, and the same bytes for the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import isfinite

LETTER = 6.3  # how wide a letter of the drawings' text is, about


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
