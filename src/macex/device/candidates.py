"""Stage 1: single changes on offer.

A column with few values is offered whole, so that its neighbours have nothing to add and level 1
needs no completion. Of others a spread is offered, as in `macex.stages.candidates`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, position
from macex.device.layout import DeviceLayout, Offer
from macex.schema import MISSING


class DeviceSingles(NamedTuple):
    """Single changes on offer: entry a of every query concerns the column `column[a]`."""

    column: Array  # (A,) int
    value: Array  # (q, A)
    real: Array  # (q, A) bool
    starts: tuple[int, ...]  # where the entries of each offer begin, and the end

    def take(self, queries: Array) -> DeviceSingles:
        """The entries of some queries."""
        return self._replace(value=self.value[queries], real=self.real[queries])


def singles(layout: DeviceLayout, own: Array, neighbors: dict[int, Array]) -> DeviceSingles:
    """All single changes of queries (q, d); `neighbors` gives values (q, m) of some columns."""
    xp, place = layout.place.xp, layout.place
    floor, ceiling = layout.bounds(own)
    columns, values, real, starts = [], [], [], [0]
    for offer in layout.offers:
        column = offer.column
        mine, ends = own[:, column : column + 1], (floor[:, column], ceiling[:, column])
        value, ok = _offered(layout, offer, mine, ends)
        if offer.beside:
            value, ok = _joined(layout, value, ok, _beside(layout, offer, mine))
        if column in neighbors:
            value, ok = _joined(layout, value, ok, neighbors[column])
        ok = ok & (value != mine) & (value > MISSING)
        ok = ok & (value >= ends[0][:, None]) & (value <= ends[1][:, None])
        columns.append(place.zeros(value.shape[1], xp.int64) + column)
        values.append(value)
        real.append(ok)
        starts.append(starts[-1] + int(value.shape[1]))
    if not columns:
        nothing = place.zeros((own.shape[0], 0), xp.float64)
        return DeviceSingles(place.arange(0), nothing, nothing > 0, (0,))
    return DeviceSingles(
        xp.concat(columns), xp.concat(values, axis=1), xp.concat(real, axis=1), tuple(starts)
    )


def _offered(
    layout: DeviceLayout, offer: Offer, mine: Array, ends: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The values of one column (q, v), and which of them count."""
    xp = layout.place.xp
    if offer.ladder is not None:
        return _with_ends(layout, offer, ends)
    shape = (mine.shape[0], int(offer.values.shape[0]))
    value = xp.broadcast_to(offer.values, shape)
    if offer.permits is None:
        return value, xp.ones_like(value, dtype=xp.bool)
    last = offer.permits.shape[0] - 1
    present = xp.astype(xp.where(mine[:, 0] < 0, float(last), mine[:, 0]), xp.int64)
    return value, offer.permits[xp.clip(present, 0, last)]


def _with_ends(
    layout: DeviceLayout, offer: Offer, ends: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Seen values spread evenly between each query's floor and ceiling, and those two."""
    xp, column = layout.place.xp, offer.column
    value, new = quantiles(layout, offer, *ends)
    low, high = xp.clip(ends[0], layout.low[column]), ends[1]
    high = xp.minimum(high, layout.high[column])
    columns = xp.zeros_like(low, dtype=xp.int64) + column
    step = layout.step[column]
    first = layout.snapped(low, columns)
    first = xp.where(first < low, layout.snapped(first + step, columns), first)
    final = layout.snapped(high, columns)
    final = xp.where(final > high, layout.snapped(final - step, columns), final)
    inside = xp.stack([ends[0] >= layout.low[column], ends[1] <= layout.high[column]], axis=1)
    edges = xp.stack([first, final], axis=1)
    return xp.concat([value, edges], axis=1), xp.concat([new, inside], axis=1)


def quantiles(
    layout: DeviceLayout, offer: Offer, floor: Array, ceiling: Array
) -> tuple[Array, Array]:
    """Evenly spread seen values between floor and ceiling, (q, rungs), and which are new."""
    xp = layout.place.xp
    if offer.ladder is None:
        raise TypeError("only a wide column has a ladder")
    seen, below = offer.ladder
    first = position(seen, floor, "left")
    last = position(seen, ceiling, "right")
    low, high = below[first][:, None], below[last][:, None]
    step = layout.place.arange(offer.rungs)[None, :]
    share = xp.astype(step, xp.float64) / max(offer.rungs - 1, 1)
    index = position(below, low + share * (high - low - 1), "right") - 1
    few = (last - first <= offer.rungs)[:, None]
    index = xp.where(few, first[:, None] + step, index)
    index = xp.minimum(index, xp.maximum(last - 1, first)[:, None])
    values = seen[xp.clip(index, 0, int(seen.shape[0]) - 1)]
    new = xp.ones_like(values, dtype=xp.bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    return values, new


def _beside(layout: DeviceLayout, offer: Offer, mine: Array) -> Array:
    """Seen values near the query's own, on either side; itself where there are none, (q, m)."""
    xp, place = layout.place.xp, layout.place
    if offer.ladder is None:
        raise TypeError("only a wide column has a ladder")
    seen = offer.ladder[0]
    steps = place.array(2 ** np.arange(offer.beside))
    below = position(seen, mine, "left") - steps
    above = position(seen, mine, "right") + steps - 1
    index = xp.concat([below, above], axis=1)
    last = int(seen.shape[0]) - 1
    inside = (index >= 0) & (index <= last) & (mine > MISSING)
    return xp.where(inside, seen[xp.clip(index, 0, last)], mine)


def _joined(layout: DeviceLayout, value: Array, ok: Array, more: Array) -> tuple[Array, Array]:
    """Further values (q, m), those on offer already left out."""
    xp = layout.place.xp
    fresh = ~xp.any((more[:, :, None] == value[:, None, :]) & ok[:, None, :], axis=2)
    return xp.concat([value, more], axis=1), xp.concat([ok, fresh], axis=1)
