"""How plausible rows are by distance, on a device: `macex.stages.plausibility.distance` again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, ArrayPlace, at_once, position, smallest
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

    @property
    def place(self) -> ArrayPlace:
        """Where all that lives."""
        return self.layout.place

    def share(self, codes: Array) -> Array:
        """The plausibility of rows (n, d); 1 where there are too few goal rows."""
        xp = self.place.xp
        if not self.usual.shape[0]:
            return self.place.full(codes.shape[0], 1.0)
        step = max(1, at_once(self.place, BLOCK) // int(self.hot.shape[1]))
        parts = [
            self._share(codes[start : start + step]) for start in range(0, codes.shape[0], step)
        ]
        return xp.concat([*parts, self.place.full(0, 1.0)])

    def _share(self, codes: Array) -> Array:
        xp = self.place.xp
        same = xp.astype(codes[:, self.columns] == self.levels, xp.float32)
        total = self.discrete - xp.matmul(same, self.hot)
        for place, column in enumerate(self.numbers):
            total = total + self._gaps(codes[:, column : column + 1], place)
        mean = xp.mean(xp.astype(smallest(total, NEAREST), xp.float64), axis=1)
        below = position(self.usual, mean - 1e-6, "left")
        return 1.0 - xp.astype(below, xp.float64) / int(self.usual.shape[0])

    def _gaps(self, mine: Array, place: int) -> Array:
        """How far one number of the rows (n, 1) is from that of all goal rows, (n, R)."""
        xp = self.place.xp
        odd = mine <= MISSING
        plain = xp.where(odd, 0.0, mine) / self.layout.scale[self.numbers[place]]
        gap = xp.abs(xp.astype(plain, xp.float32) - self.scaled[place])
        if not self.may_blank:
            return gap
        differs = xp.astype(odd != self.blank[place], xp.float32)
        return xp.where(odd | self.blank[place], differs, gap)


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
