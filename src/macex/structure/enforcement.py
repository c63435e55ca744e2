"""Structure put to work: what rows must keep, and what follows from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from macex.schema import Array, Schema
from macex.structure.checks import Test, compiled, turned
from macex.structure.dependents import Follower, follower_of
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
