"""Two-dimensional NumPy arrays: columns are called x0, x1, ... and share one dtype."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from macex.errors import SchemaError
from macex.schema.cells import Array, Cells, array_cells
from macex.schema.codes import Decoders
from macex.schema.columns import Column, Floats
from macex.schema.frames import Patch, Write


class Arrays:
    """What the engine needs from NumPy."""

    def labels(self, data: Array) -> list[Hashable]:
        """The names of the columns."""
        if isinstance(data, np.ma.MaskedArray):
            raise SchemaError("the rows are a masked array; fill it first: data.filled(np.nan)")
        if data.ndim != 2:
            raise SchemaError(
                f"the rows are an array of {data.ndim} dimensions; give 2, as reshape(1, -1) does "
                "for one row"
            )
        return [f"x{at}" for at in range(data.shape[1])]

    def cells(self, data: Array, names: Sequence[str]) -> Iterator[Cells]:
        """The columns one by one."""
        columns = np.asarray(data)  # a matrix has no columns of one dimension
        for at, name in enumerate(names):
            yield array_cells(columns[:, at], name)

    def cell(self, data: Array, row: int, position: int) -> object:
        """One cell as it stands."""
        cell: object = data[row, position]
        return cell

    def index(self, data: Array) -> None:
        """Arrays have no labels of rows."""
        del data

    def builder(self, columns: Sequence[Column]) -> ArrayBuilder:
        """What builds arrays for a model trained on these columns."""
        return ArrayBuilder(columns)

    def written(self, data: Array, at: Array, writes: Sequence[Write]) -> Array:
        """Rows `at` of a caller's array with some cells written."""
        array = np.asarray(data).take(at, axis=0)
        for write in writes:
            if write.trained is not None and write.trained.dtype == array.dtype:
                array[write.chosen, write.position] = write.trained[write.chosen]
            else:
                values = write.values()
                array = array.astype(_wide_enough(array.dtype, values), copy=False)
                array[write.chosen, write.position] = values
        return array

    def dtype_to_dict(self, dtype: Any) -> object:
        """A dtype as JSON."""
        return str(dtype.str)

    def dtype_from_dict(self, stored: Any) -> object:
        """The dtype that was stored."""
        return np.dtype(stored)


def _wide_enough(dtype: np.dtype[Any], values: list[object]) -> np.dtype[Any]:
    """The narrowest dtype that holds both the array and the values."""
    if dtype == np.dtype(object):
        return dtype
    wanted = np.array([np.nan if value is None else value for value in values])
    numeric = dtype.kind in "iuf" and wanted.dtype.kind in "iuf"
    if numeric and np.array_equal(wanted.astype(dtype), wanted, equal_nan=True):
        return dtype
    if numeric or dtype.kind == wanted.dtype.kind:
        return np.result_type(dtype, wanted.dtype)
    return np.dtype(object)


class ArrayBuilder(Decoders):
    """Builds arrays from codes."""

    def frame(self, codes: Floats, patches: Mapping[int, Patch]) -> Array:
        """The array of all columns."""
        if self.uniform is not None:
            return self.block(codes, self.uniform, patches)
        columns = [self.array(at, codes[:, at], patches.get(at)) for at in range(len(self.columns))]
        array = np.stack(columns, axis=1)
        dtype: Any = self.columns[0].dtype
        return array.astype(np.str_) if dtype.kind == "U" else array
