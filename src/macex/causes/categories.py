"""Mechanisms of categories and ordered columns that are fitted: how likely each value is.

What is particular about a row is where it lies among the values that were possible for it.

- An ordered column keeps its place: a row in the middle of its own value's share of 0 to 1 takes
  the value in whose share that place lies once the causes are different.
- A category stays as far as it can: only where its value has become less likely does it change, as
  often as needed, to values that have become more likely.

A table counts, where the causes are few categories; else the values follow a logistic regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.causes.estimators import Terms, answered, learnt, one_thread, terms_of, weighed
from macex.causes.numbers import DRAWS, MOST_GROWN, Fitting
from macex.errors import ConstraintError
from macex.schema import Array, Column, special

Shares = Callable[[Array], Array]
"""How likely each value is, (n, v), for rows of codes (n, d)."""

MOST_VALUES = 30  # that a category takes as an effect: others keep what they have
MOST_CELLS = 400  # of a table
PRIOR = 1.0  # rows of the usual mix that every cell of a table is given


@dataclass(frozen=True)
class Likely:
    """An effect that is a category or ordered."""

    column: int
    columns: tuple[int, ...]
    values: Array  # (v,) codes, in their order
    ordered: bool
    shares: Shares
    others: tuple[Shares, ...]
    average: bool
    estimated: bool = True

    def __call__(self, new: Array, old: Array) -> Array:
        """The most likely codes of the column in the new rows (n, d), given the old ones."""
        return self._moved(new, old, self.shares, None)

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:
        """The same by another sample of training, and by chance."""
        return self._moved(new, old, self.others[number % len(self.others)], uniform)

    def _moved(self, new: Array, old: Array, shares: Shares, uniform: Array | None) -> Array:
        own = old[:, self.column]
        known = ~special(new[:, list(self.columns)]).any(axis=1)
        known &= ~special(old[:, list(self.columns)]).any(axis=1) & np.isin(own, self.values)
        result, at = own.copy(), np.flatnonzero(known)
        if not len(at):
            return result
        place = np.searchsorted(self.values, own[at])
        chance = None if uniform is None else uniform[at]
        before, after = shares(old[at]), shares(new[at])
        if self.average:
            moved = _usual(after, chance)
        elif self.ordered:
            moved = kept_place(before, after, place, chance)
        else:
            moved = kept_value(before, after, place, chance)
        result[at] = self.values[moved]
        return result


def kept_place(before: Array, after: Array, own: Array, chance: Array | None) -> Array:
    """The values at the place that the rows have among their own values (monotone coupling).

    >>> kept_place(np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]]), np.array([0]), None)
    array([1])
    """
    lines = np.arange(len(own))
    top = before.cumsum(axis=1)[lines, own]
    share = before[lines, own] * (0.5 if chance is None else 1.0 - chance)
    place = np.minimum(top - share, 1.0 - 1e-12)
    return np.asarray((after.cumsum(axis=1)[:, :-1] <= place[:, None]).sum(axis=1))


def kept_value(before: Array, after: Array, own: Array, chance: Array | None) -> Array:
    """The rows' own values where they stay, and else values that have gained (maximal coupling).

    >>> kept_value(np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]]), np.array([0]), None)
    array([1])
    """
    lines = np.arange(len(own))
    stays = np.minimum(1.0, after[lines, own] / np.maximum(before[lines, own], 1e-12))
    gained = np.maximum(after - before, 0.0)
    gained[lines, own] = 0.0
    total = np.maximum(gained.sum(axis=1), 1e-300)
    if chance is None:
        best = gained.argmax(axis=1)
        return np.where((1.0 - stays) * gained[lines, best] / total > stays, best, own)
    rest = np.clip((chance - stays) / np.maximum(1.0 - stays, 1e-12), 0.0, 1.0 - 1e-12)
    other = (gained.cumsum(axis=1)[:, :-1] <= (rest * total)[:, None]).sum(axis=1)
    return np.where((chance < stays) | (gained.sum(axis=1) <= 0), own, other)


def _usual(after: Array, chance: Array | None) -> Array:
    """The most likely value, or one by chance."""
    if chance is None:
        return np.asarray(after.argmax(axis=1))
    return np.asarray((after.cumsum(axis=1)[:, :-1] <= chance[:, None]).sum(axis=1))


@dataclass(frozen=True)
class ShareTable:
    """Shares that were counted, for every combination of the causes' values."""

    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    cells: Array  # (combinations, v)

    def __call__(self, codes: Array) -> Array:
        """How likely each value is, (n, v)."""
        return np.asarray(self.cells[_cell(codes, self.columns, self.sizes)])


@dataclass(frozen=True)
class Logistic:
    """Shares by a logistic regression."""

    terms: Terms
    weights: Array  # (v, t)

    def __call__(self, codes: Array) -> Array:
        """How likely each value is, (n, v)."""
        terms = self.terms(codes)
        total = np.column_stack([weighed(terms, line) for line in self.weights])
        odds = np.exp(np.round(total - total.max(axis=1, keepdims=True), 10))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Classified:
    """Shares by a classifier of scikit-learn's kind."""

    terms: Terms
    classifier: Any
    places: tuple[int, ...]
    width: int

    def __call__(self, codes: Array) -> Array:
        """How likely each value is, (n, v)."""
        found = np.full((len(codes), self.width), 1e-9)
        made = answered(self.classifier, "predict_proba", self.terms.table(codes), len(self.places))
        found[:, list(self.places)] += np.round(made, 10)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def fitted_category(fitting: Fitting, column: int, mechanism: Any, *, average: bool) -> Likely:
    """The mechanism of a category: a table, a logistic regression, or a given classifier."""
    kind = fitting.schema.columns[column]
    values = _values(fitting.values)
    fitting = fitting.take(np.flatnonzero(np.isin(fitting.values, values)))
    how, fit = _way(fitting, values, kind, mechanism)
    few = fitting if how == "table" else fitting.few(MOST_GROWN)
    others = tuple(fit(few.take(rows)) for rows in few.samples(DRAWS))
    ordered = kind.kind == "ordered"
    return Likely(column, fitting.columns, values, ordered, fit(few), others, average=average)


def _values(values: Array) -> Array:
    seen, counts = np.unique(values, return_counts=True)
    return np.sort(seen[np.lexsort((seen, -counts))][:MOST_VALUES])


def _way(
    fitting: Fitting, values: Array, kind: Column, mechanism: Any
) -> tuple[str, Callable[[Fitting], Shares]]:
    columns = [fitting.schema.columns[place] for place in fitting.columns]
    sizes = tuple(len(column.table) for column in columns)
    small = all(column.discrete for column in columns) and np.prod(sizes, dtype=float) <= MOST_CELLS
    terms = terms_of(fitting.columns, fitting.schema.columns, fitting.codes)
    if not isinstance(mechanism, str):
        if not (hasattr(mechanism, "fit") and hasattr(mechanism, "predict_proba")):
            raise ConstraintError(
                f"{kind.name!r} is no number, so its mechanism must be an expression, 'table', or "
                f"a classifier with fit and predict_proba, not {mechanism!r}"
            )
        return type(mechanism).__name__, lambda some: _classified(some, terms, mechanism, values)
    if mechanism == "table" and not small:
        raise ConstraintError(
            f"the causes of {kind.name!r} have too many combinations for a table, or numbers among "
            "them: leave its mechanism out for a logistic regression"
        )
    if mechanism not in ("auto", "table"):
        raise ConstraintError(
            f"{kind.name!r} is no number, so its mechanism cannot be {mechanism!r}: give 'table', "
            "a classifier, or an expression"
        )
    if small:
        return "table", lambda some: _counted(some, sizes, values)
    return "logistic", lambda some: _logistic(some, terms, values)


def _counted(fitting: Fitting, sizes: tuple[int, ...], values: Array) -> ShareTable:
    cell = _cell(fitting.codes, fitting.columns, sizes)
    counts = np.zeros((int(np.prod(sizes)), len(values)))
    np.add.at(counts, (cell, np.searchsorted(values, fitting.values)), 1.0)
    usual = (counts.sum(axis=0) + 1e-3) / (counts.sum() + 1e-3 * len(values))
    cells = (counts + PRIOR * usual) / (counts.sum(axis=1, keepdims=True) + PRIOR)
    return ShareTable(fitting.columns, sizes, cells)


def _cell(codes: Array, columns: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """Which combination of values each row has."""
    found = np.zeros(len(codes), np.intp)
    for column, size in zip(columns, sizes, strict=True):
        found = found * size + codes[:, column].astype(np.intp)
    return found


def _logistic(fitting: Fitting, terms: Terms, values: Array) -> Shares:
    from sklearn.linear_model import LogisticRegression

    weights = np.zeros((len(values), len(terms(fitting.codes[:1]))))
    weights[:, 0] = -30.0
    place = np.searchsorted(values, fitting.values)
    present = np.unique(place)
    if len(present) < 2:
        weights[present, 0] = 0.0
        return Logistic(terms, weights)
    with one_thread():
        model = LogisticRegression(max_iter=300).fit(terms.table(fitting.codes), place)
    made = np.column_stack([model.intercept_, model.coef_])
    if len(made) == 1:
        made = np.concatenate([np.zeros_like(made), made])
    weights[present] = made
    return Logistic(terms, weights)


def _classified(fitting: Fitting, terms: Terms, classifier: Any, values: Array) -> Shares:
    place = np.searchsorted(values, fitting.values)
    fitted = learnt(classifier, terms.table(fitting.codes), place)
    return Classified(terms, fitted, tuple(int(one) for one in fitted.classes_), len(values))
