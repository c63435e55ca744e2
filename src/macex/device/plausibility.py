"""How usual rows are among those that meet the goal: `macex.stages.plausibility` on a device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, Place, lowest
from macex.device.layout import Layout
from macex.schema import MISSING
from macex.stages.plausibility import NEAREST, Reference

BLOCK = 1 << 28  # distances held at once


class Usual(NamedTuple):
    """Goal rows to compare with, as tables on the device."""

    layout: Layout
    units: Array  # (F,) the unit of each category met
    levels: Array  # (F,) its code
    hot: Array  # (F, R) float32
    numbers: tuple[tuple[int, Array, Array], ...]  # unit, scaled values (R,), which are missing
    usual: Array  # (R,) sorted
    discrete: int  # how many units are categories

    @property
    def place(self) -> Place:
        """Where all that lives."""
        return self.layout.place

    def share(self, codes: Array) -> Array:
        """The plausibility of rows by unit (n, U); 1 where there are too few goal rows."""
        xp = self.place.xp
        if not self.usual.shape[0]:
            return self.place.full(codes.shape[0], 1.0)
        step = max(1, BLOCK // int(self.hot.shape[1]))
        parts = [
            self._share(codes[start : start + step]) for start in range(0, codes.shape[0], step)
        ]
        return xp.concat([*parts, self.place.full(0, 1.0)])

    def _share(self, codes: Array) -> Array:
        xp = self.place.xp
        same = xp.astype(codes[:, self.units] == self.levels, xp.float32)
        total = self.discrete - xp.matmul(same, self.hot)
        for unit, scaled, missing in self.numbers:
            mine = codes[:, unit : unit + 1]
            odd = mine <= MISSING
            plain = xp.where(odd, 0.0, mine) / self.layout.scale[unit]
            gap = xp.abs(xp.astype(plain, xp.float32) - scaled)
            differs = xp.astype(odd != missing, xp.float32)
            total = total + xp.where(odd | missing, differs, gap)
        near = xp.take_along_axis(total, lowest(total, NEAREST), axis=1)
        mean = xp.mean(xp.astype(near, xp.float64), axis=1)
        below = xp.searchsorted(self.usual, mean - 1e-6, side="left")
        return 1.0 - xp.astype(below, xp.float64) / int(self.usual.shape[0])


def usual_of(reference: Reference, layout: Layout, members: list[int]) -> Usual:
    """The tables of a reference; `members` are the columns of the schema by unit."""
    place, scales = layout.place, reference.scales
    discrete = [unit for unit, column in enumerate(members) if scales.discrete[column]]
    units = [unit for unit, level in zip(discrete, reference.levels, strict=True) for _ in level]
    numbers = []
    for unit, column in enumerate(members):
        if not scales.discrete[column]:
            codes = reference.codes[:, column]
            missing = codes <= MISSING
            scaled = np.where(missing, 0.0, codes) / scales.scale[column]
            numbers.append((unit, place.array(scaled.astype(np.float32)), place.array(missing)))
    return Usual(
        layout,
        place.array(np.array(units, dtype=np.int64)),
        place.array(np.concatenate([*reference.levels, np.zeros(0)])),
        place.array(reference.hot),
        tuple(numbers),
        place.array(reference.usual),
        len(discrete),
    )
