"""Relations as tests of rows: from codes (n, d) to whether each row keeps the relation, (n,)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import ConstraintError, SchemaError
from macex.schema import MISSING, Array, Column, Schema, special
from macex.structure.relations import (
    Arithmetic,
    Determination,
    Flag,
    Implication,
    Linear,
    MissingTogether,
    OneOf,
    Order,
    Relation,
)


@dataclass(frozen=True)
class ImplicationTest:
    """Where the first column is `when`, the second is, or is not, one of `values`."""

    first: int
    second: int
    when: float
    values: tuple[float, ...]
    never: bool

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it."""
        second = codes[:, self.second]
        among = second == self.values[0]
        for value in self.values[1:]:
            among |= second == value
        return (codes[:, self.first] != self.when) | (among ^ self.never)


@dataclass(frozen=True)
class Mapping:
    """Codes of one column, sorted, and the codes of another that go with them."""

    first: Array
    second: Array
    ordered: bool  # a number between two known ones has their value, if it is the same

    def __call__(self, codes: Array) -> tuple[Array, Array]:
        """The code that goes with each code, and whether it is known."""
        last = len(self.first) - 1
        at = np.minimum(np.searchsorted(self.first, codes), last)
        exact = self.first[at] == codes
        if not self.ordered:
            return self.second[at], exact
        below = np.clip(np.searchsorted(self.first, codes, side="right") - 1, 0, last)
        inside = (codes >= self.first[0]) & (codes <= self.first[-1])
        return self.second[at], exact | (inside & (self.second[at] == self.second[below]))


@dataclass(frozen=True)
class DeterminationTest:
    """The second column is what goes with the first."""

    first: int
    second: int
    mapping: Mapping

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it: a number that no training row has must lie between equal ones."""
        value, known = self.mapping(codes[:, self.first])
        unknown = special(codes[:, self.first])
        if not self.mapping.ordered:
            unknown = unknown | ~known
        return unknown | (known & (value == codes[:, self.second]))


@dataclass(frozen=True)
class ColumnFormula:
    """A column computed from others: `made` gives its number for rows."""

    operation: str
    inputs: tuple[int, ...]
    result: int
    tolerance: float = 0.0
    factor: float = 1.0
    offset: float = 0.0
    step: float = 0.0

    def made(self, codes: Array) -> Array:
        """The formula's result, NaN where an input is missing."""
        parts = [_number(codes[:, at]) for at in self.inputs]
        with np.errstate(all="ignore"):
            if self.operation == "linear":
                return self.factor * parts[0] + self.offset
            result = parts[0]
            for part in parts[1:]:
                result = OPERATIONS[self.operation](result, part)
        return np.where(np.isfinite(result), result, np.nan)

    def exact(self, codes: Array) -> Array:
        """Whether the column holds the formula's result, up to rounding."""
        made, held = self.made(codes), _number(codes[:, self.result])
        loose = 1e-6 if self.operation == "linear" else 1e-9
        room = 0.55 * self.step + loose * np.maximum(1, np.abs(made))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(held - made) <= room)

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it; what is missing breaks nothing."""
        made, held = self.made(codes), _number(codes[:, self.result])
        known = np.isfinite(made) & np.isfinite(held)
        return ~known | self.exact(codes) | self._near(codes, made, held)

    def _near(self, codes: Array, made: Array, held: Array) -> Array:
        if not self.tolerance:
            return np.zeros(len(codes), bool)
        size = np.maximum(np.abs(made), np.abs(held))
        if self.operation in ("sum", "difference"):
            for at in self.inputs:
                size = np.fmax(size, np.abs(_number(codes[:, at])))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(made - held) <= self.tolerance * size * (1 + 1e-9))


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "difference": np.subtract,
    "product": np.multiply,
    "ratio": np.divide,
}


@dataclass(frozen=True)
class OrderTest:
    """The first column is not above the second."""

    first: int
    second: int
    columns: tuple[Column, Column]

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it; what is missing breaks nothing."""
        one, other = codes[:, self.first], codes[:, self.second]
        gone = special(one) | special(other)
        if self.columns[0].kind == "datetime":
            one = self.columns[0].clock.restated(np.where(gone, 0.0, one), self.columns[1].clock)
        return np.asarray(gone | (one <= other))


@dataclass(frozen=True)
class MissingTest:
    """All of the columns are missing, or none is."""

    places: tuple[int, ...]

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it."""
        gone = codes[:, list(self.places)] == MISSING
        return np.asarray(gone.all(axis=1) | ~gone.any(axis=1))


@dataclass(frozen=True)
class OneOfTest:
    """Exactly one of the columns is 1."""

    places: tuple[int, ...]

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it."""
        return np.asarray((codes[:, list(self.places)] == 1).sum(axis=1) == 1)


Test = ImplicationTest | DeterminationTest | ColumnFormula | OrderTest | MissingTest | OneOfTest


def compiled(relation: Relation, schema: Schema) -> Test | None:
    """The test of a relation; None for one that a row cannot break."""
    for name in relation.columns:
        if name not in schema.names:
            raise ConstraintError(
                f"the relation {relation.text!r} names no column {name!r}{schema.hint(name)}"
            )
    places = tuple(schema.position(name) for name in relation.columns)
    columns = tuple(schema.columns[place] for place in places)
    try:
        return _test(relation, places, columns)
    except SchemaError as error:
        raise ConstraintError(f"the relation {relation.text!r}: {error}") from error


def _test(relation: Relation, places: tuple[int, ...], columns: tuple[Column, ...]) -> Test | None:
    match relation:
        case Implication():
            values = tuple(columns[1].code(value) for value in relation.then or relation.never)
            when = columns[0].code(relation.when)
            return ImplicationTest(places[0], places[1], when, values, not relation.then)
        case Determination():
            return DeterminationTest(places[0], places[1], _mapping(relation, columns))
        case Arithmetic():
            _need(relation, columns, "continuous")
            *inputs, result = places
            return ColumnFormula(
                relation.operation, tuple(inputs), result, relation.tolerance, step=columns[-1].step
            )
        case Linear():
            _need(relation, columns, "continuous")
            line = relation.factor, relation.offset
            return ColumnFormula("linear", places[:1], places[1], 0.0, *line, columns[1].step)
        case Order():
            if columns[0].kind != columns[1].kind:
                raise SchemaError("its columns are of different kinds and have no common order")
            _need(
                relation,
                columns,
                columns[0].kind if columns[0].kind == "datetime" else "continuous",
            )
            return OrderTest(places[0], places[1], (columns[0], columns[1]))
        case MissingTogether():
            return MissingTest(places)
        case OneOf():
            _need(relation, columns, "continuous")
            return OneOfTest(places)
        case Flag():
            return None
    raise TypeError(f"{type(relation).__name__} is no relation of macex")


def turned(relation: Relation, test: Test, schema: Schema) -> Test | None:
    """The test of what the second column says of the first; None where it does not say it."""
    if isinstance(relation, Determination) and relation.mutual:
        pairs = tuple((second, first) for first, second in relation.pairs)
        columns = relation.columns[::-1]
        return compiled(Determination(columns=columns, pairs=pairs, mutual=True), schema)
    if isinstance(relation, Linear) and isinstance(test, ColumnFormula) and relation.factor:
        first, second = (schema.columns[schema.position(name)] for name in relation.columns)
        if second.step <= first.step * abs(relation.factor):  # no rounding of it is too coarse
            line = 1 / relation.factor, -relation.offset / relation.factor
            place = test.inputs[0]
            return ColumnFormula("linear", (test.result,), place, 0.0, *line, first.step)
    return None


def _need(relation: Relation, columns: tuple[Column, ...], kind: str) -> None:
    for column in columns:
        if column.kind != kind:
            raise SchemaError(f"{column.name!r} is {column.kind}, and it needs {kind} columns")
    del relation


def _mapping(relation: Determination, columns: tuple[Column, ...]) -> Mapping:
    if not relation.pairs:
        return Mapping(np.zeros(1) + MISSING, np.zeros(1), ordered=False)
    codes = np.array([[columns[0].code(a), columns[1].code(b)] for a, b in relation.pairs])
    order = np.argsort(codes[:, 0], kind="stable")
    return Mapping(codes[order, 0], codes[order, 1], ordered=not columns[0].discrete)


def _number(codes: Array) -> Array:
    return np.where(special(codes), np.nan, codes)
