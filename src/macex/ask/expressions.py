"""The small language of rules and derived columns, compiled to array code.

    debt <= income
    if edu != old(edu) then age >= old(age) + 2
    edu in ('MSc', 'PhD') and not smoker
    0 < abs(a - b) <= 3 or `marital status` is missing
    start <= '2024-01-31' and end - start < 30
    if age < 30 then 'young' else 'grown'

`macex.ask.grammar` holds the whole grammar. A name is a column as it is in the answer; `old(name)`
is the same column in the query. The rules of the language:

- Numbers are float64. Arithmetic with a missing number gives a missing number, and so does a
  division by zero or the logarithm of a negative number.
- Categorical columns have `==`, `!=` and `in`; ordered ones also `<` and the like. They are
  compared only with their own values and their own old value. A column of true and false is a
  condition.
- Datetimes are compared with each other and with ISO text. The difference of two is in days, and
  a number of days may be added.
- `if a then b` alone is the rule "b wherever a"; with `else` it also gives a value.
- A comparison with something missing is neither true nor false but unknown, and so is what
  depends on it. **A rule whose truth is unknown counts as satisfied.** Add `x is not missing` to
  require a value. A condition whose truth is unknown gives a missing value.

Text comes from configuration files and requests, so nothing is ever evaluated by Python, and
length and depth are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.binder import NUMBER, Binder, Described
from macex.ask.grammar import Parser
from macex.errors import ConstraintError
from macex.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from macex.ask.evaluation import Condition, Flags, Numbers, Value
    from macex.ask.syntax import Tree

__all__ = [
    "Described",
    "Expression",
    "Formula",
    "RowRule",
    "compile_formula",
    "compile_rule",
    "parse",
    "topological",
]


@dataclass(frozen=True)
class Expression:
    """A text that was parsed but knows no columns yet, only the names it reads."""

    text: str
    reads_now: frozenset[str]
    reads_old: frozenset[str]
    tree: Tree = field(repr=False)

    @property
    def names(self) -> frozenset[str]:
        """Every column it reads, now or old."""
        return self.reads_now | self.reads_old


@dataclass(frozen=True)
class RowRule:
    """A condition on the new rows, given the old ones; unknown counts as kept."""

    text: str
    columns: tuple[int, ...]
    condition: Condition = field(repr=False)

    def __call__(self, new: Numbers, old: Numbers) -> Flags:
        """Which of the rows `new` (n, d) keep the rule; `old` is (n, d), or (1, d) for all."""
        with np.errstate(all="ignore"):
            broken = self.condition(new, old).no
        return np.array(np.broadcast_to(~broken, len(new)))


@dataclass(frozen=True)
class Formula:
    """A value for each of the new rows, given the old ones."""

    text: str
    columns: tuple[int, ...]
    value: Value = field(repr=False)

    def __call__(self, new: Numbers, old: Numbers) -> Numbers:
        """The codes (n,) of the value, `MISSING` where it is missing."""
        with np.errstate(all="ignore"):
            value = self.value(new, old)
        return np.array(np.broadcast_to(np.where(np.isnan(value), MISSING, value), len(new)))


def parse(text: str) -> Expression:
    """Read a text; `ExpressionError` shows the place where it stops making sense.

    >>> sorted(parse("if edu != old(edu) then age >= old(age) + 2").names)
    ['age', 'edu']
    >>> parse("debt <= ")
    Traceback (most recent call last):
    macex.errors.ExpressionError: expected a column, a number or text, found the end
      debt <=
              ^
    """
    parser = Parser(text)
    tree = parser.whole()
    return Expression(text, frozenset(parser.now), frozenset(parser.old), tree)


def compile_rule(text: str, columns: Sequence[Described]) -> RowRule:
    """Bind a condition to the columns of the code arrays, in their order."""
    expression = parse(text)
    condition = Binder(text, columns).truth(expression.tree)
    return RowRule(text, places(expression, columns), condition)


def compile_formula(
    text: str, columns: Sequence[Described], target: Described | None = None
) -> Formula:
    """Bind a value to the columns of the code arrays, in their order.

    The value is a number, or a code of `target` where that is not continuous: its literals then
    name categories or datetimes of the target. A categorical column of true and false takes a
    condition.
    """
    expression = parse(text)
    kind = NUMBER if target is None or target.kind == "continuous" else target
    value = Binder(text, columns).value(expression.tree, kind)
    return Formula(text, places(expression, columns), value)


def places(expression: Expression, columns: Sequence[Described]) -> tuple[int, ...]:
    """Where the columns that an expression reads stand."""
    return tuple(i for i, column in enumerate(columns) if column.name in expression.names)


def topological(derived: Mapping[str, Expression]) -> list[str]:
    """The order in which derived columns are computed: inputs first, ties by name.

    Old values are given, so only what a formula reads *now* must come before it.

    >>> topological({"a": parse("b * 2"), "b": parse("c + old(a)")})
    ['b', 'a']
    """
    reads = {name: sorted(derived[name].reads_now & derived.keys()) for name in sorted(derived)}
    try:
        return list(TopologicalSorter(reads).static_order())
    except CycleError as error:
        cycle = " reads ".join(repr(name) for name in reversed(error.args[1]))
        message = f"derived columns depend on each other: {cycle}; drop one of them"
        raise ConstraintError(message) from error
