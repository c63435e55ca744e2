"""The values of a column that a curve or a map goes through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.render.charts.axes import Axis, Categories, Measure
from macex.render.speech import Speech
from macex.schema import Array, Column
from macex.schema.columns import special

MOST_CATEGORIES = 24  # the most frequent ones, of columns that have more
TIMES = 5  # dates along an axis


@dataclass(frozen=True)
class AxisGrid:
    """Codes of a column in their order, and the axis they lie on."""

    column: Column
    codes: Array
    axis: Axis

    def place(self, code: float) -> float | None:
        """Where a code lies on the axis; None where it is not on it."""
        if not self.column.discrete:
            return None if special(np.array([code]))[0] else float(code)
        at = np.flatnonzero(self.codes == code)
        return float(at[0]) if len(at) else None


def grid(column: Column, own: float, points: int, speech: Speech) -> AxisGrid | None:
    """The values of a column and a row's own; None where there are fewer than two."""
    known = [] if special(np.array([own]))[0] else [own]
    if column.discrete:
        common = column.seen[np.argsort(-column.counts, kind="stable")[:MOST_CATEGORIES]]
        codes = np.unique([*common.tolist(), *known])
    else:
        low, high = min([column.low, *known]), max([column.high, *known])
        codes = np.unique(column.held(np.linspace(low, high, points)))
    if len(codes) < 2:
        return None
    return AxisGrid(column, codes, _axis(column, codes, speech))


def _axis(column: Column, codes: Array, speech: Speech) -> Axis:
    name = speech.name(column.name)
    if column.discrete:
        texts = (speech.value(column.name, column.value(code)) for code in codes.tolist())
        return Categories(name, tuple(texts))
    low, high = float(codes[0]), float(codes[-1])
    if column.kind != "datetime":
        return Measure(name, low, high)
    dates = column.held(np.linspace(low, high, TIMES)).tolist()
    texts = (speech.value(column.name, column.value(code)) for code in dates)
    return Measure(name, low, high, tuple(zip(dates, texts, strict=True)))
