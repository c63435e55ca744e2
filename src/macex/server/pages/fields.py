"""What a column looks like as something to fill in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from macex.render.speech import Speech
from macex.schema import Column, Rows, Schema
from macex.schema.columns import MISSING, UNKNOWN
from macex.schema.typed import text_of

CHOICES = 40  # with more categories than that one searches instead of choosing
FOUND = 20  # categories that a search shows
STEPS = 200  # positions of a slider where the column has no grid of its own

FieldKind = Literal["number", "choice", "search", "moment"]


@dataclass(frozen=True)
class Option:
    """A value as it is typed, and as it is shown."""

    text: str
    shown: str


@dataclass(frozen=True)
class Slider:
    """The ends of a number's range in the data, and the step between positions."""

    low: str
    high: str
    step: str


@dataclass(frozen=True)
class Field:
    """A column: how it is called, its value in the row, and what may be filled in."""

    column: str
    name: str
    kind: FieldKind
    own: str
    shown: str
    options: tuple[Option, ...] = ()
    slider: Slider | None = None
    ordered: bool = False
    whole: bool = False


def fields(rows: Rows, speech: Speech) -> list[Field]:
    """A field for each column of the first of some rows."""
    cells = rows.cells(0)
    return [
        field(column, cells[column.name], float(rows.codes[0, at]), speech)
        for at, column in enumerate(rows.schema.columns)
    ]


def blank_fields(schema: Schema, speech: Speech) -> list[Field]:
    """A field for each column, of no row in particular."""
    return [field(column, None, MISSING, speech) for column in schema.columns]


def field(column: Column, own: object, code: float, speech: Speech) -> Field:
    """The field of one column of a row."""
    return Field(
        column=column.name,
        name=speech.name(column.name),
        kind=kind(column),
        own=text_of(own),
        shown=speech.value(column.name, own),
        options=_options(column, own, speech),
        slider=_slider(column, code),
        ordered=column.kind != "categorical",
        whole=column.integer,
    )


def kind(column: Column) -> FieldKind:
    """Which sort of field a column needs."""
    if column.discrete:
        return "choice" if len(column.table) <= CHOICES else "search"
    return "moment" if column.kind == "datetime" else "number"


def found_values(column: Column, text: str, speech: Speech) -> list[Option]:
    """The categories that a search finds: those that begin with the text, then those with it."""
    low = text.strip().lower()
    hits = [(text_of(value), value) for value in column.table if low in text_of(value).lower()]
    hits.sort(key=lambda hit: not hit[0].lower().startswith(low))
    return [Option(spelt, speech.value(column.name, value)) for spelt, value in hits[:FOUND]]


def _options(column: Column, own: object, speech: Speech) -> tuple[Option, ...]:
    if kind(column) != "choice":
        return ()
    values = list(column.table)
    if own is not None and text_of(own) not in map(text_of, values):
        values.insert(0, own)  # a category that training has never seen
    return tuple(Option(text_of(value), speech.value(column.name, value)) for value in values)


def _slider(column: Column, code: float) -> Slider | None:
    """From the least to the greatest number of the data, and of the row."""
    if kind(column) != "number" or not column.low < column.high:
        return None
    known = [column.low, column.high, *([] if code in (MISSING, UNKNOWN) else [code])]
    low, high = min(known), max(known)
    step = column.step or (high - low) / STEPS
    return Slider(*(text_of(float(f"{number:.10g}")) for number in (low, high, step)))
