"""The frame of a chart: its plot, its axes with their names, and its legend above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from macex.render.charts.axes import Axis, Categories
from macex.render.charts.svg import circle, line, rect, shortened, text, wide

GAP, LINE = 8.0, 17.0
WIDEST = 0.36  # of the width: the texts of the axis at the left
KEY = 16.0

Key = tuple[str, str]  # a class, and what it stands for


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
