"""A schema as JSON and back, without pickle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from macex.errors import SavedError, SchemaError
from macex.schema.columns import Column, Storage
from macex.schema.frames import Library, LibraryName, library
from macex.schema.onehot import Folding, Place, block_column

VERSION = 1


def to_dict(
    columns: Sequence[Column], name: LibraryName, folding: Folding | None
) -> dict[str, Any]:
    """The columns of the frame, their library and the one-hot blocks as JSON."""
    door = library(name)
    return {
        "version": VERSION,
        "library": name,
        "columns": [_column_to_dict(column, door) for column in columns],
        "blocks": [] if folding is None else _blocks_to_list(folding),
    }


def from_dict(
    stored: dict[str, Any],
) -> tuple[tuple[Column, ...], LibraryName, Folding | None]:
    """The columns of the schema, the library and the folding that were stored."""
    if stored.get("version") != VERSION:
        raise SavedError(
            f"the schema was stored in version {stored.get('version')}, this macex reads {VERSION}"
        )
    door = library(stored["library"])
    held = tuple(_column_from_dict(column, door) for column in stored["columns"])
    if not stored["blocks"]:
        return held, stored["library"], None
    folding = _folding_from_list(held, stored["blocks"])
    return folding.columns, stored["library"], folding


def _blocks_to_list(folding: Folding) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "members": list(place),
            "table": list(column.table),
            "seen": column.seen.tolist(),
            "counts": column.counts.tolist(),
        }
        for column, place in zip(folding.columns, folding.places, strict=True)
        if isinstance(place, tuple)
    ]


def _folding_from_list(held: tuple[Column, ...], blocks: list[dict[str, Any]]) -> Folding:
    inside = {member for block in blocks for member in block["members"]}
    parts: list[tuple[Place, Column]] = [
        (at, column) for at, column in enumerate(held) if at not in inside
    ]
    for block in blocks:
        column = block_column(block["name"], tuple(block["table"]), block["seen"], block["counts"])
        parts.append((tuple(block["members"]), column))
    parts.sort(key=lambda part: part[0] if isinstance(part[0], int) else part[0][0])
    return Folding(held, tuple(column for _, column in parts), tuple(place for place, _ in parts))


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
        "ticks": column.ticks.tolist(),
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
            "ticks": np.array(stored.get("ticks", ()), dtype=np.int64),
            "storage": Storage(**{**stored["storage"], "numbers": numbers}),
        }
    )
