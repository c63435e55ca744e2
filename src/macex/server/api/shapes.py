"""What requests and responses look like."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)

from macex.server.asking import Options

Cell = StrictBool | StrictInt | StrictFloat | StrictStr | None
Row = dict[str, Cell]
STATE_BYTES = 50_000
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


class Asked(BaseModel):
    """The body of a request; a part it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


class Said(BaseModel):
    """The body of a response."""


class ClassGoal(Asked):
    """The model decides for one of these labels; null for any but the present one."""

    kind: Literal["any_of"]
    labels: list[Cell] | None = None


class BandGoal(Asked):
    """A score between two bounds; null is no bound."""

    kind: Literal["band"]
    low: Finite | None = None
    high: Finite | None = None
    open_low: bool = False
    open_high: bool = False
    label: Cell = None


class RiseGoal(Asked):
    """A score so much above the row's own."""

    kind: Literal["rise_by"]
    by: Finite
    label: Cell = None


class AboveGoal(Asked):
    """A score above that of another row."""

    kind: Literal["above_row"]
    row: Row
    label: Cell = None


Goal = Annotated[ClassGoal | BandGoal | RiseGoal | AboveGoal, Field(discriminator="kind")]
Want = Cell | Goal


class Question(Asked):
    """What is asked about rows."""

    n: Annotated[int, Field(ge=1, le=1000, description="Counterfactuals for each row.")] = 1
    want: Want | list[Want] = Field(
        default=None,
        description="Null for any other decision; a label; a goal as text, such as "
        "`at_least(0.7)`, or by its parts; or a list with one for each row.",
        examples=[">50K"],
    )
    constraints: dict[str, Any] | list[dict[str, Any] | None] | None = Field(
        default=None,
        description="What may change, as in `macex.Constraints`; or one for each row.",
        examples=[{"fixed": ["age", "race"], "max_changes": 2}],
    )
    method: Literal["exhaustive", "reinforce", "gradientless"] = "exhaustive"
    prefer: Literal["fewest", "nearest", "surest"] = "fewest"
    max_rows: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The most rows the model may score for a query."
    )
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    margin: Annotated[float, Field(ge=0, lt=1)] = 1e-6
    diagnose: bool = Field(default=False, description="Say which constraint stands in the way.")

    def wanted(self) -> Any:
        """The goal, or goals, as plain values."""
        return _plain(self.want)

    def options(self, most_seconds: float | None, most_rows: int) -> Options:
        """What the call is made with, within the server's bounds."""
        timeout = (
            self.timeout_s
            if most_seconds is None
            else min(self.timeout_s or most_seconds, most_seconds)
        )
        return Options(
            n=self.n,
            method=self.method,
            prefer=self.prefer,
            max_rows=None if self.max_rows is None else min(self.max_rows, most_rows),
            timeout_s=timeout,
            margin=self.margin,
            diagnose=self.diagnose,
        )


class ExplainRequest(Question):
    """Rows by their cells, or by their places in the project's table."""

    rows: list[Row] | None = Field(default=None, min_length=1, examples=[[ROW]])
    places: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, min_length=1)


class Filter(Asked):
    """Rows of the project's table."""

    decision: str | None = Field(default=None, description="The model's label, as text.")
    search: str = Field(default="", max_length=200, description="Text that a cell holds.")
    where: str = Field(default="", max_length=2000, examples=["age >= 40"])


class JobRequest(ExplainRequest):
    """As for `explain`, for many rows: also those of the table that a filter leaves."""

    filter: Filter | None = None


class PredictRequest(Asked):
    """Rows to be scored."""

    rows: list[Row] = Field(min_length=1, examples=[[ROW]])


class WhatIfRequest(Asked):
    """A row, by its cells or its place, and other values for some of its columns."""

    row: Row | None = Field(default=None, examples=[ROW])
    place: Annotated[int, Field(ge=0)] | None = None
    variants: list[dict[str, Cell]] = Field(
        min_length=1, max_length=50, examples=[[{"hours_per_week": 60}]]
    )


class ConstraintsRequest(Asked):
    """Constraints to be checked."""

    constraints: dict[str, Any] = Field(examples=[{"fixed": ["age"], "rules": ["age <= 90"]}])


class ViewRequest(Asked):
    """The state of a page, and a name for it."""

    name: str = Field(
        min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$", examples=["Women above 40"]
    )
    state: dict[str, Cell | list[Cell]] = Field(
        max_length=5000,
        description="Parameters of the page's address.",
        examples=[{"where": "age > 40"}],
    )

    @field_validator("state")
    @classmethod
    def _finite(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What can be kept, and sent again: no NaN, and not without end."""
        if len(json.dumps(given, allow_nan=False, ensure_ascii=False).encode()) > STATE_BYTES:
            raise ValueError(f"a state has at most {STATE_BYTES:,} bytes as JSON")
        return given


class SessionRequest(Asked):
    """A key that is shown once."""

    key: str = Field(min_length=1, max_length=200)


class Limits(Said):
    """How much one request may ask for."""

    sync_rows: int
    job_rows: int
    body_bytes: int
    upload_bytes: int
    answers: int
    explain_seconds: float


class Health(Said):
    """That the server is there, and what it allows."""

    status: Literal["ok"] = "ok"
    version: str
    limits: Limits


class ProjectItem(Said):
    """A project in a list."""

    name: str
    title: str
    opened: bool


class ProjectList(Said):
    """The projects of the server."""

    projects: list[ProjectItem]


class ColumnInfo(Said):
    """A column: what it is and what it takes."""

    name: str
    called: str
    kind: str
    integer: bool = False
    step: float | None = None
    low: Cell = None
    high: Cell = None
    values: list[Cell] = Field(default_factory=list, description="At most the first 100.")
    values_total: int = 0
    missing: bool = False


class ProjectInfo(ProjectItem):
    """A project, opened."""

    columns: list[ColumnInfo]
    row_columns: list[str] = Field(description="The cells that a row has.")
    classes: list[Cell] | None
    rows: int
    training_rows: int
    decisions: dict[str, int]
    constraints: dict[str, Any]
    format: dict[str, Any] = Field(description="How clients read rows and answers.")


class RowLine(Said):
    """A row with what the model says of it."""

    row: int
    label: Cell
    score: float
    cells: Row


class RowPage(Said):
    """Some rows of a view."""

    rows: list[RowLine]
    start: int
    matching: int
    total: int


class ValueList(Said):
    """Values of a column."""

    values: list[Cell]
    matching: int


class Prediction(Said):
    """What the model says of a row."""

    label: Cell
    score: float
    scores: dict[str, float]


class Predictions(Said):
    """What the model says of rows."""

    predictions: list[Prediction]


class ChangeSaid(Said):
    """A cell before and after."""

    column: str
    before: Cell
    after: Cell


class Variant(Prediction):
    """What the model says of a row with other values."""

    changes: list[ChangeSaid]


class WhatIf(Said):
    """The row as it is, and each variant."""

    own: Prediction
    variants: list[Variant]


class ConstraintParts(Said):
    """Constraints that are right, part by part in words."""

    constraints: dict[str, Any]
    parts: list[str]


class JobSaid(Said):
    """A job and how far it is."""

    id: str
    project: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    done: int
    total: int
    statuses: dict[str, int]
    created: str
    finished: str | None
    error: str | None


class JobList(Said):
    """Jobs, newest first."""

    jobs: list[JobSaid]


class ViewSaid(Said):
    """A saved view."""

    id: str
    name: str
    owner: str
    created: str
    state: dict[str, Any]


class ViewList(Said):
    """Saved views, newest first."""

    views: list[ViewSaid]


class SessionSaid(Said):
    """Who is signed in, and the token that changes must carry."""

    name: str
    scopes: list[str]
    csrf: str


class InspectedTable(Said):
    """The columns of an uploaded table as macex reads them."""

    rows: int
    columns: dict[str, dict[str, Any]]


def _plain(want: Any) -> Any:
    if isinstance(want, BaseModel):
        return want.model_dump()
    return [_plain(one) for one in want] if isinstance(want, list) else want
