"""Values of the nearest training rows that meet the goal, for columns that are not offered whole.

The distances of `macex.stages.neighbors` as one matrix product, and the counting of
`macex.stages.candidates.popular` by comparing all neighbours of a query with each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, along, at_once, best_of, lowest, position
from macex.device.layout import DeviceLayout
from macex.engine.fitted import Fitted
from macex.schema import MISSING, row_keys
from macex.schema import Array as HostArray
from macex.stages.candidates import Neighbors
from macex.stages.neighbors import WIDE

BLOCK = 1 << 24  # distances held at once
MOST_ROWS = 200_000  # that queries are compared with: evenly spread ones, where there are more


class Feature(NamedTuple):
    """How one column is compared."""

    column: int
    edges: Array | None  # of its bins; None for categories
    top: int  # the highest bin
    bins: Array  # (R,) of the rows
    values: Array  # (R,) of the rows

    @property
    def one_hot(self) -> bool:
        """Whether its categories are few enough for a table."""
        return self.edges is None and self.top < WIDE


class Nearby(NamedTuple):
    """Training rows that meet a goal, ready to be compared with queries."""

    layout: DeviceLayout
    choice: Neighbors
    features: tuple[Feature, ...]
    table: Array  # (R, F) float32
    wide: tuple[int, ...]  # the columns whose values are wanted

    def values(self, own: Array) -> dict[int, Array]:
        """For each wide column the values most of the nearest rows have, (q, m) each.

        Where there are fewer, the query's own value fills the gap.
        """
        xp, place, rows = self.layout.place.xp, self.layout.place, int(self.table.shape[0])
        if not self.wide or not rows:
            return {}
        step = max(1, at_once(place, BLOCK) // rows)
        found = [self._some(own[at : at + step]) for at in range(0, own.shape[0], step)]
        empty = place.full((0, self.choice.values), 0.0)
        return {
            column: xp.concat([*(part[column] for part in found), empty], axis=0)
            for column in self.wide
        }

    def _some(self, own: Array) -> dict[int, Array]:
        xp = self.layout.place.xp
        bins = {feature.column: self._binned(feature, own) for feature in self.features}
        near, other = self._nearest(self._gaps(bins))
        floor, ceiling = self.layout.bounds(own)
        picked, total = {}, []
        for feature in (f for f in self.features if f.column in self.wide):
            column = feature.column
            value, mine = feature.values[near], own[:, column : column + 1]
            usable = other & (feature.bins[near] != bins[column][:, None]) & (value != mine)
            usable = usable & (value > MISSING)
            usable = (
                usable & (value >= floor[:, column, None]) & (value <= ceiling[:, column, None])
            )
            picked[column] = self._popular(feature.bins[near], value, usable, mine)
            total.append(xp.sum(xp.astype(usable, xp.int64), axis=1))
        if len(picked) <= self.choice.columns:
            return picked
        return self._foremost(own, picked, xp.stack(total, axis=1))

    def _nearest(self, gaps: Array) -> tuple[Array, Array]:
        """The nearest rows, those first that come first, and which of them count.

        A row that agrees with the query in all compared columns does not.
        """
        xp, place, rows = self.layout.place.xp, self.layout.place, self.table.shape[0]
        turn = xp.astype(place.arange(rows), xp.float64)
        near = lowest(xp.astype(gaps, xp.float64) * rows + turn, self.choice.k + 1)
        other = along(gaps, near) > 0
        return near, other & (
            xp.cumulative_sum(xp.astype(other, xp.int64), axis=1) <= self.choice.k
        )

    def _foremost(self, own: Array, picked: dict[int, Array], total: Array) -> dict[int, Array]:
        """Only the columns in which most neighbours differ from the query."""
        xp, place = self.layout.place.xp, self.layout.place
        keys = xp.astype(place.arange(len(picked)) - total * len(picked), xp.float64)
        rank = xp.argsort(xp.argsort(keys, axis=1), axis=1)
        return {
            column: xp.where(rank[:, at, None] < self.choice.columns, values, own[:, column, None])
            for at, (column, values) in enumerate(picked.items())
        }

    def _binned(self, feature: Feature, own: Array) -> Array:
        xp = self.layout.place.xp
        mine = own[:, feature.column]
        odd = mine <= MISSING
        plain = xp.where(odd, 0.0, mine)
        if feature.edges is None:
            binned = xp.astype(plain, xp.int64)
        else:
            binned = position(feature.edges, plain, "right")
        return xp.where(odd, xp.where(mine == MISSING, -1, -2), binned)

    def _gaps(self, bins: dict[int, Array]) -> Array:
        """Squared distances (q, R)."""
        xp = self.layout.place.xp
        query = encoded(self.layout, self.features, bins)
        gaps = xp.sum(query * query, axis=1)[:, None] + xp.sum(self.table * self.table, axis=1)
        gaps = gaps - 2 * xp.matmul(query, self.table.T)
        for feature in self.features:
            if feature.edges is None and not feature.one_hot:
                differs = bins[feature.column][:, None] != feature.bins
                gaps = gaps + 2 * xp.astype(differs, xp.float32)
        return gaps

    def _popular(self, bins: Array, values: Array, usable: Array, mine: Array) -> Array:
        """The median values of the most frequent bins, nearest to the query's own first."""
        xp, place = self.layout.place.xp, self.layout.place
        turn = place.arange(values.shape[1])
        same = usable[:, None, :] & (bins[:, :, None] == bins[:, None, :])
        earlier = (values[:, None, :] == values[:, :, None]) & (turn[None, :] < turn[:, None])
        earlier = earlier | (values[:, None, :] < values[:, :, None])
        count = xp.sum(xp.astype(same, xp.int64), axis=2)
        below = xp.sum(xp.astype(same & earlier, xp.int64), axis=2)
        left = usable & (below == (count - 1) // 2)
        line, picked = place.arange(values.shape[0]), []
        for _ in range(self.choice.values):
            best = best_of(left, -count, xp.abs(values - mine), values)
            picked.append(xp.where(left[line, best], values[line, best], mine[:, 0]))
            left = left & (turn != best[:, None])
        return xp.stack(picked, axis=1)


def encoded(layout: DeviceLayout, features: tuple[Feature, ...], bins: dict[int, Array]) -> Array:
    """Bins as float32 features: one-hot for categories, the bin itself for numbers."""
    xp, place = layout.place.xp, layout.place
    count = next(iter(bins.values())).shape[0]
    parts = [place.zeros((count, 0), xp.float32)]
    for feature in features:
        mine = bins[feature.column][:, None]
        if feature.one_hot:
            parts.append(xp.astype(mine == place.arange(feature.top + 2) - 1, xp.float32))
        elif feature.edges is not None:
            missing = mine < 0
            parts += [xp.astype(xp.where(missing, 0, mine), xp.float32)]
            parts += [xp.astype(missing, xp.float32) * 5]
    return xp.concat(parts, axis=1)


def nearby(fitted: Fitted, layout: DeviceLayout, meeting: HostArray) -> Nearby:
    """The training rows `meeting` a goal, without those that agree in all compared columns."""
    choice, place = fitted.options.neighbors, layout.place
    columns = sorted(offer.column for offer in layout.offers)
    if choice.match == "all" or not columns:
        columns = list(range(fitted.binned.shape[1]))
    rows = np.intersect1d(meeting, fitted.index.distinct, assume_unique=True)
    rows = rows[:: -(-len(rows) // MOST_ROWS) or 1]
    _, first = np.unique(row_keys(fitted.binned[rows][:, columns]), return_index=True)
    rows = rows[np.sort(first)]
    features = tuple(
        Feature(
            column,
            None if (edges := fitted.bins.edges[column]) is None else place.array(edges),
            int(fitted.index.top[column]),
            place.array(fitted.binned[rows, column].astype(np.int64)),
            place.array(fitted.ground.codes[rows, column]),
        )
        for column in columns
    )
    wide = tuple(offer.column for offer in layout.offers if offer.wide)
    bins = {feature.column: feature.bins for feature in features}
    return Nearby(layout, choice, features, encoded(layout, features, bins), wide)
