"""Small drawings as SVG: points, lines and bars, with axes, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 340, 240
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 10, 40
HUES = (212, 28, 140, 0, 275, 50, 185, 320, 95, 240, 15, 160)

Point = tuple[float, float]
Scale = Callable[[float], float]


def scatter(points: Mapping[str, Point], across: str, up: str) -> str:
    """A named point for each method, with a legend beside the axes."""
    real = {name: point for name, point in points.items() if all(map(math.isfinite, point))}
    if not real:
        return _drawing("")
    x = _scale([a for a, _ in real.values()], LEFT, WIDTH - RIGHT)
    y = _scale([b for _, b in real.values()], HEIGHT - BOTTOM, TOP)
    marks = [
        f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="5" fill="{_colour(at)}" fill-opacity="0.8">'
        f"<title>{escape(name)}: {a:.2f}, {b:.2f}</title></circle>"
        for at, (name, (a, b)) in enumerate(real.items())
    ]
    xs, ys = [a for a, _ in real.values()], [b for _, b in real.values()]
    axes = _axes(across, up) + _ends(x, y, xs, ys)
    return _drawing(axes + "".join(marks) + _legend(list(real)), legend=True)


def curves(lines: Mapping[str, Sequence[Point]], across: str, up: str) -> str:
    """Lines over logarithmic axes; what is not above 0 is left out."""
    real = {
        name: [(math.log10(a), math.log10(b)) for a, b in points if a > 0 and b > 0]
        for name, points in lines.items()
    }
    real = {name: points for name, points in real.items() if points}
    if not real:
        return _drawing("")
    xs = [a for points in real.values() for a, _ in points]
    ys = [b for points in real.values() for _, b in points]
    x, y = _scale(xs, LEFT, WIDTH - RIGHT), _scale(ys, HEIGHT - BOTTOM, TOP)
    drawn = []
    for at, (name, points) in enumerate(real.items()):
        way = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        drawn.append(
            f'<polyline points="{way}" fill="none" stroke="{_colour(at)}" stroke-width="2">'
            f"<title>{escape(name)}</title></polyline>"
        )
    powers = [10**value for value in xs], [10**value for value in ys]
    axes = _axes(across, up) + _ends(x, y, xs, ys, powers)
    return _drawing(axes + "".join(drawn) + _legend(list(real)), legend=True)


def bars(pairs: Sequence[tuple[str, float]]) -> str:
    """A bar for each name, the longest across the whole drawing."""
    longest = max((value for _, value in pairs), default=0) or 1
    drawn = []
    for at, (name, value) in enumerate(pairs):
        top = TOP + 22 * at
        width = max(0.0, value / longest) * (WIDTH - 190)
        drawn.append(
            f'<text x="112" y="{top + 13}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="118" y="{top + 2}" width="{width:.1f}" height="15" fill="{_colour(0)}"/>'
            f'<text x="{122 + width:.1f}" y="{top + 13}">{value:.2f}</text>'
        )
    return _svg("".join(drawn), WIDTH, TOP * 2 + 22 * len(pairs))


def _scale(values: Sequence[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = low - margin, high + margin
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _ends(
    x: Scale,
    y: Scale,
    xs: Sequence[float],
    ys: Sequence[float],
    said: tuple[Sequence[float], Sequence[float]] | None = None,
) -> str:
    """The least and the greatest number of each axis, in words."""
    x_said, y_said = said or (xs, ys)
    texts = [
        f'<text x="{x(place):.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">'
        f"{word:,.3g}</text>"
        for place, word in {(min(xs), min(x_said)), (max(xs), max(x_said))}
    ]
    texts += [
        f'<text x="{LEFT - 6}" y="{y(place) + 4:.1f}" text-anchor="end">{word:,.3g}</text>'
        for place, word in {(min(ys), min(y_said)), (max(ys), max(y_said))}
    ]
    return "".join(sorted(texts))


def _axes(across: str, up: str) -> str:
    corner = f"{LEFT},{TOP} {LEFT},{HEIGHT - BOTTOM} {WIDTH - RIGHT},{HEIGHT - BOTTOM}"
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'<polyline points="{corner}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">'
        f"{escape(up)}</text>"
    )


def _legend(names: Sequence[str]) -> str:
    return "".join(
        f'<circle cx="{WIDTH + 14}" cy="{TOP + 8 + 16 * at}" r="4" fill="{_colour(at)}"/>'
        f'<text x="{WIDTH + 24}" y="{TOP + 12 + 16 * at}">{escape(name)}</text>'
        for at, name in enumerate(names)
    )


def _colour(at: int) -> str:
    return f"hsl({HUES[at % len(HUES)]} 65% 50%)"


def _drawing(inside: str, *, legend: bool = False) -> str:
    return _svg(inside, WIDTH + (150 if legend else 0), HEIGHT)


def _svg(inside: str, width: float, height: float) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'font-size="11" font-family="system-ui, sans-serif" fill="currentColor">{inside}</svg>'
    )
