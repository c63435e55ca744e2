"""Codes into NumPy and pandas arrays, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.schema.cells import BLANKS, Array
from macex.schema.columns import MISSING, Column, Floats, micros
from macex.schema.frames import Patch, integers, positions


class Decoders:
    """One decoder for each column, made once.

    `uniform` is the NumPy dtype that all columns share if all are plain numbers, else None.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.decoders = [_decoder(column) for column in columns]
        self.uniform = _uniform(columns)

    def array(self, at: int, codes: Floats, patch: Patch | None = None) -> Any:
        """One column decoded; a patch (mask, values) goes over it."""
        array = self.decoders[at](codes)
        if patch is not None:
            array[patch[0]] = patch[1]
        return array

    def originals(self, at: int, values: list[object]) -> Any:
        """A caller's own values in the dtype of training; None for categories."""
        dtype: Any = self.columns[at].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return None
        return _typed(values, dtype)


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
    same = isinstance(first, np.dtype) and all(
        column.dtype == first and column.kind == "continuous" and not column.storage.objects
        for column in columns
    )
    return first if same and isinstance(first, np.dtype) else None


def objects(values: list[object]) -> Array:
    """An array (n,) of these very objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _decoder(column: Column) -> Any:
    dtype: Any = column.dtype
    if column.discrete:
        blank = len(column.table) if column.storage.nullable else 0
        return partial(_chosen, table=_table(column), blank=blank)
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


def _chosen(codes: Floats, table: Any, blank: int) -> Any:
    return table.take(positions(codes, blank))


def plain_numbers(codes: Floats, kind: np.dtype[Any]) -> Array:
    """Codes of continuous columns, of any shape, as numbers of a NumPy dtype."""
    if kind.kind == "f":
        return np.where(codes == MISSING, np.nan, codes).astype(kind, copy=False)
    return integers(codes, kind)


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
    ticks = micros(np.where(missing, 0.0, codes), storage.origin)
    stamps = ticks.view(f"{storage.numbers.kind}8[us]").astype(storage.numbers)
    stamps[missing] = np.array("NaT", dtype=storage.numbers)
    if not storage.zone:
        return stamps
    return pd.DatetimeIndex(stamps).tz_localize("UTC").tz_convert(storage.zone).array
