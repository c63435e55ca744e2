"""The columns of a table of answers and their types, declared before the first row is explained.

Files in parts and engines need to know them at the start. A feature is of the kind it had in
training; a cell that does not fit its column, of a row that could not be read, is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, NamedTuple

import pandas as pd

from macex.explainer import Explainer
from macex.explanation.tables import CHANGES, REASONS, REMARKS
from macex.render.names import codes_named
from macex.schema import Column

Kind = Literal["whole", "number", "truth", "text", "time", "span"]
DTYPES: dict[Kind, str] = {
    "whole": "Int64",
    "number": "float64",
    "truth": "boolean",
    "text": "str",
    "time": "datetime64",
    "span": "timedelta64",
}
FAMILIES: dict[str, Kind] = {
    "i": "whole",
    "u": "whole",
    "f": "number",
    "b": "truth",
    "M": "time",
    "m": "span",
}
SECONDS_A_DAY = 86_400
REMARKED: dict[str | None, Kind] = {
    "int64": "whole",
    "Int64": "whole",
    "float64": "number",
    "bool": "truth",
    "str": "text",
}


class AnswerField(NamedTuple):
    """A column of the output.

    `zone` is the time zone of points in time that have one; `days` says that they are whole days;
    `unit` is the finest part of a second that times are written with, "us" or "ns".
    """

    name: str
    kind: Kind
    zone: str = ""
    days: bool = False
    unit: str = "us"

    @property
    def dtype(self) -> str:
        """The pandas dtype, one that can hold a missing value."""
        if self.kind not in ("time", "span"):
            return DTYPES[self.kind]
        return f"{DTYPES[self.kind]}[{self.unit}{self.zone and ', '}{self.zone}]"


@dataclass(frozen=True)
class Layout:
    """The columns of the answers, in order."""

    fields: tuple[AnswerField, ...]

    def typed(self, table: pd.DataFrame) -> pd.DataFrame:
        """The columns of a table in their declared types; the index stays."""
        columns = {field.name: _typed(table[field.name], field) for field in self.fields}
        return pd.DataFrame(columns, index=table.index)

    def column(self, table: pd.DataFrame, name: str) -> pd.Series[Any]:
        """One column of a table in its declared type."""
        return _typed(table[name], next(field for field in self.fields if field.name == name))

    @property
    def empty(self) -> pd.DataFrame:
        """No row of these columns."""
        return pd.DataFrame({f.name: pd.Series(dtype=f.dtype) for f in self.fields})


def answers_layout(explainer: Explainer) -> Layout:
    """The columns of `to_frame()`."""
    features = [field_of(column) for column in explainer.schema.frame_columns]
    label = kind_of(type(label) for label in explainer.classes or ())
    remarks = [AnswerField(name, REMARKED.get(dtype, label)) for name, dtype in REMARKS.items()]
    reasons = [AnswerField(REASONS, "text")] if codes_named(explainer.engine.options.names) else []
    return Layout((*features, *remarks, *reasons))


def changes_layout() -> Layout:
    """The columns of `to_changes()`; values of all kinds stand in one column, so they are text."""
    kinds: dict[str, Kind] = {"cf.row": "whole", "cf.rank": "whole"}
    kinds |= {"exact": "truth", "follows": "truth"}
    return Layout(tuple(AnswerField(name, kinds.get(name, "text")) for name in CHANGES))


def field_of(column: Column) -> AnswerField:
    """The output column of a feature."""
    family = column.storage.numbers.kind
    if family in FAMILIES:
        days = family == "M" and not column.storage.zone and column.step % SECONDS_A_DAY == 0
        unit = "ns" if column.kind == "datetime" and column.step < 1e-6 else "us"
        return AnswerField(column.name, FAMILIES[family], column.storage.zone, days, unit)
    return AnswerField(column.name, kind_of(column.types))


def kind_of(types: Iterable[type]) -> Kind:
    """The kind that holds values of these types.

    >>> kind_of([int, float]), kind_of([str, int]), kind_of([bool])
    ('number', 'text', 'truth')
    """
    found = set(types)
    choices: tuple[tuple[set[type], Kind], ...] = (
        ({bool}, "truth"),
        ({int}, "whole"),
        ({int, float}, "number"),
        ({date, datetime}, "time"),
        ({timedelta}, "span"),
    )
    return next((kind for known, kind in choices if found and found <= known), "text")


def _typed(cells: pd.Series[Any], field: AnswerField) -> pd.Series[Any]:
    if field.kind == "text":
        return _text(cells)
    try:
        return cells.astype(field.dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        kept = [_fitting(cell, field) for cell in cells]
        return pd.concat(kept).set_axis(cells.index) if kept else pd.Series(dtype=field.dtype)


def _text(cells: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(cells.dtype, pd.StringDtype):
        return cells.astype("str")
    words = [
        None if missing else str(cell) for cell, missing in zip(cells, cells.isna(), strict=True)
    ]
    return pd.Series(words, index=cells.index, dtype="str")


def _fitting(cell: object, field: AnswerField) -> pd.Series[Any]:
    """One cell in the type of its column, missing where it does not fit."""
    try:
        return pd.Series([cell]).astype(field.dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return pd.Series([None], dtype=field.dtype)
