"""Structure put to work: what rows must keep, and what follows from what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from macex.schema import Array, Schema
from macex.structure.following import Follower, follower_of
from macex.structure.relations import Relation
from macex.structure.structure import Structure, binds
from macex.structure.testing import Test, compiled


@dataclass(frozen=True)
class Kept:
    """A relation with its test and, where it has one, the column that follows by it."""

    relation: Relation
    test: Test
    follower: tuple[int, Follower] | None

    @property
    def text(self) -> str:
        """The relation in words."""
        return self.relation.text

    def __call__(self, codes: Array) -> Array:
        """Whether rows keep it."""
        return self.test(codes)


@dataclass(frozen=True)
class Keeping:
    """The relations of a structure, compiled for the columns of a schema."""

    structure: Structure
    schema: Schema

    @cached_property
    def tests(self) -> tuple[Kept, ...]:
        """Every relation that a row can break."""
        tests = [(relation, compiled(relation, self.schema)) for relation in self.structure]
        return tuple(
            Kept(relation, test, follower_of(test, self.schema) if binds(relation) else None)
            for relation, test in tests
            if test is not None
        )

    @cached_property
    def binding(self) -> tuple[Kept, ...]:
        """Those that answers keep."""
        return tuple(kept for kept in self.tests if binds(kept.relation))

    def broken(self, codes: Array) -> Array:
        """Which rows break which relation, (n, relations) bool."""
        if not self.tests:
            return np.zeros((len(codes), 0), bool)
        return ~np.column_stack([kept(codes) for kept in self.tests])
