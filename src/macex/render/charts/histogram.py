"""How many rows have which values: a histogram, with values pointed out and a part shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from macex.render.charts.axes import Axis, Measure
from macex.render.charts.chart import Chart, Drawing, Mark, Span
from macex.render.charts.frame import Frame, keyed
from macex.render.charts.svg import circle, line, rect, text, wide
from macex.render.values import shown


@dataclass(frozen=True)
class Layer:
    """Some of the rows: how many fall into each bin. Layers stand on top of each other."""

    name: str
    counts: tuple[float, ...]


@dataclass(frozen=True)
class Histogram(Chart):
    """Bars of equal width from one end of `x` to the other, or one for each category.

    >>> ages = Measure("age", 20.0, 60.0)
    >>> chart = Histogram(ages, (Layer("", (4, 9, 2, 1)),), marks=(Mark(33.0, "now"),), title="Age")
    >>> print(chart)
    Age. 16 rows by age, most of them from 30 to 40; now: 33
    """

    x: Axis
    layers: tuple[Layer, ...]
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()
    of: str = "rows"

    def told(self) -> str:
        """The number of rows, where most are, and what is pointed out."""
        sums = self._sums
        total, most = sum(sums), max(range(len(sums)), key=sums.__getitem__, default=0)
        said = f"{shown(float(total))} {self.of} by {self.x.name}"
        if total:
            said += f", most of them {self.x.bin(most, len(sums))}"
        pointed = [f"{mark.text}: {self.x.said(mark.at)}" for mark in self.marks if mark.text]
        ranges = [
            f"{span.text}: {self.x.said(span.low)} to {self.x.said(span.high)}"
            for span in self.spans
            if span.text
        ]
        return "; ".join([said, *pointed, *ranges])

    def drawn(self) -> Drawing:
        """The bars between the shaded part and the marks."""
        keys = [(f"mx-bar-{at % 6}", layer.name) for at, layer in enumerate(self.layers)]
        highest = max([*self._sums, 1.0])
        frame = Frame(
            self.x,
            Measure(self.of, 0.0, 1.08 * highest),
            self.width,
            self.height,
            keyed(keys if len(self.layers) > 1 else []),
        )
        parts = [frame.drawn(), *self._shades(frame), *self._bars(frame), *self._marks(frame)]
        return Drawing(self.width, self.height, "".join(parts))

    @property
    def _sums(self) -> list[float]:
        return [float(sum(counts)) for counts in zip(*(_of(self.layers)), strict=True)]

    def _shades(self, frame: Frame) -> list[str]:
        return [
            rect(left, frame.top, max(2.0, right - left), frame.bottom - frame.top, "mx-goal")
            for left, right in (
                (frame.across(span.low), frame.across(span.high)) for span in self.spans
            )
        ]

    def _bars(self, frame: Frame) -> list[str]:
        count = max(1, len(self._sums))
        step, gap = (frame.right - frame.left) / count, 1.0 if count > 12 else 2.0
        below, drawn = [0.0] * count, []
        for order, layer in enumerate(self.layers):
            for at, value in enumerate(layer.counts):
                top, bottom = frame.up(below[at] + value), frame.up(below[at])
                below[at] += value
                if value:
                    name = layer.name or self.x.name
                    told = f"{name} {self.x.bin(at, count)}: {shown(float(value))}"
                    where = frame.left + at * step + gap / 2, top, step - gap, bottom - top
                    drawn.append(rect(*where, f"mx-bar-{order % 6}", told))
        return drawn

    def _marks(self, frame: Frame) -> list[str]:
        drawn = []
        for order, mark in enumerate(self.marks):
            x = frame.across(mark.at)
            drawn.append(line(x, frame.top, x, frame.bottom, f"mx-line-{mark.kind}"))
            drawn.append(circle(x, frame.top, 4.0, f"mx-mark-{mark.kind}", mark.text))
            y = frame.top + 4 + 14 * order
            said = f"{mark.text} {self.x.said(mark.at)}".strip()
            fits = x + 8 + wide(said) < frame.right
            drawn.append(text(x + (8 if fits else -8), y, said, None if fits else "end", "mx-told"))
        return drawn


def _of(layers: Sequence[Layer]) -> list[tuple[float, ...]]:
    return [layer.counts for layer in layers] or [()]
