"""What responses look like."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.responses import Response

from macex.server.api.shapes import ANSWER_SCORES, BODY_ROWS, Cell, Row
from macex.server.storage.jobs import Job, Jobs


class ResponseBody(BaseModel):
    """The body of a response."""


def written(said: ResponseBody, status: int = 200) -> Response:
    """A long answer, written where it was made: on a thread, and not on the event loop."""
    return Response(said.model_dump_json(), status, media_type="application/json")


class Limits(ResponseBody):
    """How much one request may ask for."""

    sync_rows: int
    job_rows: int
    body_bytes: int
    upload_bytes: int
    body_values: int
    body_rows: int = BODY_ROWS
    answer_scores: int = Field(default=ANSWER_SCORES, description="In an answer of `predict`.")
    counterfactuals: int = Field(description="For each row.")
    model_rows: int = Field(description="That the model may score for a row.")
    explain_seconds: float


class Health(ResponseBody):
    """That the server is there, and what it allows."""

    status: Literal["ok"] = "ok"
    version: str
    limits: Limits


class Readiness(ResponseBody):
    """Whether the server takes questions."""

    ready: bool = Field(examples=[True])


class ProjectItem(ResponseBody):
    """A project in a list."""

    name: str
    title: str
    kind: Literal["table", "series"] = "table"
    opened: bool


class ProjectList(ResponseBody):
    """The projects of the server."""

    projects: list[ProjectItem]
    start: int
    total: int


class ColumnInfo(ResponseBody):
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
    structure: str = Field(
        description="What answers do with relations between columns.", examples=["keep"]
    )
    causes: dict[str, Any] | None = Field(description="What causes what, where that was stated.")
    format: dict[str, Any] = Field(description="How clients read rows and answers.")


class SeriesInfo(ProjectItem):
    """A project of time series, opened."""

    kind: Literal["series"] = "series"
    channels: list[str]
    length: int = Field(description="Time points of a case.")
    classes: list[Cell] | None
    cases: int
    training_cases: int
    decisions: dict[str, int]
    constraints: dict[str, Any]


class CaseLine(ResponseBody):
    """A case with what the model says of it."""

    place: int
    label: Cell
    score: float


class CaseWhole(CaseLine):
    """The same with its numbers, channel by channel."""

    values: list[list[float | None]]


class CasePage(ResponseBody):
    """Some cases of a project."""

    cases: list[CaseLine]
    start: int
    total: int


class RowLine(ResponseBody):
    """A row, its place in the table, and what the model says of it."""

    place: int
    label: Cell
    score: float
    cells: Row


class RowPage(ResponseBody):
    """Some rows of a view."""

    rows: list[RowLine]
    start: int
    matching: int
    total: int


class ValueList(ResponseBody):
    """Values of a column."""

    values: list[Cell]
    matching: int


class Prediction(ResponseBody):
    """What the model says of a row."""

    label: Cell
    score: float
    scores: dict[str, float]


class PredictionList(ResponseBody):
    """What the model says of rows."""

    predictions: list[Prediction]


class ChangeInfo(ResponseBody):
    """A cell before and after."""

    column: str
    before: Cell
    after: Cell


class VariantPrediction(Prediction):
    """What the model says of a row with other values."""

    changes: list[ChangeInfo]
    consequences: list[ChangeInfo] = Field(
        default=[], description="What follows from the changes by the causes of the project."
    )


class WhatIfPredictions(ResponseBody):
    """The row as it is, and each variant."""

    query: Prediction
    variants: list[VariantPrediction]


class StepInfo(ResponseBody):
    """What is done at once, what follows from it, and how the row stands then."""

    moves: list[ChangeInfo]
    follows: list[ChangeInfo]
    score: float
    label: Cell
    plausibility: float | None
    takes: dict[str, float] = Field(description="What it costs, by unit.")


class StepList(ResponseBody):
    """The steps to an answer, in an order in which every row on the way keeps the rules."""

    status: str = Field(
        description="That of the explanation; without an answer there are no steps."
    )
    reason: str | None
    score: float = Field(description="That of the row itself.")
    takes: dict[str, float] = Field(default={}, description="What all steps cost, by unit.")
    steps: list[StepInfo] = []


class ConstraintParts(ResponseBody):
    """Constraints that are right, part by part in words."""

    constraints: dict[str, Any]
    parts: list[str]


class JobInfo(ResponseBody):
    """A job and how far it is."""

    id: str
    project: str
    owner: str
    key: str | None = Field(description="The id of the key that made it.")
    model: str | None = Field(description="The SHA-256 of the model's file then.")
    version: str | None = Field(description="Of macex, then.")
    question: dict[str, Any] = Field(
        description="Options, goal and constraints; `left_out` names long ones, which are null."
    )
    filter: dict[str, Any] | None
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    done: int
    total: int
    statuses: dict[str, int]
    created: str
    finished: str | None
    error: str | None


def job_said(jobs: Jobs, job: Job) -> JobInfo:
    """A job as responses have it."""
    parts = JobInfo.model_fields.keys() - {"statuses", "question", "filter"}
    shared = {name: getattr(job, name) for name in parts}
    asked = dict(job.question)
    shared |= {"filter": asked.pop("filter", None), "question": asked}
    return JobInfo(**shared, statuses=jobs.statuses(job.id))


def progress(jobs: Jobs, identity: str) -> tuple[str, bool] | None:
    """A job as text, and whether it is at its end; None where there is none, or no more."""
    try:
        job = jobs.get(identity)
    except KeyError:
        return None
    return job_said(jobs, job).model_dump_json(), job.ended


class JobList(ResponseBody):
    """Jobs, newest first."""

    jobs: list[JobInfo]
    start: int
    total: int


class ViewInfo(ResponseBody):
    """A saved view."""

    id: str
    name: str
    owner: str
    created: str
    state: dict[str, Any]


class ViewList(ResponseBody):
    """Saved views, newest first."""

    views: list[ViewInfo]
    start: int
    total: int


class SessionInfo(ResponseBody):
    """Who is signed in, and the token that changes must carry."""

    name: str
    scopes: list[str]
    csrf: str


class InspectedTable(ResponseBody):
    """The columns of an uploaded table as macex reads them."""

    rows: int
    columns: dict[str, dict[str, Any]]
