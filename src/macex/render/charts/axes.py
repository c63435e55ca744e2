"""The axes of a chart, the frame that they make with a legend, and labelled dots inside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor, isfinite, log10

from macex.render.charts.chart import Kind, circle, line, rect, shortened, text, wide
from macex.render.values import shown

STEPS = (1, 2, 2.5, 5, 10)
LEAST = 1e-12  # of its size: how far apart the ends of an axis are at least
GAP, LINE = 8.0, 17.0
WIDEST = 0.36  # of the width: the texts of the axis at the left
KEY = 16.0
Key = tuple[str, str]  # a class, and what it stands for
RADIUS, BESIDE = 5.0, 9.0
ABOVE, BELOW = 9.0, 3.0  # how far the letters of a line reach from where it stands
PLACES = (-5.0, 14.0, -19.0, 28.0, -33.0)  # where a text may stand, beside its dot, the best first
Box = tuple[float, float, float, float]  # left, top, right, bottom


def percent(value: float) -> str:
    """A share as the ticks of an axis say it.

    >>> percent(0.25)
    '25 %'
    """
    return f"{100 * value:.3g} %"


@dataclass(frozen=True)
class Measure:
    """Numbers from `low` to `high`. `ticks` are places with their texts; without any, round ones.

    `write` makes the text of a value that is not a plain number, such as a time.
    """

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    write: Callable[[float], str] = field(default=shown, repr=False, compare=False)

    @staticmethod
    def over(name: str, values: Sequence[float], room: float = 0.04) -> Measure:
        """An axis that holds all finite values, with room at both ends.

        >>> Measure.over("age", [20.0, 30.0], room=0.1)
        Measure(name='age', low=19.0, high=31.0, ticks=())
        """
        known = [float(value) for value in values if isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if high - low <= LEAST * max(1.0, abs(low), abs(high)):
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        space = room * (high - low)
        return Measure(name, low - space, high + space)

    @staticmethod
    def shares(name: str) -> Measure:
        """An axis of shares, in percent."""
        return Measure(name, 0.0, 1.0, tuple((at / 4, percent(at / 4)) for at in range(5)))

    def share(self, value: float) -> float:
        """Where a value lies: 0 is the axis's beginning, 1 its end; beyond is held to the ends."""
        span = self.high - self.low
        part = (value - self.low) / span if span > 0 else 0.5
        return min(1.0, max(0.0, part))

    def marks(self, most: int) -> list[tuple[float, str]]:
        """About `most` values with their texts.

        >>> Measure("age", 17.0, 90.0).marks(4)
        [(20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80')]
        """
        if self.ticks:
            return list(self.ticks[:: max(1, ceil(len(self.ticks) / max(1, most + 1)))])
        step = _step((self.high - self.low) / max(1, most))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        places = [round(at * step, 12) for at in range(first, last + 1)]
        return [(place, self.write(place)) for place in places]

    def said(self, value: float) -> str:
        """A value as text."""
        return self.write(float(value))

    def bin(self, at: int, count: int) -> str:
        """The ends of one bin of equal width, in words."""
        step = (self.high - self.low) / count
        ends = (self.write(float(f"{self.low + n * step:.4g}")) for n in (at, at + 1))
        return "from {} to {}".format(*ends)


@dataclass(frozen=True)
class Categories:
    """Categories side by side; a value is the place of one, counted from 0."""

    name: str
    texts: tuple[str, ...]

    def share(self, value: float) -> float:
        """Where the middle of a category lies, from 0 to 1."""
        return (value + 0.5) / max(1, len(self.texts))

    def marks(self, most: int) -> list[tuple[float, str]]:
        """Categories with their texts: all, or evenly chosen ones where there is no room."""
        step = max(1, ceil(len(self.texts) / max(1, most)))
        return [(float(at), self.texts[at]) for at in range(0, len(self.texts), step)]

    def said(self, value: float) -> str:
        """A category as text."""
        return self.texts[int(value)]

    def bin(self, at: int, count: int) -> str:
        """One of the categories, in words."""
        del count
        return f"at {self.texts[at]}"


Axis = Measure | Categories


def _step(least: float) -> float:
    """The round step that is at least so large."""
    power = 10.0 ** floor(log10(least)) if least > 0 and isfinite(least) else 1.0
    return next(step * power for step in STEPS if step * power >= least * (1 - 1e-9))


@dataclass(frozen=True)
class Frame:
    """Two axes on an area of pixels. `keys` are told in a legend; `grid` draws lines across."""

    x: Axis
    y: Axis
    width: float = 560.0
    height: float = 260.0
    keys: tuple[Key, ...] = ()
    grid: bool = True

    @cached_property
    def left(self) -> float:
        """Where the plot begins."""
        longest = max((wide(said) for _, said in self._rows), default=0.0)
        return min(longest, WIDEST * self.width) + 2 * GAP

    @cached_property
    def top(self) -> float:
        """Where the plot begins, from above."""
        return GAP + LINE * len(self._legend) + (LINE + 5) * bool(self.y.name)

    @property
    def right(self) -> float:
        """Where the plot ends."""
        return self.width - 2 * GAP

    @property
    def bottom(self) -> float:
        """Where the plot ends, from above."""
        return self.height - LINE - (LINE if self.x.name else 0) - 2

    def across(self, value: float) -> float:
        """Where a value of the lower axis lies."""
        return self.left + self.x.share(value) * (self.right - self.left)

    def up(self, value: float) -> float:
        """Where a value of the axis at the left lies."""
        return self.bottom - self.y.share(value) * (self.bottom - self.top)

    def drawn(self) -> str:
        """The axes, their names and the legend, to lie behind what is plotted."""
        return self._keys() + self._left_axis() + self._lower_axis()

    @cached_property
    def _rows(self) -> list[tuple[float, str]]:
        return self.y.marks(max(2, int((self.height - 60) / 34)) if self._measured else 60)

    @property
    def _measured(self) -> bool:
        return not isinstance(self.y, Categories)

    def _left_axis(self) -> str:
        room = self.left - 2 * GAP
        drawn = [text(2.0, self.top - 11, shortened(self.y.name, self.width), kind="mx-axis-name")]
        for value, said in self._rows:
            y = self.up(value)
            if self.grid and self._measured:
                drawn.append(line(self.left, y, self.right, y, "mx-grid"))
            place = self.left - GAP, y + 4
            drawn.append(text(*place, shortened(said, room), "end"))
        return "".join(drawn)

    def _lower_axis(self) -> str:
        marks = self._columns
        band = (self.right - self.left) / max(1, len(marks))
        discrete = isinstance(self.x, Categories)
        drawn = [line(self.left, self.bottom, self.right, self.bottom, "mx-axis")]
        for value, said in marks:
            x = self.across(value)
            written = shortened(said, band - 4) if discrete else said
            half = wide(written) / 2
            x = min(max(x, half), self.width - half)
            drawn.append(text(x, self.bottom + 15, written, "middle"))
        middle = (self.left + self.right) / 2
        name = shortened(self.x.name, self.width)
        drawn.append(text(middle, self.height - 5, name, "middle", "mx-axis-name"))
        return "".join(drawn)

    @cached_property
    def _columns(self) -> list[tuple[float, str]]:
        room = self.right - self.left
        if isinstance(self.x, Categories):
            return self.x.marks(max(1, int(room / 34)))
        marks = self.x.marks(6)
        longest = max((wide(said) + 12 for _, said in marks), default=1.0)
        return self.x.marks(max(1, min(6, int(room / longest) - 1)))

    @cached_property
    def _legend(self) -> list[list[tuple[float, Key]]]:
        """The keys in lines, each with its place."""
        lines: list[list[tuple[float, Key]]] = []
        at = self.width
        for key in self.keys:
            long = KEY + wide(key[1]) + 2 * GAP
            if at + long > self.width:
                lines.append([])
                at = GAP
            lines[-1].append((at, key))
            at += long
        return lines

    def _keys(self) -> str:
        drawn = []
        for row, keys in enumerate(self._legend):
            y = GAP + LINE * row + 6
            for x, (kind, said) in keys:
                drawn += [key_shape(kind, x + 5, y), text(x + KEY, y + 4, said)]
        return "".join(drawn)


def key_shape(kind: str, x: float, y: float) -> str:
    """A small sample of what a class looks like."""
    if kind.startswith("mx-line"):
        return line(x - 6, y, x + 6, y, kind)
    if kind.startswith(("mx-dot", "mx-mark")):
        return circle(x, y, 4.0, kind)
    return rect(x - 5, y - 5, 10.0, 10.0, kind)


def keyed(pairs: Sequence[Key]) -> tuple[Key, ...]:
    """Keys without repetition, and without those that say nothing."""
    return tuple(dict.fromkeys(pair for pair in pairs if pair[1]))


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
    """The dots, and their texts where there is room; a dot shows its text when it is pointed at."""
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
