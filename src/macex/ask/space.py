"""What may change for each query of a batch, as arrays: the constraints put to work.

Constraints on single values are applied where values are offered (`Space.admits_one`). Constraints
on whole rows are applied before a row is scored (`Space.holds`). Both are checked again at the end
(`Space.allows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from macex.ask.expressions import Formula
from macex.ask.rules import KeptRule, RowTest
from macex.ask.units import Ground, Unit, column_codes
from macex.schema import MISSING, UNKNOWN, Array, Rows, special
from macex.structure.enforcement import Follower, Implied

CHAIN = 4  # how many values may imply each other in a row


class Caused(Protocol):
    """How a column follows its causes, for rows (n, d) in which it was not set itself."""

    @property
    def columns(self) -> tuple[int, ...]:
        """Its causes."""

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows, which started from the old ones."""

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:
        """The same by another draw of what is not known; `uniform` (n,) is chance."""


class Chance(NamedTuple):
    """One draw of what is not known about causes: its number, and chance for every query."""

    number: int
    uniform: Array  # (Q, d)


@dataclass(frozen=True)
class Menu:
    """The values a column may be set to, for the queries that `allowed` binds."""

    values: Array  # (v,) sorted
    allowed: Array  # (Q, v) bool
    bound: Array  # (Q,) bool
    stays: Array  # (Q,) bool: strict bounds let the present value stay

    def offers(self, at: Array, values: Array) -> Array:
        """Whether each value is on the menu of query `at`, or that query is not bound by it."""
        if not len(self.values):
            return ~self.bound[at]
        place = np.clip(np.searchsorted(self.values, values), 0, len(self.values) - 1)
        return ~self.bound[at] | ((self.values[place] == values) & self.allowed[at, place])


@dataclass(frozen=True)
class Bounds:
    """What a change may set, for every query (first axis) and column (second axis)."""

    changeable: Array  # (Q, d) bool
    reason: Array  # (Q, d) bool: may be named as a reason although it may not change
    floor: Array  # (Q, d)
    ceiling: Array  # (Q, d)
    blank: Array  # (Q, d) bool: may be set to missing
    menus: Mapping[int, Menu]  # column -> the values that `allowed` leaves
    weights: Array  # (Q, d)
    max_changes: Array  # (Q,)
    strict: Array  # (Q,) bool
    support: Array  # (Q,) int: how many training rows must have a combination

    @cached_property
    def unbounded(self) -> bool:
        """Whether any seen value of any column may be set in any query."""
        open_ends = np.isneginf(self.floor).all() and np.isposinf(self.ceiling).all()
        return bool(open_ends) and not self.menus and not self.blank.any()

    def admit(self, own: Array, at: Array, column: int, values: Array) -> Array:
        """Whether a change of `column` may set `values`; `at` says for which query."""
        if self.unbounded:
            return (values != own[at, column]) & (values != MISSING)
        low, high = self.floor[at, column], self.ceiling[at, column]
        number = (values >= low) & (values <= high)
        ok = np.where(values == MISSING, self.blank[at, column], number)
        if column in self.menus:
            ok &= self.menus[column].offers(at, values)
        result: Array = ok & (values != own[at, column])
        return result


@dataclass(frozen=True)
class Space:
    """A batch of queries and what may change in each.

    `queries` are the rows by unit, `own` the same rows by column.
    """

    ground: Ground
    rows: Rows
    units: tuple[Unit, ...]
    queries: Array  # (Q, U)
    own: Array  # (Q, d)
    bounds: Bounds
    changeable: Array  # (Q, U) bool
    reason: Array  # (Q, U) bool
    joint: Mapping[int, Array]  # group -> allowed combinations (Q, v) bool
    rules: tuple[tuple[RowTest, Array, str], ...]  # test, (Q,) bool: for whom, text
    derived: tuple[tuple[int, Formula | Follower | Caused], ...]  # column, how it is computed
    follows: Array  # (Q, d) bool: which columns are, and are no changes of their own
    implied: tuple[tuple[int, Implied], ...] = ()  # column, what it is set to with another
    caused: Mapping[int, Caused] = field(default_factory=dict)  # derived that can be set, too

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def width(self) -> int:
        """The number of units."""
        return len(self.units)

    def closed(self, queries: Array) -> Space:
        """The same space with nothing to change in some queries (Q,) bool."""
        if not queries.any():
            return self
        closed = self.changeable & ~queries[:, None]
        return replace(self, changeable=closed, reason=self.reason & ~queries[:, None])

    def admits_one(self, at: Array, place: int, values: Array) -> Array:
        """Whether a change of unit `place` may set `values`, if that unit may change at all."""
        unit = self.units[place]
        if unit.table is None:
            return self.bounds.admit(self.own, at, unit.members[0], values)
        known = values >= 0
        allowed = self.joint[place][at, np.where(known, values, 0).astype(np.intp)]
        result: Array = known & allowed & (values != self.queries[at, place])
        return result

    def columns(self, codes: Array, at: Array, chance: Chance | None = None) -> Array:
        """Codes by column, with derived columns recomputed where an input changed.

        A column with causes follows them where it was not set itself. What is not known about that
        is as `chance` has it, else as it is most likely.
        """
        if self.identity:
            return codes.take(self._places, axis=1)
        own = self.own.take(at, axis=0)
        full = column_codes(self.units, codes, own)
        stays = {column: full[:, column] != own[:, column] for column in self.caused}
        self._imply(full, own)
        for column, formula in self.derived:
            inputs = list(formula.columns)
            moved = (full[:, inputs] != own[:, inputs]).any(axis=1)
            moved &= ~stays.get(column, np.zeros(len(full), bool))
            if not moved.any():
                continue
            new, old, caused = full[moved], own[moved], self.caused.get(column)
            if caused is None or chance is None:
                value = formula(new, old)
            else:
                value = caused.drawn(new, old, chance.number, chance.uniform[at[moved], column])
            full[moved, column] = self._held(column, value)
        return full

    def set_columns(self, codes: Array, at: Array) -> Array:
        """Codes by column with what is done alone: nothing follows."""
        return column_codes(self.units, codes, self.own.take(at, axis=0))

    def _imply(self, full: Array, own: Array) -> None:
        """Set what is implied by what was set, and what is implied by that."""
        moved = full != own if self.implied else full
        for _ in range(CHAIN if self.implied else 0):
            again = False
            for column, follower in self.implied:
                rows = np.flatnonzero(moved[:, follower.test.first] & ~moved[:, column])
                if len(rows):
                    full[rows, column] = follower(full[rows], own[rows])
                    moved[rows, column] = full[rows, column] != own[rows, column]
                    again |= bool(moved[rows, column].any())
            if not again:
                break

    def _held(self, column: int, values: Array) -> Array:
        """Computed values as the dtype holds them; they may leave the grid and the range."""
        kind = self.ground.schema.columns[column]
        return values if kind.discrete else np.where(special(values), values, kind.in_dtype(values))

    def tellable(self, full: Array, at: Array) -> Array:
        """Rows, by column, that may be told: no value goes missing because of a change elsewhere.

        A column that is computed is missing where its inputs are. Where they are not and it cannot
        be computed, as in a division by zero, or is more than its dtype can hold, there is no such
        row.
        """
        ok = np.ones(len(full), bool)
        for column, formula in (*self.derived, *self.implied):
            lost = special(full[:, column])
            kind = self.ground.schema.columns[column]
            if not kind.discrete:
                ok &= lost | kind.fits(full[:, column])
            if not lost.any():
                continue
            if self.ground.schema.columns[column].storage.nullable:
                lost &= full[:, column] != self.own[at, column]
                lost &= ~special(full[:, list(formula.columns)]).any(axis=1)
            ok &= ~lost
        return ok

    def holds(self, full: Array, at: Array) -> Array:
        """Whether whole rows, by column, satisfy the rules and strict bounds of their queries."""
        ok = self.tellable(full, at)
        for test, bound, _ in self.rules:
            if isinstance(test, KeptRule):  # reads few columns: rows need no copies
                ok &= test.kept(full) | ~bound[at]
                continue
            todo = ok & bound[at]
            if todo.any():
                ok[todo] = test(full[todo], self.own[at[todo]], at[todo])
        todo = ok & self.bounds.strict[at]
        if todo.any():
            ok[todo] = self._inside(full[todo], at[todo])
        return ok

    def allows(self, codes: Array, at: Array, full: Array | None = None) -> Array:
        """Whether rows, by unit, keep every constraint: the final check.

        `full` are the same rows by column, where these are known.
        """
        changed = self.changed(codes, at)
        ok = self.holds(self.columns(codes, at) if full is None else full, at)
        ok &= changed.sum(axis=1) <= self.bounds.max_changes[at]
        for place in np.flatnonzero(changed.any(axis=0)):
            fits = self.admits_one(at, int(place), codes[:, place]) & self.changeable[at, place]
            ok &= fits | ~changed[:, place]
        return ok

    def snap(self, place: int, values: Array) -> Array:
        """Values of one number put on its grid and into its range."""
        return self.ground.schema.columns[self.units[place].members[0]].snap(values)

    def moved_numbers(self, codes: Array, at: Array) -> Array:
        """Which changed units are numbers with a way back to the query's own, (n, U) bool."""
        number = np.array([not unit.discrete for unit in self.units])
        plain = ~special(self.queries[at]) & ~special(codes)
        return number & self.changed(codes, at) & plain

    def changed(self, codes: Array, at: Array) -> Array:
        """Which units differ from the query, (n, U) bool."""
        differs: Array = codes != self.queries.take(at, axis=0)
        return differs

    @cached_property
    def bound_rows(self) -> bool:
        """Whether any whole row is tested at all."""
        follow = bool(self.derived) or bool(self.implied)
        return bool(self.rules) or follow or bool(self.bounds.strict.any())

    @cached_property
    def plain(self) -> bool:
        """Whether units are columns and each may be set to any value seen, but for fixed ones."""
        return not self.joint and self.bounds.unbounded

    @cached_property
    def free(self) -> bool:
        """Whether every query may change all units at once."""
        return bool(self.changeable.all() and (self.bounds.max_changes >= self.width).all())

    @cached_property
    def identity(self) -> bool:
        """Whether units are columns in another order and nothing follows from others."""
        return not self.joint and not self.derived and not self.implied

    @cached_property
    def _places(self) -> Array:
        """For every column, which unit it is."""
        return np.argsort([unit.members[0] for unit in self.units])

    def _inside(self, full: Array, at: Array) -> Array:
        bounds, ok = self.bounds, np.ones(len(at), bool)
        for column in range(full.shape[1]):
            values = full[:, column]
            low, high = bounds.floor[at, column], bounds.ceiling[at, column]
            inside = (values >= low) & (values <= high) & (values != UNKNOWN)
            ok &= inside | (values == MISSING) | (np.isneginf(low) & np.isposinf(high))
            if column in bounds.menus:
                ok &= bounds.menus[column].stays[at] | (values != self.own[at, column])
        return ok
