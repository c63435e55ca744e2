"""Structure put to work: what rows must keep, and what follows from what.

A follower is a function of new rows and the rows they start from, codes (n, d) both, and gives the
codes of its column. A row that breaks the relation to begin with keeps what it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from macex.schema import MISSING, Array, Column, Schema, special
from macex.structure.checks import (
    ColumnFormula,
    DeterminationTest,
    ImplicationTest,
    Test,
    compiled,
    turned,
)
from macex.structure.relations import Relation
from macex.structure.structure import Structure, binds


@dataclass(frozen=True)
class Kept:
    """A relation with its test and, where it has one, the column that follows by it.

    `back` is the other column, where either may follow the other.
    """

    relation: Relation
    test: Test
    follower: tuple[int, Follower] | None
    back: tuple[int, Follower] | None = None

    @property
    def text(self) -> str:
        """The relation in words."""
        return self.relation.text

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it."""
        return self.test(codes)


@dataclass(frozen=True)
class Keeping:
    """The relations of a structure, compiled for the columns of a schema.

    `caused` are the columns whose causes are stated, with these: of them, causes have the say.
    """

    structure: Structure
    schema: Schema
    caused: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def tests(self) -> tuple[Kept, ...]:
        """Every relation that a row can break."""
        tests = [(relation, compiled(relation, self.schema)) for relation in self.structure]
        return tuple(
            _kept(relation, test, self.schema) for relation, test in tests if test is not None
        )

    @cached_property
    def binding(self) -> tuple[Kept, ...]:
        """Those that answers keep."""
        return tuple(kept for kept in self.tests if binds(kept.relation))

    def overruled(self, kept: Kept) -> str:
        """Why causes come before a relation; empty if they do not."""
        if not self.caused:
            return ""
        columns = {self.schema.position(name) for name in kept.relation.columns}
        followed = set() if kept.follower is None else {kept.follower[0]}
        effects = (followed & set(self.caused)) or (columns & set(self.caused))
        graph = {*self.caused, *(place for causes in self.caused.values() for place in causes)}
        if followed & set(self.caused) or (effects and columns <= graph):
            return f"causes say what {self.schema.names[min(effects)]} becomes"
        return ""

    def broken(self, codes: Array) -> Array:
        """Which rows break which relation, (n, relations) bool."""
        if not self.tests:
            return np.zeros((len(codes), 0), bool)
        return ~np.column_stack([kept(codes) for kept in self.tests])


def _kept(relation: Relation, test: Test, schema: Schema) -> Kept:
    if not binds(relation):
        return Kept(relation, test, None)
    back = turned(relation, test, schema)
    follower = None if back is None else follower_of(back, schema)
    return Kept(relation, test, follower_of(test, schema), follower)


@dataclass(frozen=True)
class Determined:
    """The value that goes with another column's."""

    test: DeterminationTest

    @property
    def columns(self) -> tuple[int, ...]:
        """What it is read from."""
        return (self.test.first,)

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows."""
        value, known = self.test.mapping(new[:, self.test.first])
        return np.where(known & self.test(old), value, new[:, self.test.second])


@dataclass(frozen=True)
class Computed:
    """The result of a formula, as far from it as it was in the row itself."""

    test: ColumnFormula
    column: Column

    @property
    def columns(self) -> tuple[int, ...]:
        """What it is read from."""
        return self.test.inputs

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows."""
        before, after = self.test.made(old), self.test.made(new)
        own = old[:, self.test.result]
        with np.errstate(all="ignore"):
            if self.test.operation in ("product", "ratio"):
                moved = np.where(before != 0, own * (after / before), after)
            else:
                moved = own + (after - before)
        value = self.column.held(np.where(self.test.exact(old), after, moved))
        follows = self.test(old) & np.isfinite(before) & ~special(own)
        value = np.where(np.isfinite(value), value, MISSING)
        return np.where(follows, value, new[:, self.test.result])


@dataclass(frozen=True)
class Implied:
    """The one value that another column's value implies, once that has been set."""

    test: ImplicationTest

    @property
    def columns(self) -> tuple[int, ...]:
        """What it is read from."""
        return (self.test.first,)

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows; one that was changed itself stays."""
        first, second = self.test.first, self.test.second
        own, (value,) = new[:, second], self.test.values
        set_now = (new[:, first] == self.test.when) & (old[:, first] != self.test.when)
        return np.where(set_now & (own == old[:, second]), value, own)


Follower = Determined | Computed | Implied


def follower_of(test: Test, schema: Schema) -> tuple[int, Follower] | None:
    """The column that follows by a relation and how; None if none does."""
    if isinstance(test, DeterminationTest):
        return test.second, Determined(test)
    if isinstance(test, ColumnFormula):
        return test.result, Computed(test, schema.columns[test.result])
    if isinstance(test, ImplicationTest) and not test.never and len(test.values) == 1:
        return test.second, Implied(test)
    return None
