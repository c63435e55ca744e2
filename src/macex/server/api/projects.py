"""Projects, their columns and their rows; projects made and removed by request."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Path, Query, UploadFile
from starlette.responses import Response

from macex.errors import SchemaError
from macex.explanation.json import plain
from macex.render.names import called
from macex.schema import Column
from macex.server.api.cases import series_info
from macex.server.api.needs import Admin, Chosen, Name, Reader, Running, Size, Start
from macex.server.api.responses import (
    ColumnInfo,
    InspectedTable,
    ProjectInfo,
    ProjectItem,
    ProjectList,
    RowLine,
    RowPage,
    SeriesInfo,
    ValueList,
    written,
)
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.projects.table import ScoredLine, View
from macex.server.projects.uploads import Upload, inspected, made

router = APIRouter(route_class=BodyRoute, tags=["projects"], responses=documented())
SHOWN = 100
CELLS = 200_000  # on a page
CATEGORIES = ("categories", "enum")  # where a dtype of pandas, or of polars, keeps its own
Text = Annotated[str, Query(max_length=2000)]
Json = Annotated[str, Form(max_length=1_000_000, description="An object as JSON.")]
Listed = Annotated[list[str] | None, Form()]


@router.get("/projects")
def projects(server: Running, caller: Reader, start: Start = 0, size: Size = 1000) -> ProjectList:
    """The projects of the server that the caller may see."""
    seen = [project for project in server.projects if caller.sees(project.name)]
    found = [
        ProjectItem(
            name=p.name,
            title=p.title,
            opened=p.opened,
            kind="series" if p.series_only else "table",
        )
        for p in seen[start : start + size]
    ]
    return ProjectList(projects=found, start=start, total=len(seen))


@router.get("/projects/{name}")
def project(project: Chosen, _caller: Reader) -> ProjectInfo | SeriesInfo:
    """One project: its columns or channels, its classes, what may change."""
    return project_info(project)


@router.get("/projects/{name}/rows", response_model=RowPage)
def rows(
    project: Chosen,
    _caller: Reader,
    sort: Annotated[
        str, Query(max_length=200, description="A column, cf.row, cf.label or cf.score.")
    ] = "cf.row",
    *,
    descending: bool = False,
    decision: Annotated[str | None, Query(max_length=200)] = None,
    search: Text = "",
    where: Annotated[str, Query(max_length=2000, examples=["age >= 40"])] = "",
    start: Start = 0,
    size: Size = 50,
) -> Response:
    """Rows with the model's decision and score: sorted, filtered, searched, paged.

    A table of very many columns has fewer rows on a page than were asked for.
    """
    view = View(sort, descending, decision, search, where)
    most = max(1, CELLS // max(1, project.table.rows.shape[1]))
    page = project.table.page(view, start, min(size, most))
    lines = [_line(line) for line in page.lines]
    return written(RowPage(rows=lines, start=start, matching=page.matching, total=page.total))


@router.get("/projects/{name}/rows/{row}")
def row(project: Chosen, _caller: Reader, row: Annotated[int, Path(ge=0, le=2**31)]) -> RowLine:
    """One row of the table."""
    try:
        return _line(project.table.line(row))
    except SchemaError as error:
        raise ProblemError(404, str(error)) from None


@router.get("/projects/{name}/values")
def values(
    project: Chosen,
    _caller: Reader,
    column: Annotated[str, Query(max_length=200, examples=["education"])],
    search: Annotated[str, Query(max_length=200)] = "",
    start: Start = 0,
    size: Size = 50,
) -> ValueList:
    """Values of a column of categories that hold a text; those that begin with it come first."""
    schema = project.explainer().schema
    known = schema.columns[schema.position(column)]
    found = known.table if known.discrete else ()
    if text := search.lower():
        holding = [value for value in found if text in str(plain(value)).lower()]
        holding.sort(key=lambda value: not str(plain(value)).lower().startswith(text))
        found = tuple(holding)
    shown = [plain(value) for value in found[start : start + size]]
    return ValueList(values=shown, matching=len(found))


def project_info(project: Project) -> ProjectInfo | SeriesInfo:
    """What clients and pages need to know of a project."""
    return series_info(project) if isinstance(project, SeriesProject) else _table_info(project)


def _table_info(project: Project) -> ProjectInfo:
    explainer, table = project.explainer(), project.table
    names = project.parts.names
    classes = explainer.classes
    return ProjectInfo(
        name=project.name,
        title=project.title,
        opened=True,
        columns=[
            _column(column, called(column.name, names)) for column in explainer.schema.columns
        ],
        row_columns=explainer.columns,
        classes=None if classes is None else [plain(label) for label in classes],
        rows=len(table),
        training_rows=len(project.parts.training),
        decisions=table.counts(),
        constraints=plain(explainer.constraints.to_dict()),
        structure=explainer.engine.options.structure,
        causes=None if explainer.causes is None else explainer.causes.to_dict(),
        format=_format(project),
    )


def _format(project: Project) -> dict[str, Any]:
    """The schema without what training rows hold, and what scores mean.

    Of a column with many values it has the first ones, and `values_total` says how many there are.
    """
    explainer = project.explainer()
    schema = plain(explainer.schema.to_dict())
    for column in (*schema["columns"], *schema["blocks"]):
        column["seen"], column["counts"] = [], []
    names = {
        column: plain(name if isinstance(name, str) else asdict(name))
        for column, name in project.parts.names.items()
    }
    return {
        "values_total": dict(filter(None, map(_shortened, schema["columns"]))),
        "schema": schema,
        "outlook": plain(asdict(explainer.engine.outlook)),
        "names": names,
    }


def _shortened(column: dict[str, Any]) -> tuple[str, int] | None:
    """Cut the values of a stored column; its name and their number, if there were more."""
    table, dtype = column["table"], column["dtype"]
    if len(table) <= SHOWN:
        return None
    for part in CATEGORIES if isinstance(dtype, dict) else ():
        if set(dtype.get(part) or ()) == set(table):
            dtype[part] = None  # those of the column
    column["table"] = table[:SHOWN]
    return column["name"], len(table)


def _column(column: Column, name: str) -> ColumnInfo:
    if column.discrete:
        shown = [plain(value) for value in column.table[:SHOWN]]
        return ColumnInfo(
            name=column.name,
            called=name,
            kind=column.kind,
            values=shown,
            values_total=len(column.table),
            missing=column.missing,
        )
    return ColumnInfo(
        name=column.name,
        called=name,
        kind=column.kind,
        integer=column.integer,
        step=column.step or None,
        low=plain(column.value(column.low)),
        high=plain(column.value(column.high)),
        missing=column.missing,
    )


def _line(line: ScoredLine) -> RowLine:
    return RowLine(place=line.row, label=line.label, score=line.score, cells=line.cells)


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
