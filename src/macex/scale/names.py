"""The type of the column that names the rows, the same for all parts of an output.

What a part holds does not tell it: where all names of a part are missing, they look like anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from macex.errors import DataError
from macex.scale.binary import arrow_module
from macex.scale.reading import declared_type
from macex.scale.sources import Origin, files_of


def names_type(origin: Origin, column: str) -> Any:
    """The Arrow type that holds a column of all files; None where they declare none, or several.

    A file that cannot be read, or lacks the column, is said when its rows are read.
    """
    arrow, found = arrow_module("pyarrow"), []
    for file in files_of(origin):
        if not isinstance(file, str | Path):
            return None
        try:
            kind = declared_type(file, column)
        except (DataError, OSError):
            continue
        if kind is None:
            return None
        found.append(arrow.schema([(column, _plain(arrow, kind))]))
    try:
        joined = arrow.unify_schemas(found, promote_options="permissive").types
    except arrow.ArrowException:
        return None
    return joined[0] if joined and not arrow.types.is_null(joined[0]) else None


def _plain(arrow: Any, kind: Any) -> Any:
    """The type of the values, however they are stored."""
    return kind.value_type if arrow.types.is_dictionary(kind) else kind
