"""One column of a frame of any library, as plain NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from macex.errors import SchemaError
from macex.schema.moments import plain_duration, plain_moment

Array: TypeAlias = npt.NDArray[Any]
Family: TypeAlias = Literal["number", "bool", "time", "object"]

NUMBERS = (int, float, np.integer, np.floating)
DISTINCT_BY_HASHING = 256
LARGEST = 1e100  # beyond it differences and products of numbers may overflow


@dataclass(frozen=True)
class Cells:
    """The values of one column.

    `values` (n,) holds numbers or booleans in their own NumPy type, UTC datetime64 or timedelta64,
    or Python objects. In a nullable float column a NaN stays NaN and a null is 0 in `values`;
    both are `missing`.
    """

    family: Family
    values: Array
    missing: npt.NDArray[np.bool_]
    dtype: object
    nullable: bool = True
    several_blanks: bool = False
    declared: tuple[object, ...] | None = None
    ordered: bool = False
    zone: str = ""

    @property
    def objects(self) -> bool:
        """Whether the native column holds Python objects of any type."""
        return self.family == "object" and self.several_blanks

    def listed(self, chosen: Array) -> list[object]:
        """The chosen cells as Python objects, missing ones as they are or as None."""
        if self.family == "time":
            return [None if cell is pd.NaT else cell for cell in self._stamps(chosen)]
        values: list[object] = self.values[chosen].tolist()
        if self.family == "object":
            return values
        blank = self.missing[chosen]
        nan = np.isnan(self.values[chosen]) if self.values.dtype.kind == "f" else ~blank
        return [
            None if gone and not number else value
            for value, gone, number in zip(values, blank, nan, strict=True)
        ]

    def _stamps(self, chosen: Array) -> list[object]:
        stamps: Any = pd.Series(self.values[chosen])
        if self.zone:
            stamps = stamps.dt.tz_localize("UTC").dt.tz_convert(self.zone)
        return list(stamps)

    def blanks(self) -> npt.NDArray[np.object_]:
        """The names of the missing values, one for each missing cell: nan, None, NA, NaT."""
        cells = self.values[self.missing]
        if self.family == "object":
            return np.array([blank_name(cell) for cell in cells], dtype=object)
        if cells.dtype.kind == "f":
            return np.where(np.isnan(cells), "nan", "None").astype(object)
        return np.full(len(cells), "NaT" if self.family == "time" else "None", dtype=object)


BLANKS: dict[str, object] = {"nan": float("nan"), "None": None, "NA": pd.NA, "NaT": pd.NaT}


def blank_name(cell: object) -> str:
    """Which of the missing values this one is."""
    return next((name for name in ("None", "NA", "NaT") if cell is BLANKS[name]), "nan")


def array_cells(array: Array, column: str, dtype: object = None) -> Cells:
    """The cells of a one-dimensional NumPy array."""
    dtype = array.dtype if dtype is None else dtype
    kind, none = array.dtype.kind, np.zeros(len(array), dtype=bool)
    if kind == "f" and array.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return Cells("number", array, np.isnan(array), dtype)
    if kind in "iu":
        return Cells("number", array, none, dtype, nullable=False)
    if kind == "b":
        return Cells("bool", array, none, dtype, nullable=False)
    if kind in "Mm":
        return Cells("time", array, np.isnat(array), dtype)
    if kind == "U":
        return Cells("object", array.astype(object), none, dtype, nullable=False)
    if kind == "O":
        return Cells("object", array, np.asarray(pd.isna(array)), dtype, several_blanks=True)
    raise unsupported(column, dtype)


def unsupported(column: str, dtype: object) -> SchemaError:
    """The error for a dtype that has no codes."""
    told = f"column {column!r} has dtype {dtype}, which is not supported; "
    taken = _taken(dtype) if isinstance(dtype, pd.ArrowDtype) else None
    if taken is None:
        return SchemaError(f"{told}convert it to numbers, text, booleans or datetimes")
    return SchemaError(f"{told}convert it: data[{column!r}].astype({taken!r})")


def _taken(dtype: Any) -> str | None:
    """The dtype of pandas that holds the same and is supported, if there is one."""
    if dtype.kind == "M":
        zone = getattr(dtype.pyarrow_dtype, "tz", None)
        return f"datetime64[ns, {zone}]" if zone else str(dtype.numpy_dtype)
    known: dict[str, str] = {"U": "string", "b": "boolean"}
    return known.get(dtype.kind)


def types_of(cells: Cells) -> set[type]:
    """The types of the objects that are not missing."""
    return set(map(type, cells.values[~cells.missing]))


def all_numbers(cells: Cells) -> bool:
    """Whether these are numbers, or objects that all are (and at least one is)."""
    if cells.family == "object":
        types = types_of(cells)
        return bool(types) and all(is_number(kind) for kind in types)
    return cells.family == "number"


def is_number(kind: type) -> bool:
    """Whether values of this type are numbers; booleans are not."""
    return issubclass(kind, NUMBERS) and not issubclass(kind, bool)


def numbers(cells: Cells, column: str) -> npt.NDArray[np.float64]:
    """The cells as float64 (n,), NaN where missing; whatever is not a finite number is an error."""
    if cells.family == "time":
        raise SchemaError(f"column {column!r} holds {cells.dtype} where numbers are needed")
    if cells.family == "object":
        _refuse_other_types(cells, column)
    values = np.zeros(len(cells.values))
    there = ~cells.missing
    try:
        values[there] = cells.values[there].astype(np.float64)
    except OverflowError:
        raise SchemaError(f"column {column!r} holds a number too large for a float") from None
    bad = np.flatnonzero(np.abs(values) > LARGEST)
    if len(bad):
        value = values[bad[0]]
        why = "" if np.isinf(value) else f", which is beyond {LARGEST:g}"
        raise SchemaError(
            f"column {column!r} holds {value} in row {bad[0]}{why}; "
            "replace it by a number or by a missing value"
        )
    values[cells.missing] = np.nan
    return values


def _refuse_other_types(cells: Cells, column: str) -> None:
    if all(issubclass(kind, (*NUMBERS, np.bool_)) for kind in types_of(cells)):
        return
    for row in np.flatnonzero(~cells.missing):
        cell = cells.values[row]
        if not isinstance(cell, (*NUMBERS, np.bool_)):
            raise SchemaError(
                f"column {column!r} holds {cell!r} in row {row}, which is not a number; "
                "convert the column to numbers"
            )


def distinct(cells: Cells, column: str) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """The distinct values, and for each cell its position among them (-1 where missing).

    Objects that are equal but of different type (1, 1.0, True) are distinct.
    """
    try:
        if cells.family == "object" and (
            len(cells.values) < DISTINCT_BY_HASHING or len(types_of(cells)) > 1
        ):
            return _distinct_by_type(cells)
        positions, values = pd.factorize(cells.values)
    except TypeError:
        kinds = ", ".join(sorted(kind.__name__ for kind in types_of(cells)))
        raise SchemaError(
            f"column {column!r} holds values that cannot be categories ({kinds}); "
            "convert it to text or numbers"
        ) from None
    return np.where(cells.missing, -1, positions), values.tolist()


def _distinct_by_type(cells: Cells) -> tuple[npt.NDArray[np.intp], list[Any]]:
    found: dict[tuple[type, object], int] = {}
    positions = [
        -1 if gone else found.setdefault((type(cell), cell), len(found))
        for cell, gone in zip(cells.values, cells.missing.tolist(), strict=True)
    ]
    return np.array(positions, dtype=np.intp), [value for _, value in found]


def plain(cell: Any) -> object:
    """A cell as a Python scalar that JSON knows, or a datetime; None where missing.

    >>> plain(np.float32(0.1))
    0.1
    """
    if isinstance(cell, str | bool | int):
        return str(cell) if isinstance(cell, np.str_) else cell
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:  # noqa: PLR0124
        return None
    if isinstance(cell, np.datetime64 | np.timedelta64):
        cell = pd.Timestamp(cell) if isinstance(cell, np.datetime64) else pd.Timedelta(cell)
    if isinstance(cell, pd.Timestamp):
        return plain_moment(cell)
    if isinstance(cell, pd.Timedelta):
        return plain_duration(cell)
    if isinstance(cell, np.floating):
        return float(str(cell))
    if isinstance(cell, np.generic):
        return cell.item()
    return cell
