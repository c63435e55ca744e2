"""What a column looks like as something to fill in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from macex.render.speech import Speech
from macex.schema import Column, Rows, Schema
from macex.schema.columns import MISSING, UNKNOWN
from macex.schema.text import text_of

CHOICES = 40  # with more categories than that one searches instead of choosing
FOUND = 20  # categories that a search shows
STEPS = 200  # positions of a slider where the column has no grid of its own
TOGETHER = 20  # with more columns than that they are searched, and shown in groups
GROUPS = (2, 12)  # as few, and as many, groups as names may make
KINDS_SAID = {
    "switch": "Switches",
    "number": "Numbers",
    "choice": "Choices",
    "search": "Long lists",
    "moment": "Dates",
}

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
    """A column: how it is called, its value in the row, and what may be filled in.

    `switch` are its two values, where a column has no others and the row has one of them.
    """

    column: str
    name: str
    kind: FieldKind
    own: str
    shown: str
    options: tuple[Option, ...] = ()
    slider: Slider | None = None
    ordered: bool = False
    whole: bool = False
    switch: tuple[Option, ...] = ()
    place: int = 0


@dataclass(frozen=True)
class Group:
    """Columns that are shown together; without a title there is one group."""

    title: str
    fields: tuple[Field, ...]


def fields(rows: Rows, speech: Speech) -> list[Field]:
    """A field for each column of the first of some rows."""
    cells = rows.cells(0)
    return [
        field(column, cells[column.name], float(rows.codes[0, at]), speech, at)
        for at, column in enumerate(rows.schema.columns)
    ]


def blank_fields(schema: Schema, speech: Speech) -> list[Field]:
    """A field for each column, of no row in particular."""
    return [field(column, None, MISSING, speech, at) for at, column in enumerate(schema.columns)]


def grouped(all_fields: Sequence[Field]) -> list[Group]:
    """Columns in groups, where there are many: by what their names begin with, else by kind.

    >>> names = [f"{part}_{at}" for part in ("income", "house") for at in range(15)]
    >>> [group.title for group in grouped([Field(name, name, "number", "", "") for name in names])]
    ['income', 'house']
    """
    if len(all_fields) <= TOGETHER:
        return [Group("", tuple(all_fields))]
    beginnings = [re.split(r"[_.:\s]|(?<=[a-z])(?=[A-Z0-9])", one.name)[0] for one in all_fields]
    if not GROUPS[0] <= len(set(beginnings)) <= GROUPS[1]:
        beginnings = [KINDS_SAID["switch" if one.switch else one.kind] for one in all_fields]
    made: dict[str, list[Field]] = {}
    for title, one in zip(beginnings, all_fields, strict=True):
        made.setdefault(title, []).append(one)
    return [Group(title, tuple(members)) for title, members in made.items()]


def field(column: Column, own: object, code: float, speech: Speech, at: int = 0) -> Field:
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
        switch=_switch(column, code, speech),
        place=at + 1,
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


def _switch(column: Column, code: float, speech: Speech) -> tuple[Option, ...]:
    """The two values of a column that has no others: two categories, or 0 and 1."""
    codes = range(len(column.table)) if column.discrete else column.seen.tolist()
    two = len(codes) == 2 and (column.discrete or (column.integer and list(codes) == [0, 1]))
    if not two or column.missing or code not in codes:
        return ()
    values = [column.value(one) for one in codes]
    return tuple(Option(text_of(value), speech.value(column.name, value)) for value in values)


def _slider(column: Column, code: float) -> Slider | None:
    """From the least to the greatest number of the data, and of the row."""
    if kind(column) != "number" or not column.low < column.high:
        return None
    known = [column.low, column.high, *([] if code in (MISSING, UNKNOWN) else [code])]
    low, high = min(known), max(known)
    step = column.step or (high - low) / STEPS
    return Slider(*(text_of(float(f"{number:.10g}")) for number in (low, high, step)))
