"""What a row is: the columns in their order, and the library they came from.

`stated` says the kinds of columns as plain words and numbers, which files can hold and people can
edit. The statement about some training rows, passed as `schema=`, gives the same schema for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from macex.errors import SchemaError, closest
from macex.schema import rows as reading
from macex.schema import storage
from macex.schema.arrow_tables import frame_of
from macex.schema.cells import Array
from macex.schema.columns import Column, Floats
from macex.schema.frames import Builder, LibraryName, Patch, library, library_of
from macex.schema.inference import infer_columns, told
from macex.schema.kinds import NAMED, Continuous, Kind, OneHot, Ordered
from macex.schema.onehot import Folding
from macex.schema.rows import Rows

OWN_COLUMNS = "cf."  # how the names of columns begin that tables of answers add


@dataclass(frozen=True, eq=False, repr=False)
class Schema:
    """The columns of the training data; a one-hot block of the frame is one column here.

    >>> import pandas as pd
    >>> schema = Schema.infer(pd.DataFrame({"age": [30, 41], "edu": ["BSc", "PhD"]}))
    >>> schema.read({"age": 35, "edu": "PhD"}).codes.tolist()
    [[35.0, 1.0]]
    """

    columns: tuple[Column, ...]
    library: LibraryName
    folding: Folding | None = None  # how columns of the frame make up one-hot blocks

    @staticmethod
    def infer(data: Any, given: object = None) -> Schema:
        """The schema of training rows, corrected by what the caller says of some columns."""
        if isinstance(given, Schema):
            given.read(data)
            return given
        data = frame_of(data)
        name = library_of(data)
        door = library(name)
        labels = door.labels(data)
        names = _names(labels)
        said = told(given, names)
        if not names or not len(data):
            what = "columns" if not names else "rows"
            raise SchemaError(f"the training data has no {what}; give the rows the model learnt")
        columns, folding = infer_columns(names, labels, list(door.cells(data, names)), said)
        return Schema(columns, name, folding)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def frame_columns(self) -> tuple[Column, ...]:
        """The columns of the frame: those of the schema, with the members of one-hot blocks."""
        return self.columns if self.folding is None else self.folding.held

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """The names of the frame's columns."""
        return tuple(column.name for column in self.frame_columns)

    @cached_property
    def builder(self) -> Builder:
        """What turns codes into frames for the model."""
        return library(self.library).builder(self.frame_columns)

    def position(self, name: str) -> int:
        """Where a column stands."""
        if name not in self.names:
            raise SchemaError(f"there is no column {name!r}{self.hint(name)}")
        return self.names.index(name)

    def hint(self, name: str) -> str:
        """What an error says about an unknown column: its block, or the nearest name."""
        owner = None if self.folding is None else self.folding.owners.get(name)
        if owner is None:
            return closest(name, self.names)
        return f": it is in the one-hot block {owner!r}, which is one column; name that"

    def unfold(self, codes: Floats) -> Floats:
        """Codes by column of the frame from codes by column of the schema."""
        return codes if self.folding is None else self.folding.unfold(codes)

    def read(self, data: Any) -> Rows:
        """The codes of a caller's rows: a frame, a 2-D array, one mapping or one series."""
        return reading.read(self, data)

    def frame(self, codes: Floats, own: Rows | None = None, at: Array | None = None) -> Any:
        """What the model is called with: codes (n, d) in the form and dtypes of training.

        `at` (n,) says from which row of `own` each line starts: an odd cell whose code is still
        that row's takes the caller's own value.
        """
        codes = self.unfold(codes)
        patches: dict[int, Patch] = {}
        if own is not None and own.originals:
            at = np.arange(len(codes)) if at is None else np.asarray(at)
            for column in own.originals:
                patch = own.patch(column, at, codes[:, column])
                if patch is not None:
                    patches[column] = patch
        return self.builder.frame(codes, patches)

    def to_dict(self) -> dict[str, Any]:
        """The schema as JSON."""
        return storage.to_dict(self.frame_columns, self.library, self.folding)

    @staticmethod
    def from_dict(stored: dict[str, Any]) -> Schema:
        """The schema that was stored."""
        return Schema(*storage.from_dict(stored))

    def __repr__(self) -> str:
        """One line for each column."""
        table = [_described(column, self._members(at)) for at, column in enumerate(self.columns)]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
        head = f"Schema of {len(self.columns)} columns ({self.library})"
        return "\n  ".join([head, *lines])

    def _repr_html_(self) -> str:
        heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
        body = "".join(
            _html_row(*_described(column, self._members(at)))
            for at, column in enumerate(self.columns)
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _members(self, at: int) -> int:
        """How many columns of the frame a column is; 0 for one that is not a block."""
        place = 0 if self.folding is None else self.folding.places[at]
        return 0 if isinstance(place, int) else len(place)


HEADS = ("column", "kind", "values", "step", "missing")
SHOWN = 5


def _html_row(name: str, *cells: str) -> str:
    head = f'<th scope="row">{escape(name)}</th>'
    return f"<tr>{head}{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _described(column: Column, members: int) -> tuple[str, ...]:
    if column.discrete:
        more = ", …" if len(column.table) > SHOWN else ""
        values, step = ", ".join(map(str, column.table[:SHOWN])) + more, ""
    else:
        values = f"{column.value(column.low)} to {column.value(column.high)}"
        step = f"step {column.step:g}" if column.step else ""
    kind = f"one-hot of {members}" if members else column.kind
    return column.name, kind, values, step, "may be missing" if column.missing else ""


def _names(labels: list[Hashable]) -> list[str]:
    """The labels as names, no two alike."""
    names: dict[str, Hashable] = {}
    for label in labels:
        name = str(label)
        if name.startswith(OWN_COLUMNS):
            raise SchemaError(
                f"the training data has a column {label!r}: names that begin with "
                f"{OWN_COLUMNS!r} are those of answers; rename it"
            )
        if name in names:
            other = names[name]
            what = (
                f"two columns {label!r}" if other == label else f"columns {other!r} and {label!r}"
            )
            raise SchemaError(f"the training data has {what}; rename one of them")
        names[name] = label
    return list(names)


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
