"""Regressions on causes: columns of codes become terms, and estimators are fitted to them.

A number is itself, centered and scaled; a category is one term for each of its frequent values.
With `bends`, numbers also have their square and natural cubic splines with as many knots (straight
beyond the outer ones), and every two columns the products of their terms. Terms are summed one by
one, never by a product of matrices, so that the prediction for a row does not depend on the rows
beside it.

Estimators of scikit-learn's kind are fitted and asked on one thread: the tables are small, and
threads would wait. One that fails, or says what cannot be, is an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from macex.errors import ConstraintError
from macex.schema import Array, Column

MOST_VALUES = 40  # of a category that have a term
MOST_PRODUCTS = 60
OUTER = 0.02  # the share of training rows beyond the first knot, and beyond the last


def learnt(estimator: Any, table: Array, values: Array) -> Any:
    """A clone of an estimator, fitted to a table (n, t) and values (n,)."""
    from sklearn.base import clone

    try:
        with one_thread():
            return clone(estimator).fit(table, values)
    except Exception as fault:
        raise ConstraintError(f"{_called(estimator)} could not be fitted: {fault}") from fault


def answered(estimator: Any, verb: str, table: Array, width: int) -> Array:
    """What an estimator says of a table (n, t): `width` numbers for every row, (n, width)."""
    try:
        with one_thread():
            made = np.asarray(getattr(estimator, verb)(table), dtype=float)
    except Exception as fault:
        raise ConstraintError(f"{_called(estimator)} failed in {verb}: {fault}") from fault
    if made.size != len(table) * width or not np.isfinite(made).all():
        raise ConstraintError(
            f"{_called(estimator)} must answer {verb} with {len(table)} x {width} finite numbers; "
            f"its answer has the shape {made.shape}, with {int((~np.isfinite(made)).sum())} that "
            "are not finite"
        )
    return made.reshape(len(table), width)


def _called(estimator: Any) -> str:
    return f"the mechanism {type(estimator).__name__}"


def one_thread() -> AbstractContextManager[object]:
    """A span in which OpenMP and BLAS have one thread."""
    limits: AbstractContextManager[object] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> ThreadpoolController:
    import sklearn.ensemble  # noqa: F401 - libraries that are loaded later are not known

    return ThreadpoolController()


@dataclass(frozen=True)
class Number:
    """A number, centered and scaled, and its splines."""

    column: int
    mean: float
    scale: float
    knots: tuple[float, ...] = ()

    def straight(self, codes: Array) -> Iterator[Array]:
        """The number itself, (n,)."""
        yield (codes[:, self.column] - self.mean) / self.scale

    def curved(self, codes: Array) -> Iterator[Array]:
        """Its square, and the splines that bend, (n,) each."""
        value = next(self.straight(codes))
        yield value**2
        if len(self.knots) < 3:
            return
        last = self._bend(value, len(self.knots) - 2)
        for place in range(len(self.knots) - 2):
            yield self._bend(value, place) - last

    def _bend(self, value: Array, place: int) -> Array:
        here, end = self.knots[place], self.knots[-1]
        cubes = np.maximum(value - here, 0.0) ** 3 - np.maximum(value - end, 0.0) ** 3
        return np.asarray(cubes / (end - here))


@dataclass(frozen=True)
class Category:
    """A category, by its frequent values but the most frequent one."""

    column: int
    values: tuple[float, ...]

    def straight(self, codes: Array) -> Iterator[Array]:
        """Whether it has each value, (n,) each."""
        for value in self.values:
            yield (codes[:, self.column] == value).astype(float)

    def curved(self, codes: Array) -> Iterator[Array]:  # noqa: ARG002
        """It has nothing that bends."""
        return iter(())


@dataclass(frozen=True)
class Terms:
    """The terms of some columns."""

    parts: tuple[Number | Category, ...]
    curved: bool

    def __call__(self, codes: Array) -> list[Array]:
        """The terms of rows of codes (n, d), (n,) each; the first is 1."""
        straight = [list(part.straight(codes)) for part in self.parts]
        found = [np.ones(len(codes)), *(term for terms in straight for term in terms)]
        if self.curved:
            found += [term for part in self.parts for term in part.curved(codes)]
            found += _products(straight)
        return found

    def table(self, codes: Array) -> Array:
        """The terms side by side, (n, t), without the first."""
        return np.column_stack([np.zeros((len(codes), 0)), *self(codes)[1:]])


def terms_of(
    columns: tuple[int, ...], schema: tuple[Column, ...], codes: Array, bends: int = 0
) -> Terms:
    """The terms of columns, as training rows (n, d) have them."""
    parts = tuple(_part(place, schema[place], codes[:, place], bends) for place in columns)
    return Terms(parts, bends > 0)


def weighed(terms: list[Array], weights: Array) -> Array:
    """The sum of terms with a weight each, in one order."""
    total = np.zeros(len(terms[0]))
    for term, weight in zip(terms, weights.tolist(), strict=True):
        total = total + weight * term
    return total


def _part(place: int, column: Column, values: Array, bends: int) -> Number | Category:
    if column.discrete:
        seen, counts = np.unique(values, return_counts=True)
        frequent = seen[np.lexsort((seen, -counts))][: MOST_VALUES + 1]
        return Category(place, tuple(sorted(frequent[1:].tolist())))
    mean, scale = float(values.mean()), float(values.std()) or 1.0
    shares = np.linspace(OUTER, 1 - OUTER, bends)
    knots = np.unique(np.quantile((values - mean) / scale, shares)) if len(values) else np.zeros(0)
    return Number(place, mean, scale, tuple(knots.tolist()))


def _products(straight: list[list[Array]]) -> list[Array]:
    pairs = [
        (one, other)
        for first, second in combinations(straight, 2)
        for one in first
        for other in second
    ]
    return [one * other for one, other in pairs[:MOST_PRODUCTS]]
