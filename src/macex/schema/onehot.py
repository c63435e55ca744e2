"""One-hot blocks: several columns of a frame that are one column of the schema.

Frames keep their columns of zeros and ones; the engine sees one categorical column, whose code says
which of them is 1. `Folding` is the way between the two, on codes alone, so that dtypes and
libraries stay the business of the frames' own columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from macex.errors import SchemaError, closest
from macex.schema.cells import Array, Cells
from macex.schema.columns import Column, Floats, Storage
from macex.schema.kinds import Continuous, Kind, OneHot, Ordered

Place: TypeAlias = int | tuple[int, ...]  # one column of the frame, or those of a block

SEPARATORS = "_=.:|/ -"
NONE = "none of these"


@dataclass(frozen=True, eq=False)
class Folding:
    """Which columns of the frame each column of the schema stands for.

    The code of a block is the place of the 1 among its members, and their number where none is 1
    and that is a category.
    """

    held: tuple[Column, ...]  # the columns of the frame
    columns: tuple[Column, ...]  # the columns of the schema
    places: tuple[Place, ...]  # for each column of the schema

    def fold(self, held: Floats) -> Floats:
        """Codes by schema column (n, d) from codes by frame column, one flag set."""
        codes = np.empty((len(held), len(self.places)))
        for at, place in enumerate(self.places):
            if isinstance(place, int):
                codes[:, at] = held[:, place]
            else:
                codes[:, at] = self._choice(held[:, place], at)
        return codes

    def unfold(self, codes: Floats) -> Floats:
        """Codes by frame column from codes by schema column."""
        held = np.zeros((len(codes), len(self.held)))
        for at, place in enumerate(self.places):
            if isinstance(place, int):
                held[:, place] = codes[:, at]
            else:
                held[:, place] = codes[:, at, None] == np.arange(len(place))
        return held

    def marks(self, odd: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Marks by schema column from marks by frame column; a block is never odd."""
        folded = np.zeros((len(odd), len(self.places)), dtype=bool)
        for at, place in enumerate(self.places):
            if isinstance(place, int):
                folded[:, at] = odd[:, place]
        return folded

    @cached_property
    def owners(self) -> dict[str, str]:
        """The block of every column of the frame that is in one."""
        return {
            self.held[member].name: column.name
            for column, place in zip(self.columns, self.places, strict=True)
            if not isinstance(place, int)
            for member in place
        }

    def spelled(self, cells: Mapping[Any, Any]) -> dict[Any, Any]:
        """One row with the value of a block, given by its name, as zeros and ones."""
        spelled = dict(cells)
        for column, place in zip(self.columns, self.places, strict=True):
            members = () if isinstance(place, int) else place
            names = [self.held[member].name for member in members]
            if not names or column.name not in cells or any(name in cells for name in names):
                continue
            code = column.code(spelled.pop(column.name))
            for at, member in enumerate(members):
                held = self.held[member]
                spelled[held.name] = held.value(float(code == at))
        return spelled

    def _choice(self, members: Floats, at: int) -> Floats:
        column, place = self.columns[at], self.places[at]
        names = [self.held[m].name for m in place] if isinstance(place, tuple) else []
        return chosen(members, column.name, names, resting=len(column.table) > len(names))


def chosen(members: Floats, block: str, names: Sequence[str], *, resting: bool) -> Floats:
    """Which of the members (n, k) is 1 in each row; their number k where none is, if it may be.

    >>> chosen(np.array([[0.0, 1.0], [1.0, 0.0]]), "edu", ["edu_a", "edu_b"], resting=False)
    array([1., 0.])
    """
    strange = ~np.isin(members, (0.0, 1.0))
    if strange.any():
        row, member = np.argwhere(strange)[0]
        raise SchemaError(
            f"column {names[member]!r} of the one-hot block {block!r} is neither 0 nor 1 "
            f"in row {row}"
        )
    hot = members.sum(axis=1)
    wrong = np.flatnonzero((hot > 1) | ((hot < 1) & (not resting)))
    if len(wrong):
        row = wrong[0]
        held = [name for name, on in zip(names, members[row], strict=True) if on]
        which = f"{len(held)} are: {', '.join(held[:4])}" if held else "none is"
        raise SchemaError(
            f"in the one-hot block {block!r} exactly one column must be 1, but in row {row} {which}"
        )
    return np.where(hot == 0, float(members.shape[1]), members.argmax(axis=1))


def dummy_kind(cells: Cells, name: str, block: str) -> Kind:
    """How a column of a block is read, whatever of 0 and 1 it holds in training."""
    if cells.family == "bool":
        return Ordered(values=(False, True))
    if cells.family == "number" and not cells.objects:
        return Continuous(step=1.0, low=0.0, high=1.0)
    raise SchemaError(
        f"column {name!r} of the one-hot block {block!r} has dtype {cells.dtype}; "
        "convert it to booleans or to the numbers 0 and 1"
    )


def folding(
    held: Sequence[Column], blocks: Mapping[str, OneHot], codes: Mapping[str, Floats]
) -> Folding:
    """The folding of a frame's columns, `codes` being those of training by column."""
    at = {column.name: place for place, column in enumerate(held)}
    first = {next(iter(block.columns)): name for name, block in blocks.items()}
    inside = {member for block in blocks.values() for member in block.columns}
    columns: list[Column] = []
    places: list[Place] = []
    for column in held:
        if column.name in first:
            name = first[column.name]
            block = blocks[name]
            members = np.stack([codes[member] for member in block.columns], axis=1)
            columns.append(_column(name, block, members))
            places.append(tuple(at[member] for member in block.columns))
        elif column.name not in inside:
            columns.append(column)
            places.append(at[column.name])
    return Folding(tuple(held), tuple(columns), tuple(places))


def _column(name: str, block: OneHot, members: Floats) -> Column:
    """The column of the schema that a block is."""
    names = list(block.columns)
    resting = block.none is not None or bool((members.sum(axis=1) == 0).any())
    seen, counts = np.unique(chosen(members, name, names, resting=resting), return_counts=True)
    table = _categories(name, block) + ((block.none or NONE,) if resting else ())
    if len(set(table)) < len(table):
        raise SchemaError(f"the one-hot block {name!r} has two categories of one name: {table}")
    return block_column(name, table, seen, counts)


def block_column(name: str, table: tuple[str, ...], seen: Array, counts: Array) -> Column:
    """The column of a block with these categories."""
    return Column(
        name=name,
        label=name,
        kind="categorical",
        dtype=None,
        table=table,
        seen=np.asarray(seen, dtype=np.float64),
        counts=np.asarray(counts, dtype=np.int64),
        low=0.0,
        high=float(len(table) - 1),
        step=1.0,
        missing=False,
        storage=Storage(np.dtype(object), nullable=False),
    )


def _categories(name: str, block: OneHot) -> tuple[str, ...]:
    """What the categories are called."""
    if isinstance(block.columns, Mapping):
        return tuple(map(str, block.columns.values()))
    own = re.compile(rf"{re.escape(name)}[{re.escape(SEPARATORS)}]+(.+)", re.DOTALL)
    found = [own.fullmatch(column) for column in block.columns]
    if all(found):
        return tuple(match[1] for match in found if match)
    shared = common_start(block.columns)
    rest = tuple(column[len(shared) :] for column in block.columns)
    return rest if all(rest) else tuple(block.columns)


def common_start(names: Sequence[str]) -> str:
    """What names have in common, up to and with the last separator.

    >>> common_start(["edu_BSc", "edu_BA"])
    'edu_'
    """
    ends = zip(min(names), max(names), strict=False)
    shared = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    cut = max(shared.rfind(mark) for mark in SEPARATORS)
    return shared[: cut + 1]


def check_blocks(blocks: Mapping[str, OneHot], names: Sequence[str]) -> None:
    """Refuse blocks of columns that are not there, or share one, or are called like another."""
    owner: dict[str, str] = {}
    for name, block in blocks.items():
        for member in block.columns:
            if member not in names:
                raise SchemaError(
                    f"the one-hot block {name!r} names no column {member!r}{closest(member, names)}"
                )
            if member in owner:
                raise SchemaError(
                    f"column {member!r} is in two one-hot blocks, {owner[member]!r} and {name!r}"
                )
            owner[member] = name
    for name in blocks:
        if name in names and name not in owner:
            raise SchemaError(
                f"the one-hot block {name!r} is called like a column; give it another name"
            )
