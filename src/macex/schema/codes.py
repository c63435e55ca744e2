"""Cells into codes and back: what a caller's column means to a column of the training data.

Besides its code every cell gets a mark, `odd`, where decoding the code would not give the
caller's own value back: an unknown category, an integer past 2^53, None where training has NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from macex.errors import SchemaError
from macex.schema.cells import BLANKS, Array, Cells, distinct, is_number, numbers, plain
from macex.schema.columns import EXACT, MISSING, UNKNOWN, Column, Floats
from macex.schema.frames import Patch
from macex.schema.moments import ticks_in

Encoded: TypeAlias = tuple[Floats, npt.NDArray[np.bool_]]


def encode(cells: Cells, column: Column) -> Encoded:
    """The codes (n,) and odd marks (n,) of a caller's column."""
    _refuse_missing(cells, column)
    if column.discrete:
        _refuse_misfitting_numbers(cells, column)
        codes, odd = _categories(cells, column)
    elif column.kind == "datetime":
        codes, odd = _times(cells, column)
    else:
        codes, odd = _numbers(cells, column)
    if cells.missing.any():
        codes[cells.missing] = MISSING
        odd[cells.missing] = (
            cells.blanks() != column.storage.blank if column.storage.blank else False
        )
    return codes, odd


def _refuse_missing(cells: Cells, column: Column) -> None:
    if not column.storage.nullable and cells.missing.any():
        row = np.flatnonzero(cells.missing)[0]
        raise SchemaError(
            f"column {column.name!r} is missing in row {row}, but was trained as {column.dtype}, "
            "which cannot hold a missing value; fill it in"
        )


def _refuse_misfitting_numbers(cells: Cells, column: Column) -> None:
    if column.storage.numbers.kind in "iuf":
        values, there = numbers(cells, column.name), np.flatnonzero(~cells.missing)
        if column.integer:
            _refuse_integers(values[there], there, column)


def _categories(cells: Cells, column: Column) -> Encoded:
    positions, values = distinct(cells, column.name)
    codes = np.empty(len(values) + 1)
    odd = np.zeros(len(values) + 1, dtype=bool)
    for at, value in enumerate(values):
        scalar = plain(value)
        found = column.lookup(scalar)
        if found is None:
            _refuse_misfit(scalar, column, positions, at)
        codes[at] = UNKNOWN if found is None else found
        odd[at] = found is None or (
            column.storage.objects and type(value) is not type(column.table[int(found)])
        )
    return codes[positions], odd[positions]


def _refuse_misfit(value: object, column: Column, positions: Array, at: int) -> None:
    """An unknown category is legal if it is of a type the model was trained on, and finite."""
    known = {_group(kind) for kind in column.types or _types_of_empty(column)}
    if _group(type(value)) in known and value not in (np.inf, -np.inf):
        return
    raise SchemaError(
        f"column {column.name!r} holds {value!r} in row {np.argmax(positions == at)}, of type "
        f"{type(value).__name__}, but was trained on {' and '.join(sorted(known))}; "
        "convert it or make it missing"
    )


def _group(kind: type) -> str:
    return "numbers" if is_number(kind) else kind.__name__


def _types_of_empty(column: Column) -> set[type]:
    """What a column may hold that was missing in every row of training."""
    text_only = column.storage.numbers.kind == "O" and not column.storage.objects
    return {str} if text_only else {str, float, bool, datetime}


def _numbers(cells: Cells, column: Column) -> Encoded:
    values = numbers(cells, column.name)
    there = np.flatnonzero(~cells.missing)
    odd = np.zeros(len(values), dtype=bool)
    if column.integer:
        if column.storage.objects or cells.dtype != column.dtype:
            _refuse_integers(values[there], there, column)
        odd = np.abs(values) >= EXACT
    elif column.storage.numbers != np.float64:
        values = _narrowed(values, column)
    if column.storage.objects:
        odd |= _other_types(cells, column)
    minus = np.signbit(values) & (values == 0)
    if minus.any():  # -0.0 is 0.0 to every comparison, but not to every model
        odd |= minus
        values = values + 0.0
    return values, odd


def _refuse_integers(values: Floats, rows: Array, column: Column) -> None:
    """Refuse what an integer dtype cannot hold."""
    kind = column.storage.numbers
    bounds = np.iinfo(kind)
    whole = values == np.rint(values)
    fits = column.storage.objects | ((values >= bounds.min) & (values <= float(bounds.max)))
    bad = np.flatnonzero(~(whole & fits))
    if len(bad):
        what = f"does not fit {kind}" if whole[bad[0]] else "is not whole"
        raise SchemaError(
            f"column {column.name!r} holds {values[bad[0]]:g} in row {rows[bad[0]]}, "
            f"but was trained on integers: it {what}; convert the column"
        )


def _narrowed(values: Floats, column: Column) -> Floats:
    with np.errstate(over="ignore"):
        held = values.astype(column.storage.numbers).astype(np.float64)
    bad = np.flatnonzero(np.isinf(held))
    if len(bad):
        raise SchemaError(
            f"column {column.name!r} holds {values[bad[0]]:g} in row {bad[0]}, "
            f"which does not fit {column.storage.numbers}; give a smaller number"
        )
    return held


def _other_types(cells: Cells, column: Column) -> npt.NDArray[np.bool_]:
    """Where the caller's number is not of the type that decoding writes."""
    written = int if column.integer else float
    if cells.family == "object":
        return np.array([type(cell) is not written for cell in cells.values], dtype=bool)
    same = cells.family == "number" and (cells.values.dtype.kind in "iu") == column.integer
    return np.full(len(cells.values), not same)


def _times(cells: Cells, column: Column) -> Encoded:
    if cells.family != "time":
        return _times_of_objects(cells, column)
    kind = column.storage.numbers
    if cells.values.dtype.kind != kind.kind or bool(cells.zone) != bool(column.storage.zone):
        raise SchemaError(
            f"column {column.name!r} has dtype {cells.dtype}, but was trained as {column.dtype}; "
            "convert the column"
        )
    clock = column.clock
    ticks = np.where(cells.missing, 0, ticks_in(cells.values, clock.unit))
    codes = clock.codes_of(ticks)
    exact = clock.ticks_of(codes) == ticks
    exact &= ticks.view(f"{kind.kind}8[{clock.unit}]") == cells.values
    return codes, ~exact


def _times_of_objects(cells: Cells, column: Column) -> Encoded:
    positions, values = distinct(cells, column.name)
    codes = np.array([*map(column.code, values), 0.0])
    return codes[positions], np.zeros(len(positions), dtype=bool)


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
    same = all(column.dtype == first and plain_column(column) for column in columns)
    return first if same and isinstance(first, np.dtype) else None


def plain_column(column: Column) -> bool:
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
