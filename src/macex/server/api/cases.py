"""Cases of time series: looked at, scored and explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from macex.ask.question import Question
from macex.errors import DataError, SchemaError
from macex.explanation.json import plain
from macex.schema import Array
from macex.server.api.needs import Chosen, Reader, Size, Start
from macex.server.api.responses import (
    CaseLine,
    CasePage,
    CaseWhole,
    Prediction,
    PredictionList,
    SeriesInfo,
    written,
)
from macex.server.api.shapes import ANSWER_SCORES, ExplainRequest
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.questions import (
    Ask,
    CallOptions,
    check_reach,
    explained,
    goals_of,
    read_cases_of,
)
from macex.server.security.gate import Caller

NUMBERS = 200_000  # of a case
router = APIRouter(route_class=BodyRoute, tags=["series"], responses=documented())


@router.get("/projects/{name}/cases")
def cases(
    project: Chosen,
    _caller: Reader,
    decision: Annotated[str | None, Query(max_length=200)] = None,
    start: Start = 0,
    size: Size = 50,
) -> CasePage:
    """The cases of a project of time series, with the model's decision and score."""
    series = series_of(project)
    places = series.places(decision)
    lines = [_line(series, int(place)) for place in places[start : start + size]]
    return CasePage(cases=lines, start=start, total=len(places))


@router.get("/projects/{name}/cases/{place}", response_model=CaseWhole)
def case(project: Chosen, _caller: Reader, place: Annotated[int, Path(ge=0, le=2**31)]) -> Response:
    """One case, with its numbers."""
    series = series_of(project)
    try:
        values = series.series.cases[series.checked(place)]
    except SchemaError as error:
        raise ProblemError(404, str(error)) from None
    if values.size > NUMBERS:
        raise ProblemError(413, f"a case of more than {NUMBERS:,} numbers is not sent as JSON")
    numbers = np.where(np.isfinite(values), values, np.nan).astype(object)
    numbers[np.isnan(values)] = None
    whole = CaseWhole(**_line(series, place).model_dump(), values=numbers.tolist())
    return written(whole)


def series_of(project: Project) -> SeriesProject:
    """A project of time series; any other has no cases."""
    if not isinstance(project, SeriesProject):
        raise DataError(f"project {project.name!r} has rows and no cases")
    return project


def refuse_other(project: Project, asked: Any, *, needed: bool = False) -> None:
    """Raise for rows that a project of time series is sent, and for cases that a table is sent."""
    own, other = ("cases", "rows") if project.series_only else ("rows", "cases")
    if getattr(asked, other) is not None or (needed and getattr(asked, own) is None):
        kind = "time series" if project.series_only else "a table"
        raise ProblemError(422, f"a project of {kind} takes {own}, not {other}")


def series_info(project: SeriesProject) -> SeriesInfo:
    """What clients need to know of a project of time series."""
    explainer, parts = project.case_explainer(), project.series
    classes, (decided, _) = explainer.classes, project.said()
    counted = np.bincount(np.maximum(decided, 0), minlength=len(classes or ()))
    return SeriesInfo(
        name=project.name,
        title=project.title,
        opened=True,
        channels=explainer.channels,
        length=parts.training.shape[2],
        classes=None if classes is None else [plain(label) for label in classes],
        cases=len(parts.cases),
        training_cases=len(parts.training),
        decisions={str(label): int(counted[at]) for at, label in enumerate(classes or ())},
        constraints=plain(dict(parts.constraints)),
    )


def require_few_scores(count: int, width: int) -> None:
    """Raise where the scores of so many rows, or cases, are more than one answer holds."""
    if count * width > ANSWER_SCORES:
        raise ProblemError(
            413,
            f"an answer holds {ANSWER_SCORES:,} scores: send at most {ANSWER_SCORES // width:,} at "
            f"a time to a model of {width:,}",
            code="too_many_values",
        )


def scored(project: SeriesProject, given: Any) -> PredictionList:
    """What the model says of cases that came with a request."""
    require_few_scores(len(given), project.case_explainer().fitted.outlook.width)
    decision, scores = project.predicted(read_cases_of(given))
    return PredictionList(
        predictions=[_prediction(project, decision[at], scores[at]) for at in range(len(decision))]
    )


def answered_cases(
    project: SeriesProject,
    asked: ExplainRequest,
    options: CallOptions,
    caller: Caller,
    also: Sequence[Any],
) -> str:
    """The answers to a question about cases, as JSON."""
    if (asked.cases is None) == (asked.places is None):
        raise ProblemError(422, "give cases, or places of cases of the project, and not both")
    places = [project.checked(place) for place in asked.places or ()]
    found = project.series.cases[places] if asked.cases is None else read_cases_of(asked.cases)
    ask = Ask(options, found, asked.wanted(), asked.constraints, caller.signature, also)
    check(project, ask)
    with project.turn():
        return explained(project, ask).to_json()


def check(project: SeriesProject, ask: Ask) -> None:
    """Raise for a question that no case can be asked with."""
    for part, given in (("want", ask.want), ("constraints", ask.constraints)):
        if isinstance(given, list) and len(given) != len(ask.rows):
            count = len(ask.rows)
            raise ProblemError(422, f"{part} has {len(given)} entries for {count} cases")
    check_reach(project, ask.options)
    if ask.options.structure is not None:
        raise ProblemError(422, "structure: time series have no columns between which it would be")
    explainer = project.case_explainer(ask.options.method, ask.options.prefer)
    goals_of(project, ask.want)
    each = ask.constraints if isinstance(ask.constraints, list) else [ask.constraints]
    for constraints in {repr(one): one for one in each}.values():
        explainer.engine.batch(ask.rows[:0], Question(constraints=constraints))


def _line(project: SeriesProject, place: int) -> CaseLine:
    decision, scores = project.said()
    said = _prediction(project, decision[place], scores[place])
    return CaseLine(place=place, label=said.label, score=said.score)


def _prediction(project: SeriesProject, decision: Any, scores: Array) -> Prediction:
    fitted = project.case_explainer().fitted
    names = project.case_explainer().classes or tuple(range(len(scores)))
    label, numbers = plain(fitted.label(int(decision))), scores.tolist()
    return Prediction(
        label=label,
        score=numbers[-1],
        scores=dict(zip(map(str, names), numbers, strict=True)),
    )
