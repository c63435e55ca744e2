"""The kinds of column a caller may name to correct what is inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, Literal, TypeAlias

from macex.errors import SchemaError, closest

KindName: TypeAlias = Literal["categorical", "ordered", "continuous", "datetime"]


@dataclass(frozen=True)
class Categorical:
    """A choice among values without order; integers are categories only if declared so."""


@dataclass(frozen=True)
class Ordered:
    """A choice among values with an order, least first.

    Without `values` the order is that of the column itself: its declared categories, or its
    numbers from small to large.
    """

    values: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Accept any sequence of distinct values."""
        values = tuple(self.values)
        if len(set(values)) < len(values):
            raise SchemaError(f"Ordered: values holds one value twice: {list(values)}")
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Continuous:
    """A number: `step` is its grid (0 for none), `low` and `high` replace the training range."""

    step: float | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        """Refuse a grid or a range that holds no number."""
        given: dict[str, Any] = {"step": self.step, "low": self.low, "high": self.high}
        for name, number in given.items():
            if number is None:
                continue
            if isinstance(number, bool) or not isinstance(number, Real):
                raise SchemaError(f"Continuous: {name} is {number!r}; give a number")
            if not isfinite(number):
                raise SchemaError(f"Continuous: {name} is {number}; give a finite number")
        if self.step is not None and self.step < 0:
            raise SchemaError(f"Continuous: step is {self.step}; give a positive number, or 0")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise SchemaError(f"Continuous: low={self.low} is above high={self.high}; swap them")


@dataclass(frozen=True)
class Datetime:
    """A point in time."""


@dataclass(frozen=True)
class OneHot:
    """Columns of zeros and ones that are one choice: exactly one of them is 1 in every row.

    A category is named by what follows the common part of the columns' names, or by `columns` as a
    mapping from column to category. `none` names the category of rows in which no column is 1, as
    encoders that drop the first category leave them. Without `none` such rows are refused, unless
    training has them: then the category is called "none of these".

    >>> OneHot(["edu_BSc", "edu_MSc"]).columns
    ('edu_BSc', 'edu_MSc')
    """

    columns: Sequence[str] | Mapping[str, str]
    none: str | None = None

    def __post_init__(self) -> None:
        """Refuse a row that does not set exactly one flag."""
        given = self.columns
        if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
            raise SchemaError(f"OneHot: give a list of columns, not {given!r}")
        columns = tuple(map(str, given))
        if len(set(columns)) < len(columns):
            raise SchemaError(f"OneHot: a column is named twice: {list(columns)}")
        if len(columns) + (self.none is not None) < 2:
            raise SchemaError(f"OneHot: a choice needs two columns or more, not {list(columns)}")
        if not isinstance(given, Mapping):
            object.__setattr__(self, "columns", columns)


Kind: TypeAlias = Categorical | Ordered | Continuous | Datetime | OneHot

NAMED: dict[str, Kind] = {
    "categorical": Categorical(),
    "continuous": Continuous(),
    "datetime": Datetime(),
    "ordered": Ordered(),
}


def kind_of(column: str, given: object) -> Kind:
    """The kind meant by what a caller wrote for one column.

    >>> kind_of("pclass", "categorical")
    Categorical()
    """
    if isinstance(given, Categorical | Ordered | Continuous | Datetime):
        return given
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    raise SchemaError(f"schema: column {column!r} has kind {given!r}{closest(given, NAMED)}")
