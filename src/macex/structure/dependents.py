"""Columns that follow others, because a relation says what they become.

Each is a function of new rows and the rows they start from, codes (n, d) both, and gives the codes
of its column. A row that breaks the relation to begin with keeps what it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.schema import MISSING, Array, Column, Schema, special
from macex.structure.checks import ColumnFormula, DeterminationTest, ImplicationTest, Test


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
