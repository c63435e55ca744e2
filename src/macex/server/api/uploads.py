"""Projects made and removed by request."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, UploadFile
from starlette.responses import Response

from macex.server.api.needs import Admin, Name, Running
from macex.server.api.projects import project_info
from macex.server.api.responses import InspectedTable, ProjectInfo, SeriesInfo
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.projects.uploads import Upload, inspected, made

router = APIRouter(route_class=BodyRoute, tags=["projects"], responses=documented())
Json = Annotated[str, Form(max_length=1_000_000, description="An object as JSON.")]
Listed = Annotated[list[str] | None, Form()]


@router.post("/projects", status_code=201)
def create(
    *,
    server: Running,
    caller: Admin,
    title: Annotated[str, Form(min_length=1, max_length=100)],
    model: Annotated[UploadFile, File(description="ONNX, XGBoost, LightGBM, CatBoost or skops.")],
    data: Annotated[UploadFile, File(description="Training rows: CSV, Parquet, Arrow, JSONL.")],
    rows: Annotated[UploadFile | None, File(description="The rows to look at.")] = None,
    label: Annotated[str | None, Form(max_length=200)] = None,
    drop: Listed = None,
    classes: Listed = None,
    columns: Annotated[
        str, Form(alias="schema", max_length=1_000_000, description="Kinds of columns as JSON.")
    ] = "",
    constraints: Json = "",
    names: Json = "",
    kind: Annotated[
        Literal["table", "series"],
        Form(description="Rows of a table, or cases of time series: NumPy files, .npz with X."),
    ] = "table",
    channels: Listed = None,
    times: Listed = None,
    time_unit: Annotated[str, Form(max_length=50)] = "",
    structure: Annotated[
        str,
        Form(max_length=1_000_000, description="keep, warn, ignore, or relations as JSON."),
    ] = "",
    causes: Json = "",
) -> ProjectInfo | SeriesInfo:
    """A project from a model file, its training rows or cases, and their description."""
    if not caller.everywhere:
        raise ProblemError(403, "the key is for some projects only", code="scope_needed")
    upload = Upload(
        title=title,
        model=model.file,
        data=data.file,
        rows=None if rows is None or not rows.size else rows.file,
        label=label or None,
        drop=[column for column in drop or () if column],
        classes=[name for name in classes or () if name] or None,
        schema=_object("schema", columns),
        constraints=_object("constraints", constraints),
        names=_object("names", names),
        structure=_relations(structure),
        causes=_object("causes", causes),
        kind=kind,
        channels=[channel for channel in channels or () if channel],
        times=times or (),
        time_unit=time_unit,
    )
    return project_info(made(server.projects, upload, server.settings))


@router.post("/inspect")
def inspect(
    server: Running,
    _caller: Admin,
    data: Annotated[UploadFile, File(description="Training rows: CSV, Parquet, Arrow, JSONL.")],
    label: Annotated[str | None, Form(max_length=200)] = None,
    drop: Listed = None,
) -> InspectedTable:
    """What the columns of a table are taken for, to be corrected before a project is made."""
    kept = [column for column in drop or () if column]
    count, columns = inspected(data.file, label or None, kept, server.settings)
    return InspectedTable(rows=count, columns=json.loads(json.dumps(columns, default=str)))


@router.delete("/projects/{name}", status_code=204)
def remove(name: Name, server: Running, _caller: Admin) -> Response:
    """Remove a project that was uploaded, with its files, jobs and saved views."""
    server.remove_project(name)
    return Response(status_code=204)


def _relations(text: str) -> str | list[Any]:
    """A word, or a list of relations."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) else text


def _object(part: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProblemError(422, f"{part} must be an object as JSON")
    return found
