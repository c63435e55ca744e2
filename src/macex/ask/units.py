"""The training rows as codes, and the units that searches move.

A *unit* is what changes as one: a column, or a group of columns that move together. Searches see
one number per unit; for a group that number is the index of a combination seen in training. Units
stand in the order of their names, so that nothing depends on the order of columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from macex.errors import SchemaError
from macex.schema import UNKNOWN, Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.schema import Column, Schema


JOINT = "+"  # between the names of a group's columns


@dataclass(frozen=True)
class Unit:
    """What changes as one: a column, or a group with its table of combinations."""

    name: str
    members: tuple[int, ...]  # positions of its columns in the schema
    discrete: bool
    ordered: bool
    low: float
    high: float
    step: float
    seen: Array  # (v,) sorted values seen in training
    counts: Array  # (v,) how often
    table: Array | None = None  # (v, members) the combinations of a group

    @cached_property
    def joint(self) -> bool:
        """Whether this is a group of columns."""
        return self.table is not None


@dataclass
class Ground:
    """The training rows: their schema and codes, in the schema's order of columns."""

    schema: Schema
    codes: Array  # (T, d)
    private: bool = False  # the codes are those of training column by column, not row by row
    spreads: dict[object, tuple[Array, Array]] = field(default_factory=dict)  # kept by stage 1
    telling: dict[object, Array] = field(default_factory=dict)  # so are these
    _units: dict[tuple[tuple[int, ...], ...], tuple[Unit, ...]] = field(default_factory=dict)

    def units(self, groups: tuple[tuple[int, ...], ...] = ()) -> tuple[Unit, ...]:
        """The units in the order of their names; `groups` hold positions of columns."""
        if groups not in self._units:
            grouped = {member for group in groups for member in group}
            plain = [
                _plain_unit(position, column)
                for position, column in enumerate(self.schema.columns)
                if position not in grouped
            ]
            joint = [self._joint_unit(group) for group in groups]
            self._units[groups] = tuple(sorted(plain + joint, key=lambda unit: unit.name))
        return self._units[groups]

    def _joint_unit(self, group: tuple[int, ...]) -> Unit:
        names = self.schema.names
        members = tuple(sorted(group, key=lambda member: names[member]))
        table, counts = np.unique(self.codes[:, members], axis=0, return_counts=True)
        seen = np.arange(len(table), dtype=float)
        return Unit(
            name=JOINT.join(names[member] for member in members),
            members=members,
            discrete=True,
            ordered=False,
            low=0.0,
            high=float(len(table) - 1),
            step=1.0,
            seen=seen,
            counts=counts,
            table=table,
        )


def _plain_unit(position: int, column: Column) -> Unit:
    return Unit(
        name=column.name,
        members=(position,),
        discrete=column.discrete,
        ordered=column.kind != "categorical",
        low=column.low,
        high=column.high,
        step=column.step,
        seen=column.seen,
        counts=column.counts,
    )


def group_members(name: str, names: Sequence[str], count: int) -> tuple[str, ...]:
    """The columns of a group from its name; a column's own name may hold a plus.

    >>> group_members("a+b+c", ["a", "a+b", "b", "c"], 2)
    ('a+b', 'c')
    """
    found = _split(name, sorted(names), count)
    if found is None:
        raise SchemaError(f"there is no group {name!r} of {count} columns")
    return found


def _split(name: str, names: Sequence[str], count: int) -> tuple[str, ...] | None:
    if count == 1:
        return (name,) if name in names else None
    for place, first in enumerate(names):
        if name.startswith(first + JOINT):
            rest = _split(name[len(first + JOINT) :], names[place + 1 :], count - 1)
            if rest is not None:
                return (first, *rest)
    return None


def unit_codes(units: tuple[Unit, ...], codes: Array) -> Array:
    """Codes of rows by unit, (n, U), from codes by column, (n, d)."""
    found = codes.take([unit.members[0] for unit in units], axis=1)
    for place, unit in enumerate(units):
        if unit.table is not None:
            found[:, place] = _combination(unit.table, codes[:, unit.members])
    return found


def column_codes(units: tuple[Unit, ...], codes: Array, own: Array) -> Array:
    """Codes by column, (n, d), from codes by unit; `own` (n, d) are the rows they start from."""
    columns = own.copy()
    for place, unit in enumerate(units):
        if unit.table is None:
            columns[:, unit.members[0]] = codes[:, place]
        else:
            known = codes[:, place] >= 0
            rows = np.flatnonzero(known)
            columns[rows[:, None], list(unit.members)] = unit.table[
                codes[rows, place].astype(np.intp)
            ]
    return columns


def _combination(table: Array, rows: Array) -> Array:
    """The index of each row in the table, UNKNOWN where it is not there."""
    both = np.concatenate([table, rows])
    _, inverse = np.unique(both, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    index = np.full(len(both), UNKNOWN)
    index[inverse[: len(table)]] = np.arange(len(table), dtype=float)
    return index[inverse[len(table) :]]
