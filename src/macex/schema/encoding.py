"""Cells into codes: what a caller's column means to a column of the training data.

Besides its code every cell gets a mark, `odd`, where decoding the code would not give the
caller's own value back: an unknown category, an integer past 2^53, None where training has NaN.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from macex.errors import SchemaError
from macex.schema.cells import Array, Cells, distinct, is_number, numbers, plain
from macex.schema.columns import EXACT, MISSING, UNKNOWN, Column, Floats
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
