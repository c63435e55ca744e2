"""Dots that are pointed out, with texts that lie neither on each other nor on other dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from macex.render.charts.axes import Axis
from macex.render.charts.chart import Kind
from macex.render.charts.frame import Frame
from macex.render.charts.svg import circle, text, wide

RADIUS, BESIDE = 5.0, 9.0
ABOVE, BELOW = 9.0, 3.0  # how far the letters of a line reach from where it stands
PLACES = (-5.0, 14.0, -19.0, 28.0, -33.0)  # where a text may stand, beside its dot, the best first

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Dot:
    """A point that is pointed out."""

    x: float
    y: float
    text: str = ""
    kind: Kind = "before"


def placed(dots: Sequence[Dot], x: Axis, y: Axis) -> list[str]:
    """Where the dots with a text lie, in words."""
    return [f"{dot.text} at {x.said(dot.x)}, {y.said(dot.y)}" for dot in dots if dot.text]


def labelled(frame: Frame, dots: Sequence[Dot]) -> list[str]:
    """The dots, and their texts where there is room; a text without room is told by its dot."""
    places = [(frame.across(dot.x), frame.up(dot.y)) for dot in dots]
    taken: list[Box] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in places]
    circles = [
        circle(x, y, RADIUS, f"mx-mark-{dot.kind}", dot.text)
        for dot, (x, y) in zip(dots, places, strict=True)
    ]
    texts = []
    for dot, place in zip(dots, places, strict=True):
        found = _free(frame, taken, place, wide(dot.text)) if dot.text else None
        if found is not None:
            (left, _, right, bottom), to_the_left = found
            taken.append(found[0])
            start, anchor = (right, "end") if to_the_left else (left, None)
            texts.append(text(start, bottom - BELOW, dot.text, anchor, "mx-told"))
    return circles + texts


def _free(
    frame: Frame, taken: Sequence[Box], place: tuple[float, float], long: float
) -> tuple[Box, bool] | None:
    """The first free box beside a dot, within the plot, and whether it is at the left."""
    x, y = place
    for down in PLACES:
        for to_the_left in (False, True):
            left = x - BESIDE - long if to_the_left else x + BESIDE
            box = left, y + down - ABOVE, left + long, y + down + BELOW
            inside = box[0] >= frame.left and box[2] <= frame.width
            inside = inside and box[1] >= frame.top - ABOVE and box[3] <= frame.bottom
            if inside and not any(_meet(box, other) for other in taken):
                return box, to_the_left
    return None


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
