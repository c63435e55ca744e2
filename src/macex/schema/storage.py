"""A schema as JSON and back, without pickle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from macex.errors import SavedError, SchemaError
from macex.schema.columns import Column, Storage
from macex.schema.frames import Library, LibraryName, library

VERSION = 1


def to_dict(columns: Sequence[Column], name: LibraryName) -> dict[str, Any]:
    """The columns and their library as JSON."""
    door = library(name)
    return {
        "version": VERSION,
        "library": name,
        "columns": [_column_to_dict(column, door) for column in columns],
    }


def from_dict(stored: dict[str, Any]) -> tuple[tuple[Column, ...], LibraryName]:
    """The columns and the library that were stored."""
    if stored.get("version") != VERSION:
        raise SavedError(
            f"the schema was stored in version {stored.get('version')}, this macex reads {VERSION}"
        )
    door = library(stored["library"])
    columns = tuple(_column_from_dict(column, door) for column in stored["columns"])
    return columns, stored["library"]


def _column_to_dict(column: Column, door: Library) -> dict[str, Any]:
    if not isinstance(column.label, str | int | float | bool):
        raise SchemaError(
            f"column {column.name!r} has a label of type {type(column.label).__name__}, "
            "which cannot be stored; name the column by text"
        )
    storage = column.storage
    return {
        "name": column.name,
        "label": column.label,
        "kind": column.kind,
        "dtype": door.dtype_to_dict(column.dtype),
        "table": list(column.table),
        "seen": column.seen.tolist(),
        "counts": column.counts.tolist(),
        "low": column.low,
        "high": column.high,
        "step": column.step,
        "missing": column.missing,
        "storage": {**vars(storage), "numbers": storage.numbers.str},
    }


def _column_from_dict(stored: dict[str, Any], door: Library) -> Column:
    numbers = np.dtype(stored["storage"]["numbers"])
    return Column(
        **{
            **stored,
            "dtype": door.dtype_from_dict(stored["dtype"]),
            "table": tuple(stored["table"]),
            "seen": np.array(stored["seen"], dtype=np.float64),
            "counts": np.array(stored["counts"], dtype=np.int64),
            "storage": Storage(**{**stored["storage"], "numbers": numbers}),
        }
    )
