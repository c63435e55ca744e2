"""Mechanisms that are stated: an expression of causes and noise, or a model of another library.

Abduction solves the expression for the noise, step by step from the outside in: for
`exp(0.3 * age + u)` it takes the logarithm of the row's own value and subtracts. The noise may
stand once in a sum, difference, product or quotient, in exp, log, sqrt and minus, and once in each
branch of an `if`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.ask.evaluation import Apply, Choose, Fold, ReadColumn, Value
from macex.ask.expressions import Formula, compile_formula
from macex.errors import ConstraintError
from macex.schema import Array, Column, Schema, special
from macex.schema.moments import Clock

INVERSES = {"exp": np.log, "log": np.exp, "sqrt": np.square, "negative": np.negative}
UNDONE = {"+": np.subtract, "-": np.add, "*": np.divide, "/": np.multiply}
SECOND = {
    "+": lambda value, first: value - first,
    "-": lambda value, first: first - value,
    "*": lambda value, first: value / first,
    "/": lambda value, first: first / value,
}


@dataclass(frozen=True)
class Noise:
    """What expressions know of the noise: it is a number, and no column."""

    name: str
    kind: str = "continuous"

    @property
    def clock(self) -> Clock:
        """It has none."""
        raise TypeError("noise is no datetime")

    def code(self, value: Any) -> float:
        """A number is its own code."""
        return float(value)


@dataclass(frozen=True)
class Stated:
    """An effect that an expression says, with the noise of the row itself."""

    column: int
    kind: Column
    formula: Formula
    columns: tuple[int, ...]
    noise: int | None  # where the noise stands beside the columns; None where it is not read
    estimated: bool = False

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows (n, d), which started from the old ones."""
        made = self.made(new, old)
        return np.where(np.isnan(made), old[:, self.column], self._told(made))

    def made(self, new: Array, old: Array) -> Array:
        """The values in the new rows, (n,); NaN where causes or noise are not known."""
        with np.errstate(all="ignore"):
            if self.noise is None:
                value = self.formula(new, old)
            else:
                noise = solved(self.formula.value, old[:, self.column], old, self.noise)
                full = np.column_stack([new, noise])
                value = self.formula(full, full)
        return np.where(self._known(new, old) & ~special(value), value, np.nan)

    def fails(self, new: Array, old: Array) -> Array:
        """Whether the expression has no value though all that it reads is known, (n,)."""
        return self._known(new, old) & np.isnan(self.made(new, old))

    def _known(self, new: Array, old: Array) -> Array:
        """Whether the causes are known and, where it is read, the noise."""
        read = new[:, list(self.columns)]
        if self.noise is not None:
            read = np.column_stack([read, old[:, [*self.columns, self.column]]])
        return np.asarray(~special(read).any(axis=1))

    def _told(self, value: Array) -> Array:
        """Values, without the last bits by which they miss the grid of the column."""
        if self.kind.discrete:
            return value
        held = self.kind.held(value)
        return np.where(np.abs(held - value) <= 1e-9 * np.maximum(1.0, np.abs(value)), held, value)

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:  # noqa: ARG002
        """The same: nothing about it is estimated."""
        return self(new, old)


def stated(schema: Schema, name: str, text: str, noise: str) -> Stated:
    """The mechanism that an expression states."""
    place = schema.position(name)
    column: Column = schema.columns[place]
    formula = compile_formula(text, [*schema.columns, Noise(noise)], target=column)
    last = len(schema.columns)
    reads = tuple(at for at in formula.columns if at != last)
    if last not in formula.columns:
        return Stated(place, column, formula, reads, None)
    if column.discrete:
        raise ConstraintError(
            f"{name!r} has no numbers, so its mechanism cannot have the noise {noise!r}: state "
            "which value it takes, or have it fitted from training rows"
        )
    _check(formula.value, last, f"the mechanism of {name!r}, {text!r}, ")
    return Stated(place, column, formula, reads, last)


def solved(node: Value, value: Array, codes: Array, place: int) -> Array:
    """What the noise at `place` must be for the expression to have the value, (n,)."""
    if isinstance(node, ReadColumn):
        return value
    if isinstance(node, Apply):
        return solved(node.value, INVERSES[node.function](value), codes, place)
    if isinstance(node, Choose):
        wide = np.column_stack([codes, np.zeros(len(codes))])
        yes, no = node.condition(wide, wide)
        branches = (solved(one, value, codes, place) for one in (node.then, node.otherwise))
        first, second = branches
        return np.where(yes, first, np.where(no, second, np.nan))
    if not isinstance(node, Fold):
        raise TypeError(f"{type(node).__name__} cannot be solved")
    wide = np.column_stack([codes, np.zeros(len(codes))])
    at = [reads(one, place) for one in _operands(node)].index(True)
    for operation, operand in reversed(node.rest[at:]):
        value = UNDONE[operation](value, operand(wide, wide))
    if at == 0:
        return solved(node.first, value, codes, place)
    before = Fold(node.first, node.rest[: at - 1])(wide, wide)
    operation, operand = node.rest[at - 1]
    return solved(operand, SECOND[operation](value, before), codes, place)


def reads(node: Any, place: int) -> bool:
    """Whether a part of an expression reads a column."""
    if isinstance(node, ReadColumn):
        return node.column == place
    if isinstance(node, tuple):
        return any(reads(part, place) for part in node)
    parts = getattr(node, "__slots__", ())
    return any(reads(getattr(node, part), place) for part in parts)


def _operands(node: Fold) -> list[Value]:
    return [node.first, *(operand for _, operand in node.rest)]


def _check(node: Value, place: int, what: str) -> None:
    """Raise unless the noise stands where it can be solved for."""
    if isinstance(node, ReadColumn):
        return None
    if isinstance(node, Apply) and node.function in INVERSES:
        return _check(node.value, place, what)
    if isinstance(node, Choose) and not reads(node.condition, place):
        for branch in (node.then, node.otherwise):
            if not reads(branch, place):
                raise ConstraintError(f"{what}needs the noise in both branches")
            _check(branch, place, what)
        return None
    if isinstance(node, Fold):
        operands = _operands(node)
        with_noise = [one for one in operands if reads(one, place)]
        start = max(operands.index(with_noise[0]) - 1, 0)
        if len(with_noise) == 1 and all(operation in UNDONE for operation, _ in node.rest[start:]):
            return _check(with_noise[0], place, what)
    raise ConstraintError(
        f"{what}cannot be solved for its noise: write it once, added as in '0.3 * income + u', or "
        "in a product, quotient, exp, log or sqrt"
    )


@dataclass(frozen=True)
class Known:
    """An effect whose mechanism tells the noise of a row and takes it back.

    It has `estimate_noise(values, causes)` and `evaluate(causes, noise)`, and reads its causes as
    a table in the order of their names.
    """

    schema: Schema
    column: int
    columns: tuple[int, ...]  # in the order of their names
    mechanism: Any
    estimated: bool = True

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows (n, d), which started from the old ones."""
        kind, own = self.schema.columns[self.column], old[:, self.column]
        known = ~special(new[:, list(self.columns)]).any(axis=1)
        known &= ~special(old[:, [*self.columns, self.column]]).any(axis=1)
        result, at = own.copy(), np.flatnonzero(known)
        if not len(at):
            return result
        noise = self.mechanism.estimate_noise(own[at][:, None], self._table(old[at]))
        made = self.mechanism.evaluate(self._table(new[at]), noise)
        value = np.round(np.asarray(made, dtype=float).reshape(len(at)), 9)
        result[at] = kind.in_dtype(value)
        return result

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:  # noqa: ARG002
        """The same: how sure it is, is not known."""
        return self(new, old)

    def _table(self, codes: Array) -> Array:
        kinds = [self.schema.columns[place] for place in self.columns]
        if not any(kind.discrete for kind in kinds):
            return codes[:, list(self.columns)]
        cells = [
            np.array([kind.value(code) for code in codes[:, place].tolist()], dtype=object)
            if kind.discrete
            else codes[:, place].astype(object)
            for kind, place in zip(kinds, self.columns, strict=True)
        ]
        return np.column_stack(cells)


def known_mechanism(schema: Schema, place: int, parents: tuple[int, ...], mechanism: Any) -> Known:
    """A mechanism of another library for a number."""
    kind = schema.columns[place]
    if kind.discrete or not hasattr(mechanism, "evaluate"):
        raise ConstraintError(
            f"the mechanism of {kind.name!r}, {type(mechanism).__name__}, cannot be used: leave it "
            "out to have one fitted, or state an expression"
        )
    ordered = tuple(sorted(parents, key=lambda parent: schema.names[parent]))
    return Known(schema, place, ordered, mechanism)
