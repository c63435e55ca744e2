"""The drawings of a report: points, lines over powers of ten, and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, isfinite, log10

from macex.render.charts import Bar, Bars, Chart, Curve, Line, Measure, Point, Scatter

Place = tuple[float, float]


def scatter(points: Mapping[str, Place], across: str, up: str) -> Chart:
    """A point for each method; what is not finite is left out."""
    real = {name: place for name, place in points.items() if all(map(isfinite, place))}
    x, y = (
        Measure.over(axis, [place[at] for place in real.values()])
        for at, axis in enumerate((across, up))
    )
    drawn = [
        Point(*place, at, f"{name}: {place[0]:.2f}, {place[1]:.2f}")
        for at, (name, place) in enumerate(real.items())
    ]
    return Scatter(x, y, tuple(drawn), tuple(real))


def curves(lines: Mapping[str, Sequence[Place]], across: str, up: str) -> Chart:
    """Lines over powers of ten; what is not above 0 is left out."""
    real = {name: [(a, b) for a, b in line if a > 0 and b > 0] for name, line in lines.items()}
    x, y = (
        powers(axis, [log10(place[at]) for line in real.values() for place in line])
        for at, axis in enumerate((across, up))
    )
    drawn = [
        Line(tuple(log10(a) for a, _ in line), tuple(log10(b) for _, b in line), name)
        for name, line in real.items()
    ]
    said = [
        f"{name} from {line[0][1]:.3g} at {across} {line[0][0]:g} to {line[-1][1]:.3g} at "
        f"{line[-1][0]:g}"
        for name, line in real.items()
        if line
    ]
    return Curve(x, y, tuple(drawn), words="; ".join(said) or "nothing")


def bars(pairs: Sequence[tuple[str, float]]) -> Chart:
    """A bar for each name."""
    return Bars(tuple(Bar(name, value, f"{value:.2f}") for name, value in pairs))


def powers(name: str, places: Sequence[float]) -> Measure:
    """An axis of powers of ten that holds exponents."""
    low, high = floor(min(places, default=0.0)), ceil(max(places, default=0.0))
    high += low == high
    ticks = tuple((float(at), f"{10.0**at:,g}") for at in range(low, high + 1))
    return Measure(name, low - 0.1, high + 0.1, ticks)
