"""What requests look like, and how much one of them may hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from macex.ask.question import FIELDS
from macex.engine.options import PREFERENCES, Preference, search_names
from macex.errors import closest
from macex.server.logs import NAMED, PLAIN, gist
from macex.server.questions import CallOptions, bounded_rows
from macex.server.settings import Settings
from macex.server.storage.views import STATE_BYTES
from macex.stages.search.protocol import DEFAULT_SEARCH

BODY_ROWS = 20_000  # rows in one body, and goals and constraints beside them
ANSWER_SCORES = 500_000  # of an answer, which is written at a stretch
BODY_PLACES = 100_000
COLUMNS = 5_000
MOST_OTHERS = 10  # models that must agree
CELL_LENGTH = 10_000
CONSTRAINT_VALUES = 20_000  # of the constraints for one row, or for all
CONSTRAINT_LENGTH = 500_000  # characters of all constraints, each text counted once
CELL = {"anyOf": [{"type": kind} for kind in ("boolean", "integer", "number", "string", "null")]}
NUMBERS = (int, float, type(None))
CELLS = (bool, int, float, str, type(None))


def _row(given: Any) -> dict[str, Any]:
    """Cells by column; an error names the first value that is not a cell."""
    if not isinstance(given, dict) or len(given) > COLUMNS:
        raise ValueError(f"a row is an object of at most {COLUMNS:,} cells")
    for column, cell in given.items():
        if type(cell) not in CELLS:
            raise ValueError(f"{column[:100]!r}: a cell is text, a number, true, false or null")
        if isinstance(cell, str) and len(cell) > CELL_LENGTH:
            raise ValueError(f"{column[:100]!r}: a cell has at most {CELL_LENGTH:,} characters")
    return given


Name = Annotated[str, Field(min_length=1, max_length=100)]


CHANNEL = {"type": "array", "items": {"type": ["number", "null"]}}


def _case(given: Any) -> list[Any]:
    """Channels of numbers."""
    if not isinstance(given, list) or not 0 < len(given) <= COLUMNS:
        raise ValueError(f"a case is a list of 1 to {COLUMNS:,} channels")
    for channel in given:
        if not isinstance(channel, list) or not all(type(one) in NUMBERS for one in channel):
            raise ValueError("a channel is a list of numbers, and null where there is none")
    return given


Case = Annotated[
    list[Any],
    PlainValidator(_case),
    WithJsonSchema({"type": "array", "items": CHANNEL, "minItems": 1}),
]
Cell = StrictBool | StrictInt | StrictFloat | StrictStr | None
Row = Annotated[
    dict[str, Any],
    PlainValidator(_row),
    WithJsonSchema({"type": "object", "additionalProperties": CELL}),
]
Finite = Annotated[float, Field(allow_inf_nan=False)]
ROW: dict[str, Any] = {
    "age": 39,
    "workclass": "Private",
    "education": "Bachelors",
    "marital_status": "Single",
    "occupation": "White-Collar",
    "race": "White",
    "gender": "Female",
    "hours_per_week": 40,
}


class RequestBody(BaseModel):
    """The body of a request; a part it does not know is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        """An error names the first unknown part."""
        for part in given if isinstance(given, dict) else ():
            if part not in cls.model_fields:
                name = str(part)[:100]
                raise ValueError(f"there is no part {name!r}{closest(name, cls.model_fields)}")
        return given


class ClassGoal(RequestBody):
    """The model decides for one of these labels; null for any but the present one."""

    kind: Literal["any_of"]
    labels: Annotated[list[Cell], Field(max_length=1000, fail_fast=True)] | None = None


class BandGoal(RequestBody):
    """A score between two bounds; null means no bound."""

    kind: Literal["band"]
    low: Finite | None = None
    high: Finite | None = None
    open_low: bool = False
    open_high: bool = False
    label: Cell = None


class RiseGoal(RequestBody):
    """A score so much above the row's own."""

    kind: Literal["rise_by"]
    by: Finite
    label: Cell = None


class AboveGoal(RequestBody):
    """A score above that of another row."""

    kind: Literal["above_row"]
    row: Row
    label: Cell = None


Goal = Annotated[ClassGoal | BandGoal | RiseGoal | AboveGoal, Field(discriminator="kind")]
Want = Cell | Goal
Wants = Annotated[list[Want], Field(max_length=BODY_ROWS, fail_fast=True)]
PerRow = Annotated[list[dict[str, Any] | None], Field(max_length=BODY_ROWS, fail_fast=True)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=BODY_ROWS, fail_fast=True)]
Cases = Annotated[list[Case], Field(min_length=1, max_length=BODY_ROWS, fail_fast=True)]
Place = Annotated[int, Field(ge=0, le=2**31)]
Places = Annotated[list[Place], Field(min_length=1, max_length=BODY_PLACES, fail_fast=True)]


def _leaves(given: Any) -> Iterator[Any]:
    """All that lists and objects hold, names included."""
    left = [given]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
        else:
            yield one


def _bounded(given: Any) -> Any:
    """Constraints that are read within a moment: reading them cannot be interrupted."""
    text: set[str] = set()
    for one_row in given if isinstance(given, list) else [given]:
        values = list(_leaves(one_row))
        if len(values) > CONSTRAINT_VALUES:
            raise ValueError(f"constraints hold at most {CONSTRAINT_VALUES:,} values, for each row")
        text.update(one for one in values if isinstance(one, str))
    if sum(map(len, text)) > CONSTRAINT_LENGTH:
        raise ValueError(f"rules and names have at most {CONSTRAINT_LENGTH:,} characters together")
    return given


class QuestionBody(RequestBody):
    """What is asked about rows."""

    n: Annotated[int, Field(ge=1, le=1000, description=FIELDS["n"])] = 1
    want: Want | Wants = Field(
        default=None,
        description="Null for any other decision; a label; a goal as text, such as "
        "`at_least(0.7)`, or by its parts; or a list with one for each row.",
        examples=[">50K"],
    )
    constraints: Annotated[dict[str, Any] | PerRow | None, AfterValidator(_bounded)] = Field(
        default=None,
        description="What may change, as in `macex.Constraints`; or one for each row.",
        examples=[{"fixed": ["age", "race"], "max_changes": 2}],
    )
    method: Annotated[str, Field(json_schema_extra={"enum": list(search_names())})] = DEFAULT_SEARCH
    prefer: Preference = PREFERENCES[0]
    structure: Literal["keep", "warn", "ignore"] | None = Field(
        default=None,
        description="What answers do with relations between columns; null for what the project "
        "says.",
    )
    max_rows: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description=FIELDS["max_rows"]
    )
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    margin: Annotated[float, Field(ge=0, lt=1)] = 1e-6
    diagnose: bool = Field(default=False, description=FIELDS["diagnose"])
    robust: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description=FIELDS["robust"]
    )
    reach: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description=FIELDS["reach"]
    )

    also: Annotated[Sequence[Name], Field(max_length=MOST_OTHERS)] = Field(
        default=(), description="Further projects whose models must agree with every answer."
    )

    def wanted(self) -> Any:
        """The goal, or goals, as plain values."""
        return _plain(self.want)

    def noted(self) -> dict[str, Any]:
        """What the log says of the question."""
        asked = self.model_dump(include={*PLAIN, *NAMED})
        if self.method not in search_names():
            asked.pop("method")
        given = (getattr(self, part, None) for part in ("rows", "cases", "places"))
        chosen = getattr(self, "filter", None)
        filtered = None if chosen is None else chosen.model_dump()
        said = gist(asked, self.wanted(), self.constraints, filtered)
        return {"question": said, "rows": next((len(one) for one in given if one), None)}

    def options(self, settings: Settings, *, timed: bool = True) -> CallOptions:
        """What the call is made with, within the server's bounds; a job has no time limit."""
        most = settings.explain_seconds
        asked = {one.name: getattr(self, one.name) for one in fields(CallOptions)}
        asked["max_rows"] = bounded_rows(self.max_rows, settings.model_rows)
        asked["timeout_s"] = min(self.timeout_s or most, most) if timed else self.timeout_s
        return CallOptions(**asked | {"also": tuple(dict.fromkeys(self.also))})


class ExplainRequest(QuestionBody):
    """Rows by their cells, or by their places in the project's table.

    A project of time series takes cases instead of rows: channels of numbers.
    """

    rows: Rows | None = Field(default=None, examples=[[ROW]])
    cases: Cases | None = None
    places: Places | None = None


class Filter(RequestBody):
    """Rows of the project's table."""

    decision: str | None = Field(
        default=None, max_length=200, description="The model's label, as text."
    )
    search: str = Field(default="", max_length=200, description="Text that a cell holds.")
    where: str = Field(default="", max_length=2000, examples=["age >= 40"])


class JobRequest(ExplainRequest):
    """As for `explain`, for many rows: also those of the table that a filter leaves."""

    filter: Filter | None = None


class PredictRequest(RequestBody):
    """Rows to be scored; or cases, of a project of time series."""

    rows: Rows | None = Field(default=None, examples=[[ROW]])
    cases: Cases | None = None


class WhatIfRequest(RequestBody):
    """A row, by its cells or its place, and other values for some of its columns."""

    row: Row | None = Field(default=None, examples=[ROW])
    place: Place | None = None
    variants: Annotated[list[Row], Field(fail_fast=True)] = Field(
        min_length=1, max_length=50, examples=[[{"hours_per_week": 60}]]
    )


class StepsRequest(RequestBody):
    """A row, by its cells or its place, the answer it wants, and what changes of columns cost."""

    row: Row | None = Field(default=None, examples=[ROW])
    place: Place | None = None
    want: Want = Field(default=None, description="As for `explain`, for the one row.")
    constraints: Annotated[dict[str, Any] | None, AfterValidator(_bounded)] = None
    prefer: Preference = PREFERENCES[0]
    reach: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description=FIELDS["reach"]
    )
    rank: Annotated[int, Field(ge=1, le=20, description="Which answer, from 1.")] = 1
    costs: dict[str, float | Annotated[str, Field(max_length=100)]] = Field(
        default={},
        max_length=1000,
        description="What a change of a column takes: a number, or one with a unit.",
        examples=[{"hours_per_week": "3 months"}],
    )
    dense: bool = Field(default=False, description="Lead through rows that look usual.")

    def wanted(self) -> Any:
        """The goal, as plain values."""
        return _plain(self.want)


class ConstraintsRequest(RequestBody):
    """Constraints to be checked."""

    constraints: Annotated[dict[str, Any], AfterValidator(_bounded)] = Field(
        examples=[{"fixed": ["age"], "rules": ["age <= 90"]}]
    )


class ViewRequest(RequestBody):
    """The state of a page, and a name for it."""

    name: str = Field(
        min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$", examples=["Women above 40"]
    )
    state: dict[str, Any] = Field(
        description="Parameters of the page's address.",
        examples=[{"where": "age > 40"}],
    )

    @field_validator("state")
    @classmethod
    def _finite(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What can be kept, and sent again: cells or lists of them, no NaN, and not without end."""
        for name, value in given.items():
            cells = value if isinstance(value, list) else [value]
            if any(type(cell) not in CELLS for cell in cells):
                raise ValueError(f"{name[:100]!r}: a state holds cells, or lists of them")
        if len(json.dumps(given, allow_nan=False)) > STATE_BYTES:
            raise ValueError(f"a state has at most {STATE_BYTES:,} characters as JSON")
        return given


class SessionRequest(RequestBody):
    """A key that is shown once."""

    key: str = Field(min_length=1, max_length=200)


def _plain(want: Any) -> Any:
    if isinstance(want, BaseModel):
        return want.model_dump()
    return [_plain(one) for one in want] if isinstance(want, list) else want
