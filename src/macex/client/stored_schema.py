"""The schema of a project, whose columns may have more values than a server tells at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from macex.schema import Schema

OF_DTYPE = ("categories", "enum")  # which say nothing where they are those of the column
More = Callable[[str, int], list[Any]]
"""Values of a column, from a place on."""


def whole_schema(told: Mapping[str, Any], more: More) -> Schema:
    """The schema as the server stores it, with all values of its columns."""
    stored, totals = told["schema"], told.get("values_total", {})
    columns = [_whole(column, totals.get(column["name"], 0), more) for column in stored["columns"]]
    return Schema.from_dict({**stored, "columns": columns})


def _whole(column: Mapping[str, Any], total: int, more: More) -> Mapping[str, Any]:
    table = list(column["table"])
    while len(table) < total and (found := more(column["name"], len(table))):
        table += found
    dtype = column["dtype"]
    if isinstance(dtype, dict):
        dtype = {**dtype, **{part: table for part in OF_DTYPE if dtype.get(part, "") is None}}
    return {**column, "table": table, "dtype": dtype}
