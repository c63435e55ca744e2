"""Mechanisms of numbers that are fitted: a function of the causes, and noise that is added.

The noise of a row is what its own value differs by from what the function says of its causes. It is
kept when the causes change: the value moves by as much as the function does. How sure that is, is
known from functions that are fitted to other samples of the training rows, drawn with replacement.
Where a simple form was found good enough, every other one of them may bend more than it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10
from typing import Any

import numpy as np

from macex.causes.estimators import Terms, answered, learnt, terms_of, weighed
from macex.errors import ConstraintError
from macex.schema import Array, Column, Schema, special
from macex.schema.columns import on_grid

Function = Callable[[Array], Array]
"""From rows of codes (n, d), the causes, to numbers (n,)."""

DRAWS = 20  # functions fitted to other samples
FOLDS = 3
KNOTS, MORE_KNOTS = 5, 8  # of splines, and of those that are to be on the safe side
MOST_ROWS = 20_000
MOST_GROWN = 4_000  # rows that functions without a formula are fitted to
RIDGE = 1e-6
DIGITS = 5  # of a column's range, where it has no grid


@dataclass(frozen=True)
class Added:
    """An effect with additive noise."""

    column: int
    columns: tuple[int, ...]
    kind: Column
    function: Function
    others: tuple[Function, ...]
    residuals: Array  # sorted
    average: bool
    estimated: bool = True

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows (n, d), which started from the old ones."""
        return self._moved(new, old, self.function, 0.0)

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:
        """The same by another function; on average also with noise of training, by `uniform`."""
        noise: float | Array = (uniform - 0.5) * self._step  # what lies between two estimates
        if self.average:
            noise = np.quantile(self.residuals, uniform)
        return self._moved(new, old, self.others[number % len(self.others)], noise)

    def _moved(self, new: Array, old: Array, function: Function, noise: float | Array) -> Array:
        own = old[:, self.column]
        known = ~special(new[:, list(self.columns)]).any(axis=1)
        known &= ~special(old[:, [*self.columns, self.column]]).any(axis=1)
        result, at = own.copy(), np.flatnonzero(known)
        if not len(at):
            return result
        value = function(new[at]) + (noise[at] if isinstance(noise, np.ndarray) else noise)
        if not self.average:
            value = own[at] + value - function(old[at])
        low, high = np.minimum(self.kind.low, own[at]), np.maximum(self.kind.high, own[at])
        result[at] = np.clip(self.kind.held(on_grid(value, self._step)), low, high)
        return result

    @property
    def _step(self) -> float:
        """The grid of estimates: that of the column, or `DIGITS` digits of its range."""
        span = self.kind.high - self.kind.low
        return self.kind.step or (10.0 ** (floor(log10(span)) + 1 - DIGITS) if span > 0 else 0.0)


@dataclass(frozen=True)
class Weighted:
    """A weighted sum of terms."""

    terms: Terms
    weights: Array

    def __call__(self, codes: Array) -> Array:
        """What it says of rows of codes (n, d)."""
        return weighed(self.terms(codes), self.weights)


@dataclass(frozen=True)
class Predicted:
    """What a regressor of scikit-learn's kind predicts from straight terms."""

    terms: Terms
    regressor: Any

    def __call__(self, codes: Array) -> Array:
        """What it says of rows of codes (n, d)."""
        made = answered(self.regressor, "predict", self.terms.table(codes), 1)
        return np.asarray(np.round(made[:, 0], 12))


@dataclass(frozen=True)
class Fitting:
    """The training rows of one effect: causes as codes (n, d), values (n,), and a seed."""

    schema: Schema
    columns: tuple[int, ...]
    codes: Array
    values: Array
    seed: tuple[int, ...]

    def take(self, rows: Array) -> Fitting:
        """Some of the rows."""
        return Fitting(self.schema, self.columns, self.codes[rows], self.values[rows], self.seed)

    def samples(self, count: int) -> list[Array]:
        """Rows drawn with replacement, again and again."""
        random = np.random.default_rng(self.seed)
        return [random.integers(len(self.values), size=len(self.values)) for _ in range(count)]

    def few(self, most: int) -> Fitting:
        """At most `most` of the rows, evenly spaced."""
        if len(self.values) <= most:
            return self
        return self.take(np.unique(np.linspace(0, len(self.values) - 1, most).astype(int)))


def fitted_number(fitting: Fitting, column: int, mechanism: Any, *, average: bool) -> Added:
    """The mechanism of a number: the one that is named, or the best of three."""
    kind = fitting.schema.columns[column]
    fits = _fits(fitting, mechanism, kind.name)
    how = _best(fitting, fits) if len(fits) > 1 else next(iter(fits))
    fit, whole = fits[how], fitting.few(MOST_ROWS if how in ("linear", "splines") else MOST_GROWN)
    function = fit(whole)
    residuals = np.sort(fitting.values - function(fitting.codes))
    ways = [_freer(fitting) if how in ("linear", "splines") and mechanism == "auto" else fit, fit]
    samples = enumerate(whole.samples(DRAWS))
    others = tuple(ways[turn % 2](whole.take(rows)) for turn, rows in samples)
    return Added(column, fitting.columns, kind, function, others, residuals, average)


def _freer(fitting: Fitting) -> Callable[[Fitting], Function]:
    """A way to fit that bends more than the one chosen, in which that may have been wrong."""
    terms = terms_of(fitting.columns, fitting.schema.columns, fitting.codes, MORE_KNOTS)
    return partial(_solved, terms)


def _fits(fitting: Fitting, mechanism: Any, name: str) -> dict[str, Callable[[Fitting], Function]]:
    """The ways to fit that come into question, by name; simple ones first."""
    straight, curved = (
        terms_of(fitting.columns, fitting.schema.columns, fitting.codes, bends)
        for bends in (0, KNOTS)
    )
    if not isinstance(mechanism, str):
        if not (hasattr(mechanism, "fit") and hasattr(mechanism, "predict")):
            raise ConstraintError(
                f"the mechanism of {name!r} must be an expression, 'linear', 'splines', 'trees' or "
                f"a regressor with fit and predict, not {mechanism!r}"
            )
        return {type(mechanism).__name__: partial(_regressed, straight, mechanism)}
    every: dict[str, Callable[[Fitting], Function]] = {
        "linear": partial(_solved, straight),
        "splines": partial(_solved, curved),
        "trees": partial(_grown, straight),
    }
    if mechanism == "auto":
        return every
    if mechanism not in every:
        raise ConstraintError(
            f"{name!r} is a number, so its mechanism cannot be {mechanism!r}: give 'linear', "
            "'splines', 'trees', a regressor or an expression"
        )
    return {mechanism: every[mechanism]}


def _best(fitting: Fitting, fits: dict[str, Callable[[Fitting], Function]]) -> str:
    """The way that predicts rows best that it was not fitted to.

    A simpler one is kept unless another is better by more than the standard error of that.
    """
    few = fitting.few(MOST_GROWN)
    fold = np.random.default_rng(fitting.seed).permutation(len(few.values)) % FOLDS
    errors = {how: np.zeros(len(few.values)) for how in fits}
    for turn in range(FOLDS):
        away, held = few.take(np.flatnonzero(fold != turn)), few.take(np.flatnonzero(fold == turn))
        for how, fit in fits.items():
            errors[how][fold == turn] = np.square(held.values - fit(away)(held.codes))
    chosen = next(iter(errors))
    for how, error in errors.items():
        better = errors[chosen] - error
        chosen = how if better.mean() > better.std() / np.sqrt(len(better)) else chosen
    return chosen


def _solved(terms: Terms, fitting: Fitting) -> Function:
    """Least squares, with so little ridge that only idle terms notice it."""
    table = np.column_stack(terms(fitting.codes))
    size = np.sqrt(np.square(table).mean(axis=0)) + 1e-300
    gram = (table / size).T @ (table / size) / max(1, len(table))
    right = (table / size).T @ fitting.values / max(1, len(table))
    weights = np.linalg.solve(gram + RIDGE * np.eye(len(gram)), right) / size
    return Weighted(terms, weights)


def _grown(terms: Terms, fitting: Fitting) -> Function:
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(
        max_iter=80, max_leaf_nodes=12, min_samples_leaf=15, early_stopping=False, random_state=0
    )
    return _regressed(terms, trees, fitting)


def _regressed(terms: Terms, regressor: Any, fitting: Fitting) -> Function:
    few = fitting.few(MOST_GROWN)
    return Predicted(terms, learnt(regressor, terms.table(few.codes), few.values))


def usable(codes: Array, places: Sequence[int]) -> Array:
    """The rows that know all of some columns."""
    return np.flatnonzero(~special(codes[:, list(places)]).any(axis=1))
