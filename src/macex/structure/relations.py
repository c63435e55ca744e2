"""What holds between the columns of nearly every training row.

A relation is a plain value: it knows columns by name and values as Python values, and can be
written to JSON or TOML and read again. `macex.structure.enforcement` turns it into arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, ClassVar, TypeAlias

import numpy as np

from macex.errors import ConstraintError, closest

Values: TypeAlias = tuple[object, ...]
LARGEST = 1e300
MISSING = {"missing": True}  # a missing value among others, written down


@dataclass(frozen=True, kw_only=True)
class Relation:
    """What training rows (almost) never break.

    `support` counts the rows that it speaks of, `exceptions` those among them that break it, and
    `example` holds the values of its columns in one row that keeps it.
    """

    columns: tuple[str, ...]
    support: int = 0
    exceptions: int = 0
    example: Values | None = None

    kind: ClassVar[str] = ""
    needs: ClassVar[int] = 2  # columns, at least
    most: ClassVar[int | None] = None  # and at most

    def __post_init__(self) -> None:
        """Accept lists where tuples are meant, as files have them."""
        for field in fields(self):
            object.__setattr__(self, field.name, _frozen(getattr(self, field.name)))
        names = self.columns
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise ConstraintError(f"a relation names its columns in a list, not {names!r}")
        if len(set(names)) < max(self.needs, len(names)):
            raise ConstraintError(
                f"a relation of the kind {self.kind!r} needs {self.needs} different columns or "
                f"more, not {list(names)!r}"
            )
        if self.most is not None and len(names) > self.most:
            raise ConstraintError(
                f"a relation of the kind {self.kind!r} has {self.most} columns, not {list(names)!r}"
            )
        counted = all(_number(one) and one >= 0 for one in (self.support, self.exceptions))
        self._require(counted, "support and exceptions are numbers of rows")
        self._require(isinstance(self.example, tuple | None), "example is a list of values")

    def _require(self, holds: bool, said: str) -> None:
        """Raise for a part of the wrong type."""
        if not holds:
            raise ConstraintError(
                f"the relation of the kind {self.kind!r} between {', '.join(self.columns)}: {said}"
            )

    @property
    def text(self) -> str:
        """The relation in words."""
        raise NotImplementedError

    @property
    def exceptionless(self) -> bool:
        """Whether no training row breaks it."""
        return self.exceptions == 0

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The relation as JSON or TOML can hold it; what is empty is left out."""
        parts = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"kind": self.kind} | {
            name: part for name, part in parts.items() if part is not None
        }


@dataclass(frozen=True, kw_only=True)
class Implication(Relation):
    """Where one column has a value, another has one, too, or never has some others.

    A value of None is a missing one.

    >>> print(Implication(columns=("line", "security"), when="none", then=("no internet",)))
    if line == 'none' then security == 'no internet'
    >>> print(Implication(columns=("marital", "role"), when="single", never=("wife", "husband")))
    if marital == 'single' then role not in ('wife', 'husband')
    """

    when: object = None
    then: Values = ()
    never: Values = ()

    kind: ClassVar[str] = "implication"
    most: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        """Refuse one that says nothing, or that in two ways."""
        super().__post_init__()
        lists = isinstance(self.then, tuple) and isinstance(self.never, tuple)
        self._require(lists, "then and never are lists of values")
        self._require(bool(self.then) != bool(self.never), "give values for then, or for never")
        values = (self.when, *self.then, *self.never)
        self._require(all(map(_plain_cell, values)), "when, then and never hold values of columns")

    @property
    def text(self) -> str:
        """The relation as a rule."""
        when, then = map(written, self.columns)
        condition = f"if {_is(when, (self.when,))} then "
        return condition + _is(then, self.then or self.never, never=not self.then)


@dataclass(frozen=True, kw_only=True)
class Determination(Relation):
    """The first column determines the second; `pairs` are the values that go together."""

    pairs: tuple[tuple[object, object], ...] = ()
    mutual: bool = False  # the second determines the first, too

    kind: ClassVar[str] = "determines"
    most: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        """Refuse anything but pairs of values."""
        super().__post_init__()
        pairs = isinstance(self.pairs, tuple) and all(
            isinstance(one, tuple) and len(one) == 2 and all(map(_plain_cell, one))
            for one in self.pairs
        )
        self._require(pairs, "pairs is a list of pairs of values")
        self._require(isinstance(self.mutual, bool), "mutual is true or false")

    @property
    def text(self) -> str:
        """The relation in words."""
        first, second = self.columns
        if self.mutual:
            return f"{first} and {second} determine each other"
        return f"{first} determines {second}"


SIGNS = {"sum": "+", "difference": "-", "product": "*", "ratio": "/"}


@dataclass(frozen=True, kw_only=True)
class Arithmetic(Relation):
    """The last column is the sum, difference, product or ratio of the others.

    `tolerance` is relative to the largest number that enters a sum, and to the result of a product.

    >>> print(Arithmetic(columns=("months", "price", "total"), operation="product", tolerance=0.05))
    total = months * price, within 5 %
    """

    operation: str = "sum"
    tolerance: float = 0.0

    kind: ClassVar[str] = "arithmetic"
    needs: ClassVar[int] = 3

    def __post_init__(self) -> None:
        """Refuse an unknown operation."""
        super().__post_init__()
        wide = _number(self.tolerance) and self.tolerance >= 0
        self._require(wide, "tolerance is a number from 0 on")
        if not isinstance(self.operation, str) or self.operation not in SIGNS:
            raise ConstraintError(
                f"an arithmetic relation has no operation {self.operation!r}"
                f"{closest(self.operation, SIGNS)}"
            )

    @property
    def text(self) -> str:
        """The relation as a formula."""
        *parts, result = map(written, self.columns)
        formula = f" {SIGNS[self.operation]} ".join(parts)
        within = f", within {100 * self.tolerance:g} %" if self.tolerance else ""
        return f"{result} = {formula}{within}"


@dataclass(frozen=True, kw_only=True)
class Linear(Relation):
    """The second column is a multiple of the first, or shifted by a constant.

    >>> print(Linear(columns=("inches", "cm"), factor=2.54))
    cm = 2.54 * inches
    """

    factor: float = 1.0
    offset: float = 0.0

    kind: ClassVar[str] = "linear"
    most: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        """Refuse anything but numbers."""
        super().__post_init__()
        numbers = _number(self.factor) and _number(self.offset)
        self._require(numbers, "factor and offset are numbers")

    @property
    def text(self) -> str:
        """The relation as a formula."""
        first, second = map(written, self.columns)
        scaled = first if self.factor == 1 else f"{self.factor:.6g} * {first}"
        sign = "-" if self.offset < 0 else "+"
        shift = f" {sign} {abs(self.offset):.6g}" if self.offset else ""
        return f"{second} = {scaled}{shift}"


@dataclass(frozen=True, kw_only=True)
class Order(Relation):
    """The first column is never above the second."""

    kind: ClassVar[str] = "order"
    most: ClassVar[int | None] = 2

    @property
    def text(self) -> str:
        """The relation as a rule."""
        return " <= ".join(map(written, self.columns))


@dataclass(frozen=True, kw_only=True)
class MissingTogether(Relation):
    """The columns are missing in the same rows."""

    kind: ClassVar[str] = "missing together"

    @property
    def text(self) -> str:
        """The relation in words."""
        return f"{_listed(self.columns)} are missing together"


@dataclass(frozen=True, kw_only=True)
class OneOf(Relation):
    """Columns of zeros and ones of which exactly one is 1."""

    kind: ClassVar[str] = "one of"

    @property
    def text(self) -> str:
        """The relation in words."""
        return f"exactly one of {_listed(self.columns)} is 1"


@dataclass(frozen=True, kw_only=True)
class Flag(Relation):
    """A whole number that is 0 or 1: a truth value."""

    kind: ClassVar[str] = "flag"
    needs: ClassVar[int] = 1
    most: ClassVar[int | None] = 1

    @property
    def text(self) -> str:
        """The relation in words."""
        return f"{self.columns[0]} is 0 or 1"


KINDS: dict[str, type[Relation]] = {
    kind.kind: kind
    for kind in (
        Implication,
        Determination,
        Arithmetic,
        Linear,
        Order,
        MissingTogether,
        OneOf,
        Flag,
    )
}


def relation_from(stored: Mapping[str, Any]) -> Relation:
    """The relation that was written down.

    >>> relation_from({"kind": "order", "columns": ["net", "gross"]}).text
    'net <= gross'
    """
    if not isinstance(stored, Mapping):
        raise ConstraintError(f"a relation is a table with its kind and columns, not {stored!r}")
    name = stored.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise ConstraintError(f"there is no relation of the kind {name!r}{closest(name, KINDS)}")
    known = [field.name for field in fields(KINDS[name])]
    parts = {part: value for part, value in stored.items() if part != "kind"}
    for part in parts:
        if part not in known:
            raise ConstraintError(
                f"a relation of the kind {name!r} has no part {part!r}{closest(part, known)}"
            )
    if "columns" not in parts:
        raise ConstraintError(f"a relation of the kind {name!r} needs its columns")
    return KINDS[name](**parts)


def _number(given: Any) -> bool:
    """Whether something is a number that is not too large to calculate with."""
    known = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    return known and bool(abs(given) <= LARGEST)


def _plain_cell(given: Any) -> bool:
    """Whether something may be a value of a column."""
    return not isinstance(given, tuple | Mapping)


def written(name: str) -> str:
    """A column's name as a rule writes it.

    >>> written("age"), written("marital status")
    ('age', '`marital status`')
    """
    return name if name.replace(".", "_").isidentifier() else f"`{name.replace('`', '``')}`"


def _is(name: str, values: Values, *, never: bool = False) -> str:
    if values == (None,):
        return f"{name} is not missing" if never else f"{name} is missing"
    if len(values) == 1:
        return f"{name} {'!=' if never else '=='} {_value(values[0])}"
    return f"{name} {'not in' if never else 'in'} ({', '.join(map(_value, values))})"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return None if value.get("missing") else value
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """A part as TOML can hold it, which knows no null."""
    if isinstance(value, tuple):
        return [dict(MISSING) if entry is None else _plain(entry) for entry in value] or None
    return value.isoformat() if isinstance(value, date) else value
