"""The columns that name the rows, and their types, the same for all parts of an output.

What a part holds does not tell it: where all names of a part are missing, they look like anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from macex.errors import DataError, OptionError
from macex.scale.binary import arrow_module
from macex.scale.readers import Chunk, declared_type, raw_chunks
from macex.scale.sources import Origin, files_of, folder_values

ALL = "*"


def index_named(
    index: str | Sequence[str] | None, origin: Origin, other: Collection[str]
) -> tuple[str, ...]:
    """The columns that name the rows; `"*"` is all that are none of the `other` ones."""
    if index is None:
        return ()
    if index not in (ALL, (ALL,), [ALL]):
        return (index,) if isinstance(index, str) else tuple(index)
    file = files_of(origin)[0]
    if not isinstance(file, str | Path):
        raise OptionError("--id '*' (index=) needs files: a stream is read once, so name columns")
    found = next(raw_chunks(file, 1))
    told = folder_values(file)
    columns = [*map(str, found.frame.columns), *told] if isinstance(found, Chunk) else [*told]
    return tuple(dict.fromkeys(name for name in columns if name not in other))


def names_types(origin: Origin, index: Sequence[str]) -> dict[str, Any]:
    """The Arrow types of the columns that name the rows, where files declare them."""
    known = {name: names_type(origin, name) for name in index}
    return {name: kind for name, kind in known.items() if kind is not None}


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
