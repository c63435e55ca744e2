"""Codes into NumPy and pandas arrays, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.schema.cells import BLANKS, Array
from macex.schema.columns import MISSING, Column, Floats
from macex.schema.frames import Patch


class Decoders:
    """One decoder for each column, made once.

    `uniform` is the NumPy dtype that all columns share if all are plain numbers, else None.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.decoders = [_decoder(column) for column in columns]
        self.texts = _texts(columns)
        self.uniform = _uniform(columns)

    def block(self, codes: Floats, kind: np.dtype[Any], patches: Mapping[int, Patch]) -> Array:
        """All columns decoded at once, where they are numbers of one dtype."""
        block = plain_numbers(codes, kind)
        for at, (mask, values) in patches.items():
            block[mask, at] = values
        return block

    def array(self, at: int, codes: Floats, patch: Patch | None = None) -> Any:
        """One column decoded; a patch (mask, values) goes over it."""
        array = self.decoders[at](codes)
        if patch is not None:
            array = array.copy()  # pandas may lend an array to be read only
            array[patch[0]] = patch[1]
        return array

    def originals(self, at: int, values: list[object]) -> Any:
        """A caller's own values in the dtype of training; None for categories."""
        dtype: Any = self.columns[at].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return None
        return _typed(values, dtype)


@dataclass(frozen=True)
class Texts:
    """Several columns of text of one dtype, decoded by one lookup: it is the lookup that costs."""

    places: Array  # (c,) which columns
    starts: Array  # (c,) where the table of each begins
    blanks: Array  # (c,) where each has its missing value
    table: Any  # the values of all, one column after the other

    def __call__(self, codes: Floats) -> dict[int, Any]:
        """The columns by their place."""
        mine = codes.T.take(self.places, axis=0)
        np.copyto(mine, self.blanks[:, None], where=mine < 0)
        chosen = mine.astype(np.intp)
        chosen += self.starts[:, None]
        held = self.table.take(chosen.reshape(-1))
        count = len(codes)
        return {
            int(place): held[turn * count : (turn + 1) * count]
            for turn, place in enumerate(self.places)
        }


def _texts(columns: Sequence[Column]) -> Texts | None:
    """The columns of text that share the dtype of the first one, if they are several."""
    held = [(at, c) for at, c in enumerate(columns) if isinstance(c.dtype, pd.StringDtype)]
    held = [(at, column) for at, column in held if column.dtype == held[0][1].dtype]
    if len(held) < 2:
        return None
    tables = [_table(column) for _, column in held]
    return Texts(
        places=np.array([at for at, _ in held]),
        starts=np.cumsum([0, *map(len, tables[:-1])]),
        blanks=np.array([_blank(column) for _, column in held]),
        table=_typed([value for table in tables for value in table], held[0][1].dtype),
    )


def _typed(values: list[object], dtype: Any) -> Any:
    """Python values in a dtype, None as its missing value; text stays objects of any length."""
    if dtype.kind == "U":
        return objects(values)
    if isinstance(dtype, np.dtype) and dtype.kind not in "Mm":
        return objects(values).astype(dtype)
    if isinstance(dtype, np.dtype):
        return np.asarray(pd.array(objects(values), dtype=dtype))
    if dtype.kind == "f":
        blank = np.array([value is None for value in values])
        held = np.array([0.0 if value is None else value for value in values], dtype.type)
        return pd.arrays.FloatingArray(held, blank)
    return pd.array(objects(values), dtype=dtype)


def _uniform(columns: Sequence[Column]) -> np.dtype[Any] | None:
    first = columns[0].dtype
    same = all(column.dtype == first and plain(column) for column in columns)
    return first if same and isinstance(first, np.dtype) else None


def plain(column: Column) -> bool:
    """Whether a column holds plain numbers of a NumPy dtype."""
    kind = isinstance(column.dtype, np.dtype) and column.kind == "continuous"
    return kind and not column.storage.objects


def objects(values: list[object]) -> Array:
    """An array (n,) of these very objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _decoder(column: Column) -> Any:
    dtype: Any = column.dtype
    if column.discrete:
        return partial(_chosen, table=_table(column), blank=_blank(column))
    if column.kind == "datetime":
        return partial(_moments, column=column)
    if column.storage.objects:
        return partial(_boxes, column=column)
    if isinstance(dtype, np.dtype):
        return partial(plain_numbers, kind=dtype)
    return partial(_nullable, column=column)


def _table(column: Column) -> Any:
    """The native values of the codes, the missing one last."""
    blank = [BLANKS[column.storage.blank or "None"]] if column.storage.nullable else []
    return _typed([*column.table, *blank], column.dtype)


def _blank(column: Column) -> int:
    """Where the table of a column has its missing value."""
    return len(column.table) if column.storage.nullable else 0


def _chosen(codes: Floats, table: Any, blank: int) -> Any:
    return table.take(positions(codes, blank))


def plain_numbers(codes: Floats, kind: np.dtype[Any]) -> Array:
    """Codes of continuous columns, of any shape, as numbers of a NumPy dtype."""
    if kind.kind == "f":
        return np.where(codes == MISSING, np.nan, codes).astype(kind, copy=False)
    return integers(codes, kind)


def positions(codes: Floats, blank: int) -> Array:
    """Codes of a discrete column as positions in its table, reserved ones as `blank`."""
    return np.where(codes < 0, blank, codes).astype(np.intp)


def integers(codes: Floats, kind: np.dtype[Any]) -> Array:
    """Whole numbers in an integer dtype; the largest floats may round past its ends."""
    if kind.itemsize == 8:
        codes = np.minimum(codes, np.nextafter(float(np.iinfo(kind).max), 0))
    return codes.astype(kind)


def _boxes(codes: Floats, column: Column) -> Array:
    """Python numbers, with the column's own missing value."""
    written = int if column.integer else float
    blank = BLANKS[column.storage.blank]
    return objects([blank if code == MISSING else written(code) for code in codes.tolist()])


def _nullable(codes: Floats, column: Column) -> Any:
    missing = codes == MISSING
    filled = np.where(missing, 0.0, codes)
    kind = column.storage.numbers
    if kind.kind == "f":
        nan = column.storage.blank == "nan"
        held = np.where(missing & nan, np.nan, filled).astype(kind)
        return pd.arrays.FloatingArray(held, missing & (not nan))
    return pd.arrays.IntegerArray(integers(filled, kind), missing)


def _moments(codes: Floats, column: Column) -> Any:
    missing = codes == MISSING
    storage = column.storage
    stamps = column.clock.stamps(np.where(missing, 0.0, codes))
    stamps[missing] = np.array("NaT", dtype=storage.numbers)
    if not storage.zone:
        return stamps
    zoned = pd.DatetimeIndex(stamps).tz_localize("UTC").tz_convert(storage.zone)
    return zoned.array.copy()  # an index lends its array for reading only
