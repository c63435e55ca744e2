"""The page of a project's rows: paged, sorted, filtered, searched; and the views that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from macex.errors import MacexError, OptionError
from macex.render.exports import csv_text
from macex.render.speech import Speech
from macex.schema import Array, Schema
from macex.schema.text import text_of
from macex.server.api.needs import Asker, Reader
from macex.server.pages.address import ASKING, LIMITING, Address
from macex.server.pages.cases import cases_page
from macex.server.pages.home import inside
from macex.server.pages.shell import (
    Form,
    PageRoute,
    address_of,
    attached,
    moved,
    page,
    page_number,
    parts_asked,
    pieces,
)
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.projects.table import Page, ScoredTable, View
from macex.server.room import require_room
from macex.server.state import Server, server_of
from macex.server.storage.views import SavedView
from macex.server.turns import turn_name

SIZE = 25
WRITTEN = 10_000  # rows of a file that are written at once
router = APIRouter(include_in_schema=False, route_class=PageRoute)
LONGEST = 200


def view_of(address: Address) -> View:
    """Which rows an address shows, in which order."""
    sort = address.one("sort", "cf.row")
    return View(
        sort=sort.removeprefix("-"),
        descending=sort.startswith("-"),
        decision=address.one("decision") or None,
        search=address.one("q"),
        where=address.one("where"),
    )


@router.get("/projects/{name}")
def rows_page(request: Request, name: str, _caller: Reader) -> HTMLResponse:
    """The rows of a project."""
    server, address = server_of(request), address_of(request)
    project = server.projects[name].open()
    if isinstance(project, SeriesProject):
        return cases_page(request, project)
    values = {**listed(project, address), "views": kept_views(server, project.name)}
    if parts_asked(request, ("rows",)):
        return pieces(request, ["rows"], values, project=project)
    return page(request, "listing", values, project=project)


@router.get("/projects/{name}/rows.csv")
def rows_file(request: Request, name: str, _caller: Reader) -> Response:
    """The rows of a view with decision and score, as a file that a spreadsheet may open."""
    server, address = server_of(request), address_of(request)
    project = server.projects[name]
    places = project.table.places(view_of(address))
    pieces = server.showing.each(turn_name(project.name), written(project.table, places))
    headers = attached(f"{project.name}-rows.csv")
    return StreamingResponse(pieces, headers=headers, media_type="text/csv")


def written(table: ScoredTable, places: Array) -> Iterator[str]:
    """Rows with decision and score as CSV, piece by piece: all of them, whatever their number."""
    said = table.predictions
    for start in range(0, max(1, len(places)), WRITTEN):
        some = places[start : start + WRITTEN]
        frame = table.frame(some)
        frame.insert(0, "cf.row", some)
        frame.insert(1, "cf.label", [said.label(int(place)) for place in some])
        frame.insert(2, "cf.score", said.shown[some])
        head = csv_text(frame.head(0), formula_safe=True) if start else ""
        yield csv_text(frame, formula_safe=True).removeprefix(head)


def listed(project: Project, address: Address) -> dict[str, object]:
    """What the list of rows shows; a filter that cannot be read is said, and shows none."""
    table, asked = project.table, page_number(address)
    try:
        found, fault = table.page(view_of(address), SIZE * (asked - 1), SIZE), ""
    except MacexError as error:
        found, fault = Page([], 0, len(table)), str(error)
    last = max(1, ceil(found.matching / SIZE))
    classes = project.explainer().classes
    return {
        "found": found,
        "fault": fault,
        "number": asked,
        "last": last,
        "first": SIZE * (asked - 1) + 1,
        "columns": list(map(str, table.rows.columns)),
        "classes": None if classes is None else [str(label) for label in classes],
        "counts": table.counts(),
        "speech": Speech(project.parts.names),
        "listing": address.without("a.", "b.", "two"),
        "carried": address.parts(*ASKING, *LIMITING),
        "example": example(project.explainer().schema),
        "sort": address.one("sort", "cf.row"),
    }


def example(schema: Schema) -> str:
    """A condition on the first number of the rows, as one may write it."""
    numbers = (column for column in schema.columns if column.kind == "continuous")
    column = next(numbers, None)
    return "" if column is None else f"{column.name} >= {text_of(column.value(column.high))}"


def kept_views(server: Server, project: str) -> list[tuple[SavedView, str]]:
    """The saved views of a project, and where each leads: one from HTTP is a state of the list."""
    return [(view, _address(project, view.state)) for view in server.views.of(project)]


def _address(project: str, state: Any) -> str:
    parts = state if isinstance(state, Mapping) else {}
    if "address" in parts:
        return inside(str(parts["address"]))
    plain = [(str(key), str(value)) for key, value in parts.items() if value is not None]
    return f"/projects/{project}?{Address(plain)}"


@router.post("/projects/{name}/views")
def keep(request: Request, name: str, sent: Form, caller: Asker) -> Response:
    """Keep an address under a name, and go back to it."""
    server = server_of(request)
    title, address = sent.one("name").strip(), inside(sent.one("state"))
    if not 0 < len(title) <= LONGEST or not title.isprintable():
        raise OptionError(f"a view has a name of 1 to {LONGEST} letters")
    require_room(server.settings)
    server.views.save(server.projects[name].name, caller.name, title, {"address": address})
    return RedirectResponse(address, 303)


@router.post("/projects/{name}/views/{identity}/forget")
def forget(request: Request, name: str, identity: str, _caller: Asker) -> Response:
    """Forget a view."""
    server = server_of(request)
    server.views.remove(server.projects[name].name, identity)
    return moved(request, f"/projects/{name}")
