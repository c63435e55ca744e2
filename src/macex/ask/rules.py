"""Tests of whole rows: expressions, and Python functions of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.expressions import RowRule
from macex.errors import ConstraintError
from macex.schema import Array, Rows, Schema
from macex.structure.enforcement import Kept


@dataclass(frozen=True)
class TextRule:
    """An expression, used as a rule."""

    rule: RowRule

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows satisfy it."""
        return self.rule(new, old)


@dataclass(frozen=True)
class FrameRule:
    """A Python function of one frame (the new rows), used as a rule."""

    test: Callable[[Any], Any]
    schema: Schema
    rows: Rows

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows satisfy it."""
        name = getattr(self.test, "__name__", "rule")
        try:
            verdict = np.asarray(self.test(self.schema.frame(new, self.rows, at)))
            holds = verdict.astype(bool)
        except Exception as fault:
            raise ConstraintError(f"the rule {name} raised {fault!r} when given a frame") from fault
        if verdict.shape != (len(new),):
            raise ConstraintError(f"the rule {name} returned {verdict.shape} for {len(new)} rows")
        return holds


@dataclass(frozen=True)
class KeptRule:
    """A relation found in training, used as a rule."""

    kept: Kept
    by_category: bool  # numbers have no say in it

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows keep it."""
        return self.kept(new)


@dataclass(frozen=True)
class UnmovedRule:
    """A fixed column that has causes: it may not follow these either."""

    column: int

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows have the column as it was."""
        return np.asarray(new[:, self.column] == old[:, self.column])


@dataclass(frozen=True)
class FollowerRule:
    """A column that follows others, and goes no farther than the caller lets it."""

    column: int
    own: Array  # (Q, d)
    admit: Callable[[Array, Array, int, Array], Array]

    def __call__(self, new: Array, old: Array, at: Array) -> Array:
        """Whether the new rows have the column as it was, or as it may be."""
        value = new[:, self.column]
        admitted = self.admit(self.own, at, self.column, value)
        return np.asarray(admitted | (value == old[:, self.column]))


RowTest = TextRule | FrameRule | KeptRule | UnmovedRule | FollowerRule


def unmoved_rules(
    schema: Schema, per_query: Sequence[Constraints], caused: Iterable[int]
) -> Iterator[tuple[UnmovedRule, Array, str]]:
    """Fixed columns that have causes, as rules for the queries (Q,) bool that fix them."""
    for column in caused:
        name = schema.names[column]
        bound = np.array([name in constraints.fixed for constraints in per_query], bool)
        if bound.any():
            yield UnmovedRule(column), bound, f"fixed {name!r}"


def follower_rules(
    schema: Schema,
    own: Array,
    per_query: Sequence[Constraints],
    admit: Callable[[Array, Array, int, Array], Array],
    following: Iterable[int],
) -> Iterator[tuple[FollowerRule, Array, str]]:
    """Columns that follow others, as rules for the queries (Q,) bool that say how far they may."""
    for column in following:
        name = schema.names[column]
        bound = np.array([name in bounded(constraints) for constraints in per_query], bool)
        if bound.any():
            yield FollowerRule(column, own, admit), bound, f"what {name!r} may be"


def bounded(constraints: Constraints) -> set[str]:
    """The columns of which the caller says how far they may go."""
    one = constraints
    return {*one.ranges, *one.increase, *one.decrease, *one.allowed}
