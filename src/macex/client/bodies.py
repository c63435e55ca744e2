"""Rows and questions as requests have them, and the schema of a project as answers have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from macex.ask.constraints import Constraints
from macex.errors import ConstraintError, OptionError
from macex.explanation.json import plain
from macex.schema import Rows, Schema

OF_DTYPE = ("categories", "enum")  # which say nothing where they are those of the column
More = Callable[[str, int], list[Any]]
"""Values of a column, from a place on."""


@dataclass(frozen=True)
class AskedRows:
    """What is asked of rows; `want` and `constraints` may be lists of one each."""

    options: Mapping[str, Any]
    want: Any
    constraints: Any

    def body(self, cells: list[dict[str, Any]], start: int) -> dict[str, Any]:
        """A request about some of the rows."""
        parts = {"want": self.want, "constraints": self.constraints}
        stop = start + len(cells)
        cut = {k: v[start:stop] if isinstance(v, list) else v for k, v in parts.items()}
        said = {k: v for k, v in self.options.items() if v is not None}
        return {**said, **cut, "rows": cells}


def cells_of(rows: Rows) -> list[dict[str, Any]]:
    """Rows as JSON has them, by column of the frame."""
    names = rows.schema.frame_names
    columns = [[plain(cell) for cell in rows.owned(at)] for at in range(len(names))]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def names_of(also: Any) -> list[str]:
    """The projects whose models must agree."""
    if isinstance(also, str) or not isinstance(also, Iterable):
        raise OptionError(f"also= takes names of projects in a list, not {also!r}")
    names = list(also)
    for name in names:
        if not isinstance(name, str):
            raise OptionError(f"also= names projects of the server, and {name!r} is no name")
    return names


def constraints_as_json(given: Any, count: int) -> Any:
    """Constraints as JSON: one for all rows, or a list of one each."""
    if given is None:
        return None
    if isinstance(given, Constraints):
        return plain(given.to_dict())
    if isinstance(given, Mapping):
        return plain(Constraints.from_dict(given).to_dict())
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConstraintError(f"constraints= takes Constraints or one per row, not {given!r}")
    parts = [constraints_as_json(one, 1) for one in given]
    if len(parts) != count:
        raise ConstraintError(
            f"constraints= has {len(parts)} entries for {count} rows: give one per row"
        )
    return parts


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
