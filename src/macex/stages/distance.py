"""How far a changed row is from its query.

Numbers are divided by a scale per column, categories count 1. The paper divides by the column's
median; where that is 0 or tiny against the spread it says nothing about distance, so ranking uses
the interquartile range there. `proximity` keeps to the printed formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from macex.schema import Array, any_special, special

if TYPE_CHECKING:
    from macex.schema import Schema

Kind = Literal["median", "mad", "percentile"]
KINDS: tuple[Kind, ...] = ("median", "mad", "percentile")


@dataclass(frozen=True)
class Scales:
    """What one unit of change is in every column (arrays in the schema's order)."""

    kind: Kind
    discrete: Array  # (d,) bool
    scale: Array  # (d,) divisor of differences
    median: Array  # (d,) the paper's divisor: |median|, 1 where it is 0
    by_name: Array  # (d,) columns in the order of their names: the order of summation
    seen: tuple[Array, ...]
    ranks: tuple[Array, ...]  # share of training rows at or below each seen value

    def between(self, before: Array, after: Array) -> Array:
        """The distance column by column, (n, d)."""
        differs = after != before
        steps, numbers = differs.astype(float), self._numbers
        if self.kind == "percentile":
            for column in numbers.tolist():
                steps[..., column] = self._shares(column, before[..., column], after[..., column])
        elif len(numbers):
            gaps = after.take(numbers, axis=-1) - before.take(numbers, axis=-1)
            steps[..., numbers] = np.abs(gaps, out=gaps) / self.scale[numbers]
        if not (any_special(after) or any_special(before)):
            return steps
        return np.where(special(after) | special(before), differs, steps)

    def total(self, before: Array, after: Array, weights: Array | float = 1.0) -> Array:
        """The weighted distance of whole rows, (n,)."""
        steps = self.between(before, after)
        if not isinstance(weights, float):
            steps = steps * weights
        return _sums(steps if self._by_name_already else steps.take(self.by_name, axis=1))

    def in_order(self, columns: tuple[int, ...]) -> Scales:
        """The scales of the columns in another order, made once."""
        if columns not in self._orders:
            self._orders[columns] = self._ordered(np.array(columns, np.intp))
        return self._orders[columns]

    @cached_property
    def _orders(self) -> dict[tuple[int, ...], Scales]:
        return {}

    def _ordered(self, columns: Array) -> Scales:
        return replace(
            self,
            discrete=self.discrete[columns],
            scale=self.scale[columns],
            median=self.median[columns],
            by_name=np.argsort(columns)[self.by_name],
            seen=tuple(self.seen[column] for column in columns),
            ranks=tuple(self.ranks[column] for column in columns),
        )

    @cached_property
    def _numbers(self) -> Array:
        """The columns of numbers."""
        return np.flatnonzero(~self.discrete)

    @cached_property
    def _by_name_already(self) -> bool:
        return bool((np.diff(self.by_name) == 1).all())

    def proximity(self, before: Array, after: Array) -> Array:
        """The paper's proximity: minus changed categories, minus scaled changes of numbers.

        Proximity = -||x'_cat - x_cat||_0 - ||(x'_con - x_con) / m_con||_1
        """
        steps = np.where(self.discrete, after != before, np.abs(after - before) / self.median)
        odd = special(after) | special(before)
        steps = np.where(odd, after != before, steps)
        return 0.0 - _sums(steps[:, self.by_name])

    def _shares(self, column: int, before: Array, after: Array) -> Array:
        """How large a share of the training rows lies between two values of a number."""
        seen, ranks = self.seen[column], self.ranks[column]
        if not len(seen):
            return np.zeros(after.shape)
        return np.abs(np.interp(after, seen, ranks) - np.interp(before, seen, ranks))


def _sums(steps: Array) -> Array:
    """Sums of lines, the same for a line alone as among others."""
    return np.round(np.ascontiguousarray(steps).sum(axis=1), 9)


def learn_scales(schema: Schema, codes: Array, kind: Kind = "median") -> Scales:
    """The scales of the training rows, given as codes (T, d)."""
    width = len(schema.columns)
    scale, median = np.ones(width), np.ones(width)
    seen, ranks = [], []
    for place, column in enumerate(schema.columns):
        known = codes[:, place][~special(codes[:, place])]
        seen.append(column.seen)
        ranks.append(np.cumsum(column.counts) / max(1, column.counts.sum()))
        if column.discrete:
            continue
        median[place] = _or_one(abs(np.median(known)) if len(known) else 0.0)
        scale[place] = _scale(known, kind)
    return Scales(
        kind=kind,
        discrete=np.array([c.discrete for c in schema.columns], dtype=bool),
        scale=scale,
        median=median,
        by_name=np.argsort(np.array(schema.names, dtype=object), kind="stable"),
        seen=tuple(seen),
        ranks=tuple(ranks),
    )


def _scale(known: Array, kind: Kind) -> float:
    """The divisor of one column of numbers.

    >>> _scale(np.array([30.0, 40.0, 50.0]), "median")
    40.0
    >>> _scale(np.array([-10.0, 0.0, 1.0, 10.0]), "median")
    5.75
    """
    if not len(known):
        return 1.0
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    spread = float(high - low)
    if kind == "mad":
        return _or_one(float(np.median(np.abs(known - middle))) or spread)
    return _or_one(spread if abs(middle) < spread / 10 else float(abs(middle)))


def _or_one(value: float) -> float:
    return float(value) if value > 0 else 1.0
