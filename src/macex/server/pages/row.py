"""The page of one row: what would have to be different, what if, and what may change."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup

from macex.ask.goals import Band
from macex.causes import drawn
from macex.errors import MacexError, ModelError, SchemaError
from macex.explainer.variants import (
    Aim,
    Variant,
    all_said,
    caused,
    judgements,
    variant,
    whose,
)
from macex.explanation import Explanations
from macex.render.cards import card
from macex.render.fields import fields, found_values
from macex.render.speech import Speech
from macex.schema.text import text_of
from macex.server.api.needs import Asker, Reader
from macex.server.pages.address import ASKING, LIMITING, LISTING, VARIANTS
from macex.server.pages.constraints import constraints, editing, gist
from macex.server.pages.panes import Pane, answer_codes, compare_pane, curve_pane, map_pane, steps
from macex.server.pages.questions import asked_of, explained, gone_of, question, wanted
from macex.server.pages.rows import view_of
from macex.server.pages.shell import PageRoute, address_of, attached, page, parts_asked, pieces
from macex.server.projects.project import Project
from macex.server.security.gate import caller_of
from macex.server.settings import Settings
from macex.server.state import server_of
from macex.server.storage.tables import now

router = APIRouter(include_in_schema=False, route_class=PageRoute)
MEDIA = {"csv": "text/csv", "json": "application/json", "html": "text/html"}
PARTS = (
    "question",
    "answers",
    "whatif",
    "verdicts",
    "curve",
    "map",
    "compare",
    "constraints",
    "gist",
)
LAZY = ("map", "compare")  # of a page as a whole, only where its address asks for it


@router.get("/projects/{name}/rows/{at}")
def row_page(request: Request, name: str, at: int, caller: Reader) -> HTMLResponse:
    """One row; who may not explain sees its cells and the decision."""
    server = server_of(request)
    looked = Look(server.settings, server.projects[name], at, request)
    if not caller.may("explain"):
        return page(request, "row", looked.plainly(), project=looked.project)
    asked = parts_asked(request, PARTS)
    if asked:
        return pieces(request, asked, looked.shown(asked), project=looked.project)
    whole = [part for part in PARTS if part not in LAZY or looked.asks_for(part)]
    return page(request, "row", looked.shown(whole), project=looked.project)


@router.get("/projects/{name}/values")
def values(request: Request, name: str, _caller: Reader, column: str, q: str = "") -> JSONResponse:
    """The categories of a column that a search finds."""
    project = server_of(request).projects[name]
    schema = project.explainer().schema
    found = found_values(schema.columns[schema.position(column)], q, Speech(project.parts.names))
    return JSONResponse([option.text for option in found])


@router.get("/projects/{name}/rows/{at}/answers.{kind}")
def row_file(request: Request, name: str, at: int, kind: str, caller: Asker) -> Response:
    """The answers as a file: CSV, JSON, or a report in HTML."""
    server = server_of(request)
    looked = Look(server.settings, server.projects[name], at, request)
    if kind not in MEDIA:
        raise SchemaError(f"answers are written as csv, json or html, not {kind!r}")
    file = attached(f"{looked.project.name}-row-{at}.{kind}")
    told = {"asked_by": f"{caller.name} (key {caller.key_id})", "asked_at": now()}
    looked.found.meta.update(told, model=looked.project.model_hash or "in the server")
    content = written(looked.found, kind, looked.project.title)
    return Response(content, headers=file, media_type=MEDIA[kind])


def written(found: Explanations, kind: str, title: str) -> str:
    """Answers as the text of a file."""
    if kind == "csv":
        return found.to_csv()
    return found.to_json() if kind == "json" else found.to_html(title=title)


class Look:
    """A row that is looked at, and everything the page may show of it."""

    def __init__(self, settings: Settings, project: Project, at: int, request: Request) -> None:
        self.settings, self.project, self.at = settings, project, at
        self.address, self.gone = address_of(request), gone_of(request)
        caller = caller_of(request)
        self.by = {} if caller is None else caller.signature
        table = project.table
        if not 0 <= at < len(table):
            raise SchemaError(f"there is no row {at}: rows are counted from 0 to {len(table) - 1}")
        self.frame = table.frame(np.array([at]))
        self.explainer = project.explainer()
        self.rows = self.explainer.schema.read(self.frame)
        self.speech = Speech(project.parts.names)

    @cached_property
    def found(self) -> Explanations:
        """The answers; a question that cannot be asked is an error."""
        asked = question(self.address, self.explainer.classes)
        limits = constraints(self.address, self.rows.schema)
        return explained(self.settings, self.project, self.frame, asked, limits, self.gone, self.by)

    def shown(self, parts: tuple[str, ...] | list[str]) -> dict[str, Any]:
        """What the templates of these parts need."""
        made = {"at": self.at, "speech": self.speech, **asked_of(self.address, self.explainer)}
        if "question" in parts:
            made |= self._around()
        if {"whatif", "constraints", "map"} & set(parts):
            made |= self._editing()
        made |= {"gist": gist(self.address, self.rows.schema)}
        if {"whatif", "verdicts", "curve"} & set(parts):
            made |= self._verdicts()
        if "answers" in parts:
            made |= self._answers()
        return made | self._panes(parts)

    def asks_for(self, part: str) -> bool:
        """Whether the address asks for a part that is not always shown."""
        names = {"map": ("mapx", "mapy"), "compare": ("compare",)}[part]
        return all(self.address.one(name) for name in names)

    def _panes(self, parts: tuple[str, ...] | list[str]) -> dict[str, Any]:
        """The curve, the map and the comparison, or why there is none."""
        made: dict[str, Any] = {"curve": None, "map": None, "compare": None}
        try:
            if {"whatif", "curve"} & set(parts) and self.address.one("curve"):
                made["curve"] = curve_pane(self.aim, self.address, self.variants)
            if "map" in parts and self.asks_for("map"):
                base = self.variants[0].codes
                made["map"] = map_pane(self.aim, self.address, base, self.answered())
            if "compare" in parts and self.asks_for("compare"):
                made["compare"] = compare_pane(self.aim, self.answered())
                made["of"] = whose(self.aim.said.goal, self.aim.said.enough, self.speech)
        except ModelError as error:
            fault = Pane(fault=str(error))
            made = {name: pane or fault for name, pane in made.items()}
        return made

    def answered(self) -> list[tuple[str, Any]]:
        """The codes of the answers; of a question that cannot be asked there are none."""
        try:
            return answer_codes(self.rows, self.found[0].counterfactuals)
        except MacexError:
            return []

    @cached_property
    def variants(self) -> list[Variant]:
        """What was typed, by variant."""
        typed = [variant(self.rows, letter, self.address.cells(letter)) for letter in self._letters]
        return [caused(self.explainer, self.rows, one) for one in typed]

    @cached_property
    def _want(self) -> Any:
        """The goal; of one that cannot be read the answers tell."""
        try:
            return wanted(self.address, self.explainer.classes)
        except MacexError:
            return None

    @property
    def aimed(self) -> bool:
        """Whether anything is wanted: a model of scores has no other decision."""
        return self._want is not None or self.explainer.classes is not None

    @cached_property
    def aim(self) -> Aim:
        """The row with what is wanted of it, and what the model says of its variants."""
        want = Band() if not self.aimed else self._want
        said = all_said(self.explainer, self.rows, self.variants, want)
        return Aim(self.project.remembered.get, self.explainer, self.rows, said, self.speech)

    def plainly(self) -> dict[str, Any]:
        """The row as it is, and the rows around it."""
        line = self.project.table.line(self.at)
        return {"at": self.at, "speech": self.speech, "line": line, **self._around()}

    @property
    def _letters(self) -> tuple[str, ...]:
        """The variants: A, and B where it is wanted."""
        two = bool(self.address.one("two") or self.address.cells("b"))
        return VARIANTS if two else VARIANTS[:1]

    def _around(self) -> dict[str, Any]:
        """The rows before and after this one in the list it was picked from."""
        listing = self.address.only(*LISTING)
        try:
            places = self.project.table.places(view_of(listing))
        except MacexError:
            places = np.arange(0)
        here = np.flatnonzero(places == self.at)
        if not len(here):
            return {"before": None, "after": None, "place": None, "matching": len(places)}
        place = int(here[0])
        return {
            "before": int(places[place - 1]) if place else None,
            "after": int(places[place + 1]) if place + 1 < len(places) else None,
            "place": place + 1,
            "matching": len(places),
        }

    def _editing(self) -> dict[str, Any]:
        schema, always = self.rows.schema, self.explainer.constraints
        return {
            **editing(self.address, schema, always, fields(self.rows, self.speech)),
            "typed": {letter: self.address.cells(letter) for letter in self._letters},
            "letters": self._letters,
            "carried": self.address.parts(*LISTING, "curve", "compare"),
        }

    def _verdicts(self) -> dict[str, Any]:
        try:
            said = judgements(self.explainer, self.aim.said, self.speech)
        except ModelError as error:
            return {"failed": str(error)}
        shown = {"variants": self.variants, "own": said[0], "judgements": said[1:]}
        return {"failed": "", "aimed": self.aimed, "causes": self._causes(), **shown}

    def _causes(self) -> Markup | None:
        """The graph of causes, with what the first variant does and what follows from it."""
        causes, first = self.explainer.causes, self.variants[0]
        if causes is None:
            return None
        follows = [change.column for change in first.follows]
        return Markup(drawn(causes.edges, first.texts, follows, self.speech.name))  # noqa: S704

    def _answers(self) -> dict[str, Any]:
        try:
            explanation = self.found[0]
        except MacexError as error:
            return {"refused": str(error), "card": None, "applied": (), "paths": ()}
        shown = explanation.counterfactuals or (
            () if explanation.miss is None else (explanation.miss,)
        )
        applied = [
            {name: text_of(value) for name, value in one.source.written().items()} for one in shown
        ]
        return {
            "refused": "",
            "card": card(explanation, self.speech, on_page=True),
            "applied": applied,
            "paths": [steps(self.explainer, explanation, one, self.speech) for one in shown],
            "asking": self.address.only(*ASKING, *LIMITING),
        }
