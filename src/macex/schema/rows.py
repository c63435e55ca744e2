"""A caller's rows as they came in: their codes, and the rows themselves, untouched.

Rows of codes have 64-bit keys, equal for equal rows. The key of a row is the sum of the keys of its
cells, and a cell's key is a well-mixed hash of its column and value. So the key of a set of changes
is the sum of theirs, in any order; two different rows share a key with a chance of about 2^-64.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from macex.errors import SchemaError, closest
from macex.schema.arrow_tables import frame_of
from macex.schema.cells import Array, Cells, plain
from macex.schema.codes import encode
from macex.schema.columns import UNKNOWN, Column, Floats
from macex.schema.frames import LibraryName, Patch, Write, library, library_of

if TYPE_CHECKING:
    from macex.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class Rows:
    """The caller's rows.

    `frame_codes` are in the order of the training frame's columns. `frame_odd` marks cells whose
    code does not decode to the caller's own value; `originals` holds those values, by column, in
    the dtype of training where it can hold them. `positions` says where the caller's frame has
    each column. `codes` (n, d) and `odd` (n, d) are the same in the order of the schema's columns,
    where a one-hot block is one.
    """

    schema: Schema
    native: Any
    frame_codes: Floats
    frame_odd: npt.NDArray[np.bool_]
    index: Sequence[object] | None
    library: LibraryName
    positions: tuple[int, ...]
    originals: dict[int, Any]

    @cached_property
    def codes(self) -> Floats:
        """The codes by column of the schema."""
        folding = self.schema.folding
        return self.frame_codes if folding is None else folding.fold(self.frame_codes)

    @cached_property
    def odd(self) -> npt.NDArray[np.bool_]:
        """The marks by column of the schema."""
        folding = self.schema.folding
        return self.frame_odd if folding is None else folding.marks(self.frame_odd)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.frame_codes)

    def row(self, i: int, codes: Floats | None = None) -> Any:
        """Row `i` as a frame like the caller's, with the cells written whose code differs."""
        codes = self.codes[i] if codes is None else np.asarray(codes, dtype=np.float64)
        return self.frame(np.array([i]), codes[None])

    def frame(self, at: Array, codes: Floats) -> Any:
        """Rows `at` (m,) as a frame like the caller's; cells whose code differs are written."""
        at = np.asarray(at, dtype=np.intp)
        codes = self.schema.unfold(codes)
        changed = codes != self.frame_codes[at]
        writes = [
            self._write(column, at, codes[:, column], changed[:, column])
            for column in np.flatnonzero(changed.any(axis=0)).tolist()
        ]
        return library(self.library).written(self.native, at, writes)

    def _write(
        self, column: int, at: Array, codes: Floats, changed: npt.NDArray[np.bool_]
    ) -> Write:
        trained = None
        if self.library == self.schema.library:
            patch = self.patch(column, at, codes)
            trained = self.schema.builder.array(column, codes, patch)
        values = partial(_values, self.schema.frame_columns[column], codes[changed])
        return Write(self.positions[column], changed, values, trained)

    def take(self, at: Array) -> Rows:
        """The rows at some positions."""
        at = np.asarray(at, dtype=np.intp)
        odd, originals = self.frame_odd[at], {}
        for column, held in self.originals.items():
            place = np.cumsum(self.frame_odd[:, column]) - 1
            originals[column] = held[place[at[odd[:, column]]]]
        native = library(self.library).written(self.native, at, [])
        index = None if self.index is None else [self.index[i] for i in at]
        codes = self.frame_codes[at]
        return Rows(self.schema, native, codes, odd, index, self.library, self.positions, originals)

    def cell(self, i: int, column: int) -> object:
        """The caller's own value of one cell, by column of the schema; of a block its category."""
        folding = self.schema.folding
        place = column if folding is None else folding.places[column]
        if isinstance(place, tuple):
            return self.schema.columns[column].value(self.codes[i, column])
        return plain(library(self.library).cell(self.native, i, self.positions[place]))

    def cells(self, i: int) -> dict[str, object]:
        """The caller's own cells of row `i` as Python values, None where missing."""
        return {name: self.cell(i, column) for column, name in enumerate(self.schema.names)}

    def owned(self, column: int) -> list[object]:
        """The caller's own values of one column of the frame."""
        door, position = library(self.library), self.positions[column]
        return [plain(door.cell(self.native, row, position)) for row in range(len(self))]

    def patch(self, column: int, at: Array, codes: Floats) -> Patch | None:
        """The odd cells of a frame's column that codes (m,) leave as they are, and their values."""
        originals = self.originals.get(column)
        if originals is None:
            return None
        odd = self.frame_odd[:, column]
        kept = odd[at] & (codes == self.frame_codes[at, column])
        if not kept.any():
            return None
        place = np.cumsum(odd) - 1
        return kept, originals[place[at[kept]]]


def _values(column: Column, codes: Floats) -> list[object]:
    return [column.value(code) for code in codes.tolist()]


def read(schema: Schema, data: Any) -> Rows:
    """The rows of a frame, an array, one mapping or one series; checked and encoded."""
    if isinstance(data, Mapping):
        return _read_one(schema, dict(data), None)
    if isinstance(data, pd.Series):
        if not data.index.is_unique:
            raise SchemaError("the row is a Series that names a column twice; keep one of them")
        return _read_one(schema, data.to_dict(), [data.name])
    data = data if isinstance(data, pd.DataFrame) else frame_of(data)
    name = library_of(data)
    door = library(name)
    labels = door.labels(data)
    if name == "numpy":
        positions = _by_position(schema, len(labels))
        names = list(schema.frame_names)
    else:
        names = [str(label) for label in labels]
        positions = _by_name(schema, names)
    cells = list(door.cells(data, names))
    codes, odd, originals = _encoded(schema, [cells[position] for position in positions], len(data))
    rows = Rows(schema, data, codes, odd, door.index(data), name, positions, originals)
    _ = rows.codes  # refuses a one-hot block without exactly one flag
    return rows


def _encoded(
    schema: Schema, cells: list[Cells], count: int
) -> tuple[Floats, npt.NDArray[np.bool_], dict[int, Any]]:
    codes = np.empty((count, len(cells)))
    odd = np.empty((count, len(cells)), dtype=bool)
    originals = {}
    for at, column in enumerate(schema.frame_columns):
        codes[:, at], odd[:, at] = encode(cells[at], column)
        if odd[:, at].any():
            originals[at] = _originals(schema, at, cells[at].listed(odd[:, at]))
    return codes, odd, {at: held for at, held in originals.items() if held is not None}


def _originals(schema: Schema, at: int, values: list[object]) -> Any:
    try:
        return schema.builder.originals(at, values)
    except (TypeError, ValueError, OverflowError) as error:
        column = schema.frame_columns[at]
        raise SchemaError(
            f"column {column.name!r} holds {values[0]!r}, which does not fit {column.dtype}, "
            "the dtype of training; convert the column"
        ) from error


def _by_position(schema: Schema, count: int) -> tuple[int, ...]:
    wanted = len(schema.frame_columns)
    if count != wanted:
        raise SchemaError(f"the rows have {count} columns, the training data {wanted}")
    return tuple(range(wanted))


def _by_name(schema: Schema, names: list[str]) -> tuple[int, ...]:
    """Where each column of the schema is among the caller's."""
    at = {name: position for position, name in enumerate(names)}
    if len(at) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"the rows have two columns {twice!r}; keep one of them")
    for name in schema.frame_names:
        if name not in at:
            raise SchemaError(f"the rows have no column {name!r}{closest(name, names)}")
    known = set(schema.frame_names)
    extra = [name for name in names if name not in known]
    if extra:
        raise SchemaError(
            f"the rows have columns the model was not trained on: {', '.join(map(repr, extra))}; "
            "drop them, as rows[explainer.columns] does"
        )
    return tuple(at[name] for name in schema.frame_names)


def _read_one(schema: Schema, cells: dict[Hashable, Any], index: list[object] | None) -> Rows:
    """One row without dtypes: it takes those of training, wider where they cannot hold it."""
    if schema.folding is not None:
        cells = schema.folding.spelled(cells)
    frame = pd.DataFrame(
        {label: pd.Series([cell], dtype=object) for label, cell in cells.items()}, index=[0]
    )
    loose = read(schema, frame)
    first = np.array([0])
    native = schema.frame(loose.codes, own=loose, at=first)
    lost = [
        Write(column, np.array([True]), partial(loose.owned, column))
        for column in np.flatnonzero(loose.frame_codes[0] == UNKNOWN).tolist()
        if column not in loose.originals
    ]
    native = library(schema.library).written(native, first, lost)
    if isinstance(native, pd.DataFrame) and index is not None:
        native.index = pd.Index(index)
    every = tuple(range(len(schema.frame_columns)))
    codes, odd = loose.frame_codes, loose.frame_odd
    return Rows(schema, native, codes, odd, index, schema.library, every, loose.originals)


BLOCK = 65_536  # cells that are hashed at once: few enough for the cache


def cell_keys(codes: Array, columns: Array) -> Array:
    """The key of each cell: `columns` says which column it is in."""
    return _salted(codes, _salts(columns))


def row_keys(codes: Array) -> Array:
    """A key per row over the last axis, equal for equal rows.

    >>> grid = np.stack(np.meshgrid(*[np.arange(20.0)] * 4), axis=-1).reshape(-1, 4)
    >>> len(np.unique(row_keys(grid))) == len(grid)
    True
    """
    salts = _first_salts(codes.shape[-1])
    keys = np.empty(codes.shape[:-1], np.uint64)
    step = max(1, BLOCK * len(codes) // max(1, codes.size))
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        keys[part] = np.einsum("...c->...", _salted(codes[part], salts))  # a quicker sum
    return keys


def _salted(codes: Array, salts: Array) -> Array:
    bits = np.ascontiguousarray(codes + 0.0).view(np.uint64)
    bits += salts
    return _mix(bits)


def _salts(columns: Array) -> Array:
    return _mix((columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@cache
def _first_salts(count: int) -> Array:
    """The salts of the first columns, which nearly every key needs."""
    return _salts(np.arange(count))


def _mix(bits: Array) -> Array:
    """Every input bit reaches every output bit (the finaliser of MurmurHash3); in place."""
    shift, upper = np.uint64(33), np.empty_like(bits)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, None):
        np.right_shift(bits, shift, out=upper)
        bits ^= upper
        if factor is not None:
            bits *= np.uint64(factor)
    return bits
