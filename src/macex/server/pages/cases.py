"""The pages of time series: the cases of a project, and one case with what would change it."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from macex.errors import MacexError, OptionError, closest
from macex.render.cards import card
from macex.render.speech import Speech
from macex.render.stretches import Panel, panel
from macex.schema import Array
from macex.series.explainer import SeriesExplainer
from macex.series.values import SeriesExplanations
from macex.server.api.cases import series_of
from macex.server.api.needs import Asker
from macex.server.logs import gist, note
from macex.server.pages.address import LISTING, Address
from macex.server.pages.constraints import WAYS, channel_constraints, channel_limits
from macex.server.pages.questions import asked_of, gone_of, question, turn
from macex.server.pages.shell import (
    PageRoute,
    address_of,
    attached,
    page,
    page_number,
    parts_asked,
    pieces,
)
from macex.server.projects.series import SeriesProject
from macex.server.questions import Ask, CallOptions, bounded_rows
from macex.server.questions import explained as answers_of
from macex.server.security.gate import caller_of
from macex.server.state import server_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
SIZE = 25


def cases_page(request: Request, project: SeriesProject) -> HTMLResponse:
    """The cases of a project with the model's decisions."""
    address = address_of(request)
    explainer, (decision, scores) = project.case_explainer(), project.said()
    try:
        places, fault = _places(project, address), ""
    except MacexError as error:
        places, fault = np.zeros(0, int), str(error)
    number = page_number(address)
    classes = None if explainer.classes is None else [str(label) for label in explainer.classes]
    shown = places[SIZE * (number - 1) : SIZE * number].tolist()
    values = {
        "lines": [
            (at, "" if classes is None else classes[int(decision[at])], float(scores[at, -1]))
            for at in shown
        ],
        "fault": fault,
        "matching": len(places),
        "total": len(decision),
        "number": number,
        "last": max(1, ceil(len(places) / SIZE)),
        "classes": classes,
        "channels": explainer.channels,
        "length": project.series.cases.shape[2],
        "speech": Speech(of_series=True),
        "listing": address,
        "sort": address.one("sort", "cf.row"),
    }
    if parts_asked(request, ("rows",)):
        return pieces(request, ["case_rows"], values, project=project)
    return page(request, "cases", values, project=project)


@router.get("/projects/{name}/cases/{at}")
def case_page(request: Request, name: str, at: int, _caller: Asker) -> HTMLResponse:
    """One case."""
    project, address = series_of(server_of(request).projects[name]), address_of(request)
    cases, explainer = project.series.cases, project.case_explainer()
    speech = Speech(explainer.fitted.called, of_series=True)
    values: dict[str, Any] = {"at": project.checked(at), "speech": speech}
    values |= {"total": len(cases), "channels": explainer.channels, "refused": ""}
    values |= {"limits": channel_limits(address, explainer), "ways": WAYS}
    values |= {"carried": address.parts(*LISTING), "ends": _ends(explainer)}
    values |= asked_of(address, explainer)
    values["panels"] = _panels(explainer, cases[at], speech)
    try:
        values["card"] = card(explained(project, at, request)[0], speech, on_page=True)
    except MacexError as error:
        values["refused"] = str(error)
    if parts_asked(request, ("answers",)):
        return pieces(request, ["case_answers"], values, project=project)
    return page(request, "case", values, project=project)


@router.get("/projects/{name}/cases/{at}/answers.json")
def case_file(request: Request, name: str, at: int, _caller: Asker) -> Response:
    """The answers as JSON."""
    project = series_of(server_of(request).projects[name])
    found = explained(project, project.checked(at), request)
    file = attached(f"{project.name}-case-{at}.json")
    return Response(found.to_json(), headers=file, media_type="application/json")


def explained(project: SeriesProject, at: int, request: Request) -> SeriesExplanations:
    """What would change the model's answer for a case."""
    address = address_of(request)
    asked = question(address, project.case_explainer().classes)
    limits = channel_constraints(address, project.case_explainer())
    settings, caller = server_of(request).settings, caller_of(request)
    options = CallOptions(
        n=asked.n,
        method=asked.method,
        prefer=asked.prefer,
        max_rows=bounded_rows(None, settings.model_rows),
        timeout_s=settings.explain_seconds,
        diagnose=bool(limits.keys() - {"max_changes"}),
    )
    by = {} if caller is None else caller.signature
    note({"question": gist(vars(asked), asked.want, limits), "rows": 1})
    case = project.series.cases[at : at + 1]
    ask = Ask(options, case, asked.want, limits, by)
    with turn(project, gone_of(request)):
        return answers_of(project, ask)


def _ends(explainer: SeriesExplainer) -> tuple[str, str]:
    """The first and the last time point, as they are filled in."""
    labels = explainer.fitted.times.labels
    return (labels[0], labels[-1]) if labels else ("0", str(explainer.fitted.train.longest - 1))


def _panels(explainer: SeriesExplainer, case: Array, speech: Speech) -> list[Panel]:
    """The channels of a case as they are."""
    times = explainer.fitted.times
    lines = zip(explainer.channels, case, strict=True)
    return [panel(name, values, None, (), speech, None, times) for name, values in lines]


def _places(project: SeriesProject, address: Address) -> Array:
    """The cases of an address, in its order."""
    decision, scores = project.said()
    keys = {"cf.row": np.arange(len(decision)), "cf.label": decision, "cf.score": scores[:, -1]}
    sort = address.one("sort", "cf.row")
    key = keys.get(sort.removeprefix("-"))
    if key is None:
        raise OptionError(f"cases are not sorted by {sort!r}{closest(sort, keys)}")
    order = np.argsort(-key if sort.startswith("-") else key, kind="stable")
    return order[np.isin(order, project.places(address.one("decision") or None))]
