"""What a row is: the columns in their order, and the library they came from."""

from __future__ import annotations

from collections.abc import Hashable
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
