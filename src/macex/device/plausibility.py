"""How plausible rows are by distance, on a device: `macex.stages.plausibility.distance` again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, at_once, fused, place_of, position, smallest
from macex.device.layout import DeviceLayout
from macex.schema import MISSING
from macex.stages.plausibility.distance import NEAREST, Reference

BLOCK = 1 << 25  # distances held at once


class DeviceReference(NamedTuple):
    """Goal rows to compare with, as tables on the device."""

    layout: DeviceLayout
    columns: Array  # (F,) the column of each category met
    levels: Array  # (F,) its code
    hot: Array  # (F, R) float32
    numbers: tuple[int, ...]  # (M,) the columns of numbers
    scaled: Array  # (M, R) float32: their values
    blank: Array  # (M, R) bool: which of them are missing
    usual: Array  # (R,) sorted
    discrete: int  # how many columns are categories
    may_blank: bool  # whether any number may be missing

    def share(self, codes: Array) -> Array:
        """The plausibility of rows (n, d); 1 where there are too few goal rows."""
        xp, place = self.layout.place.xp, self.layout.place
        if not self.usual.shape[0]:
            return place.full(codes.shape[0], 1.0)
        step = max(1, at_once(place, BLOCK) // int(self.hot.shape[1]))
        parts = [
            self._share(codes[start : start + step]) for start in range(0, codes.shape[0], step)
        ]
        return xp.concat([*parts, place.full(0, 1.0)])

    def _share(self, codes: Array) -> Array:
        xp = self.layout.place.xp
        same = xp.astype(codes[:, self.columns] == self.levels, xp.float32)
        shared = xp.matmul(same, self.hot)
        mine = [codes[:, column : column + 1] for column in self.numbers]
        scales = [self.layout.scale[column] for column in self.numbers]
        blank = self.blank if self.may_blank else None
        mean = _nearest_mean(self.discrete - shared, mine, scales, self.scaled, blank)
        below = position(self.usual, mean - 1e-6, "left")
        return 1.0 - xp.astype(below, xp.float64) / int(self.usual.shape[0])


@fused
def _nearest_mean(
    total: Array, mine: list[Array], scales: list[Array], others: Array, blank: Array | None
) -> Array:
    """The mean distance (n,) to the nearest goal rows.

    `total` (n, R) is what the categories add. Each number adds how far `mine` (n, 1) is from that
    of `others` (M, R).
    """
    xp = place_of(total).xp
    for place, (values, scale) in enumerate(zip(mine, scales, strict=True)):
        odd = values <= MISSING
        plain = xp.where(odd, 0.0, values) / scale
        gap = xp.abs(xp.astype(plain, xp.float32) - others[place])
        if blank is not None:
            differs = xp.astype(odd != blank[place], xp.float32)
            gap = xp.where(odd | blank[place], differs, gap)
        total = total + gap
    return xp.mean(xp.astype(smallest(total, NEAREST), xp.float64), axis=1)


def usual_of(reference: Reference, layout: DeviceLayout, *, may_blank: bool) -> DeviceReference:
    """The tables of a reference; `may_blank` says that numbers of queries may be missing."""
    place, scales = layout.place, reference.scales
    discrete = [int(column) for column in scales.by_name if scales.discrete[column]]
    numbers = [int(column) for column in scales.by_name if not scales.discrete[column]]
    levels = zip(discrete, reference.levels, strict=True)
    columns = [column for column, level in levels for _ in level]
    codes = reference.codes[:, numbers].T
    blank = codes <= MISSING
    scaled = np.where(blank, 0.0, codes) / scales.scale[numbers, None]
    return DeviceReference(
        layout,
        place.array(np.array(columns, dtype=np.int64)),
        place.array(np.concatenate([*reference.levels, np.zeros(0)])),
        place.array(reference.hot),
        tuple(numbers),
        place.array(scaled.astype(np.float32)),
        place.array(blank),
        place.array(reference.usual),
        len(discrete),
        bool(blank.any()) or may_blank,
    )
