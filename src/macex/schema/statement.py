"""The kinds of columns as plain words and numbers, which files can hold and people can edit.

The statement about some training rows, passed as `schema=`, gives the same schema for these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from macex.errors import SchemaError, closest
from macex.schema.columns import Column
from macex.schema.kinds import NAMED, Continuous, Kind, OneHot, Ordered

if TYPE_CHECKING:
    from macex.schema.schema import Schema

ONE_HOT = "one-hot"
KINDS = (*NAMED, ONE_HOT)
PARTS = {
    "continuous": ("step", "low", "high"),
    "ordered": ("values",),
    ONE_HOT: ("columns", "none"),
}


def stated(schema: Schema) -> dict[str, dict[str, Any]]:
    """What is known of each column, as far as a person may correct it."""
    return {
        column.name: _stated(column) | _members(schema, at)
        for at, column in enumerate(schema.columns)
    }


def frame_names(document: Mapping[str, Any]) -> list[str]:
    """The columns of the frame that something is stated of.

    >>> frame_names({"age": "continuous", "edu": {"kind": "one-hot", "columns": ["a", "b"]}})
    ['age', 'a', 'b']
    """
    names: list[str] = []
    for name, given in document.items():
        block = isinstance(given, Mapping) and given.get("kind") == ONE_HOT
        names += list(given["columns"]) if block else [name]
    return names


def _members(schema: Schema, at: int) -> dict[str, Any]:
    """What is stated of a one-hot block: its columns with their categories."""
    place = at if schema.folding is None else schema.folding.places[at]
    if isinstance(place, int):
        return {}
    names = [schema.frame_columns[member].name for member in place]
    table = schema.columns[at].table
    none = {"none": table[-1]} if len(table) > len(names) else {}
    return {"kind": ONE_HOT, "columns": dict(zip(names, table, strict=False)), **none}


def _stated(column: Column) -> dict[str, Any]:
    if column.kind == "ordered":
        return {"kind": column.kind, "values": list(column.table)}
    if column.kind == "continuous":
        span = {"low": column.value(column.low), "high": column.value(column.high)}
        step = int(column.step) if column.integer else column.step
        return {"kind": column.kind, "step": step, **span}
    return {"kind": column.kind}


def kinds_stated(document: Mapping[str, Any]) -> dict[str, Kind]:
    """The kinds that were stated, as `schema=` takes them.

    >>> kinds_stated({"age": {"kind": "continuous", "step": 5}, "job": "categorical"})
    {'age': Continuous(step=5.0, low=None, high=None), 'job': Categorical()}
    """
    return {column: _kind(column, given) for column, given in document.items()}


def _kind(column: str, given: Any) -> Kind:
    parts = {"kind": given} if isinstance(given, str) else given
    if not isinstance(parts, Mapping) or parts.get("kind") not in KINDS:
        name = parts.get("kind") if isinstance(parts, Mapping) else parts
        raise SchemaError(f"column {column!r} has kind {name!r}{closest(name, KINDS)}")
    kind = parts["kind"]
    known = PARTS.get(kind, ())
    for part in parts:
        if part != "kind" and part not in known:
            raise SchemaError(
                f"column {column!r} is {kind} and takes no {part!r}{closest(part, known)}"
            )
    given_parts: dict[str, Any] = {part: parts[part] for part in known if part in parts}
    if kind == "continuous":
        return _continuous(column, given_parts)
    if kind == ONE_HOT:
        return OneHot(given_parts.get("columns", ()), given_parts.get("none"))
    return Ordered(**given_parts) if kind == "ordered" else NAMED[kind]


def _continuous(column: str, parts: dict[str, Any]) -> Continuous:
    for part, number in parts.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise SchemaError(f"column {column!r}: {part} must be a number, not {number!r}")
    return Continuous(**{part: float(number) for part, number in parts.items()})
