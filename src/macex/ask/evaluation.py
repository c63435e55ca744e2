"""Compiled expressions: trees of small nodes, each with one verb, over arrays of codes.

A *value* node gives an array of float64, (n,) or a scalar, with NaN where the value is missing.
Numbers are themselves; categories and datetimes are the codes of one column. A result that is no
finite number (a division by zero, the logarithm of a negative number) is missing.

A *truth* node gives a `Truth`: two boolean arrays, where it is certainly true and where it is
certainly false. Where neither holds the truth is unknown, because a value is missing. `and`, `or`
and `not` follow Kleene's three-valued logic.

Nodes hold names and numbers, never functions, so that they can be pickled.
"""
# ruff: noqa: D102 - every node has the same verb, explained above

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from macex.schema import MISSING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from macex.schema.moments import Clock

Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


class Truth(NamedTuple):
    """Where a condition is certainly true and where it is certainly false."""

    yes: Flags
    no: Flags


class Value(Protocol):
    """A node that gives numbers or codes."""

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers: ...


class Condition(Protocol):
    """A node that gives a truth."""

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth: ...


def power(x: Numbers, y: Numbers) -> Numbers:
    """x ** y; NumPy alone would make 1 of missing ** 0 and of 1 ** missing."""
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.power(x, y))


def unequal(x: Numbers, y: Numbers) -> Flags:
    """x != y, false where either is missing."""
    return (x < y) | (x > y)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": power,
    "min": np.minimum,
    "max": np.maximum,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "negative": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "log": np.log,
    "exp": np.exp,
    "sqrt": np.sqrt,
}
# Each relation and its opposite; both are false where an operand is missing.
RELATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "<": (np.less, np.greater_equal),
    "<=": (np.less_equal, np.greater),
    ">": (np.greater, np.less_equal),
    ">=": (np.greater_equal, np.less),
    "==": (np.equal, unequal),
    "!=": (unequal, np.equal),
}


def finite(numbers: Numbers) -> Numbers:
    """The numbers, missing where they are infinite."""
    kept = np.isfinite(numbers)
    return numbers if kept.all() else np.where(kept, numbers, np.nan)


@dataclass(frozen=True, slots=True)
class Constant:
    """One number or code for all rows."""

    number: float

    def __call__(self, _new: Numbers, _old: Numbers, /) -> Numbers:
        return np.asarray(self.number, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of the new rows or of the old ones."""

    column: int
    old: bool

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        codes = (old if self.old else new)[:, self.column].copy()  # one strided pass
        codes[codes == MISSING] = np.nan
        return codes


@dataclass(frozen=True, slots=True)
class Restated:
    """Moments of one column as codes of another: by whole ticks, so that equal ones stay equal."""

    value: Value
    own: Clock
    other: Clock

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        codes = self.value(new, old)
        missing = np.isnan(codes)
        return np.where(missing, np.nan, self.own.restated(np.where(missing, 0, codes), self.other))


@dataclass(frozen=True, slots=True)
class Rank:
    """Codes to be put in order: a category that was never seen has no place in it."""

    value: Value

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        codes = self.value(new, old)
        return np.where(codes == UNKNOWN, np.nan, codes)


@dataclass(frozen=True, slots=True)
class Fold:
    """Values joined from left to right: `a + b - c`, or `min(a, b, c)`."""

    first: Value
    rest: tuple[tuple[str, Value], ...]

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        result = self.first(new, old)
        for operation, value in self.rest:
            result = finite(OPERATIONS[operation](result, value(new, old)))
        return result


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of one number."""

    function: str
    value: Value

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        return finite(FUNCTIONS[self.function](self.value(new, old)))


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number rounded to `decimals` places; halves go to the even neighbour."""

    value: Value
    decimals: int

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        return finite(np.round(self.value(new, old), self.decimals))


@dataclass(frozen=True, slots=True)
class Choose:
    """One value where the condition is true, another where it is false, else missing."""

    condition: Condition
    then: Value
    otherwise: Value

    def __call__(self, new: Numbers, old: Numbers, /) -> Numbers:
        yes, no = self.condition(new, old)
        otherwise = np.where(no, self.otherwise(new, old), np.nan)
        return np.where(yes, self.then(new, old), otherwise)


@dataclass(frozen=True, slots=True)
class Always:
    """`true` or `false`."""

    truth: bool

    def __call__(self, _new: Numbers, _old: Numbers, /) -> Truth:
        return Truth(np.asarray(self.truth), np.asarray(not self.truth))


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain of comparisons: true if all pairs are, false if one is."""

    values: tuple[Value, ...]
    relations: tuple[str, ...]

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        yes, no = Always(truth=True)(new, old)
        left = self.values[0](new, old)
        for relation, value in zip(self.relations, self.values[1:], strict=True):
            right = value(new, old)
            holds, fails = RELATIONS[relation]
            yes, no = yes & holds(left, right), no | fails(left, right)
            left = right
        return Truth(yes, no)


@dataclass(frozen=True, slots=True)
class Among:
    """The value is one of these codes."""

    value: Value
    codes: tuple[float, ...]

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        codes = self.value(new, old)
        yes = np.isin(codes, self.codes)
        return Truth(yes, ~(yes | np.isnan(codes)))


@dataclass(frozen=True, slots=True)
class IsMissing:
    """The value is missing: the one question about it that always has an answer."""

    value: Value

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        yes = np.isnan(self.value(new, old))
        return Truth(yes, ~yes)


@dataclass(frozen=True, slots=True)
class Not:
    """True where the condition is false."""

    condition: Condition

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        yes, no = self.condition(new, old)
        return Truth(no, yes)


@dataclass(frozen=True, slots=True)
class Every:
    """`and`: true if all are, false if one is."""

    conditions: tuple[Condition, ...]

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        yes, no = Always(truth=True)(new, old)
        for condition in self.conditions:
            holds, fails = condition(new, old)
            yes, no = yes & holds, no | fails
        return Truth(yes, no)


@dataclass(frozen=True, slots=True)
class Some:
    """`or`: true if one is, false if all are."""

    conditions: tuple[Condition, ...]

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        yes, no = Always(truth=False)(new, old)
        for condition in self.conditions:
            holds, fails = condition(new, old)
            yes, no = yes | holds, no & fails
        return Truth(yes, no)


@dataclass(frozen=True, slots=True)
class Either:
    """`if … then … else …` between conditions; known also where both branches agree."""

    condition: Condition
    then: Condition
    otherwise: Condition

    def __call__(self, new: Numbers, old: Numbers, /) -> Truth:
        met = self.condition(new, old)
        then = self.then(new, old)
        otherwise = self.otherwise(new, old)
        yes = (met.yes & then.yes) | (met.no & otherwise.yes) | (then.yes & otherwise.yes)
        no = (met.yes & then.no) | (met.no & otherwise.no) | (then.no & otherwise.no)
        return Truth(yes, no)
