"""The syntax tree of an expression: what was written, before any column is known.

Every node is a frozen value whose `at` is the place in the text that an error points to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from macex.errors import ExpressionError


def marked(text: str, at: int, message: str) -> ExpressionError:
    """The error that shows the text with a caret under the place.

    >>> print(marked("debt <= incme", 8, "unknown column 'incme'"))
    unknown column 'incme'
      debt <= incme
              ^
    """
    start = max(0, at - 60)
    line = "".join(c if c.isprintable() else " " for c in text[start : at + 40])
    return ExpressionError(f"{message}\n  {line}\n  {' ' * (at - start)}^")


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, text, true or false, as written."""

    at: int
    value: str | bool | int | float


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column, as it is now or as it was in the query."""

    at: int
    name: str
    old: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function of numbers."""

    at: int
    function: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus a number."""

    at: int
    operand: Tree


@dataclass(frozen=True, slots=True)
class Calculation:
    """Operands joined from left to right by operators of one rank."""

    at: int
    operands: tuple[Tree, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonChain:
    """`a < b <= c`: every neighbouring pair is compared."""

    at: int
    operands: tuple[Tree, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """`a in (…)`."""

    at: int
    subject: Tree
    options: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Absent:
    """`a is missing`."""

    at: int
    subject: Tree


@dataclass(frozen=True, slots=True)
class Negation:
    """`not a`."""

    at: int
    operand: Tree


@dataclass(frozen=True, slots=True)
class Logic:
    """Operands joined by one of `and`, `or`."""

    at: int
    word: str
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`if … then … else …`; without `else` it only binds where the condition holds."""

    at: int
    condition: Tree
    then: Tree
    otherwise: Tree | None


Tree: TypeAlias = (
    Literal
    | ColumnName
    | Call
    | Negative
    | Calculation
    | ComparisonChain
    | Member
    | Absent
    | Negation
    | Logic
    | Choice
)
