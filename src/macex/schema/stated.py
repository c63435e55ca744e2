"""The kinds of columns as plain words and numbers, which files can hold and people can edit.

What is stated of the columns of some training rows and given back as `schema=` makes the same
schema of the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macex.errors import SchemaError, closest
from macex.schema.columns import Column
from macex.schema.kinds import NAMED, Continuous, Kind, Ordered

PARTS = {"continuous": ("step", "low", "high"), "ordered": ("values",)}


def stated(columns: Sequence[Column]) -> dict[str, dict[str, Any]]:
    """What is known of each column, as far as a person may correct it."""
    return {column.name: _stated(column) for column in columns}


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
    if not isinstance(parts, Mapping) or parts.get("kind") not in NAMED:
        name = parts.get("kind") if isinstance(parts, Mapping) else parts
        raise SchemaError(f"column {column!r} has kind {name!r}{closest(name, NAMED)}")
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
    return Ordered(**given_parts) if kind == "ordered" else NAMED[kind]


def _continuous(column: str, parts: dict[str, Any]) -> Continuous:
    for part, number in parts.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise SchemaError(f"column {column!r}: {part} must be a number, not {number!r}")
    return Continuous(**{part: float(number) for part, number in parts.items()})
