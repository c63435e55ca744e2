"""What the model says, what would have to be different, and what if."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.responses import Response

from macex.ask.constraints import Constraints
from macex.engine.predictions import Predictions, predicted, tried
from macex.explanation.json import BATCH_FORMAT, plain
from macex.explanation.steps import OrderedStep
from macex.server.api.cases import answered_cases, refuse_other, require_few_scores, scored
from macex.server.api.jobs import begun, check_question, others
from macex.server.api.needs import Asker, Chosen, Running
from macex.server.api.responses import (
    ChangeInfo,
    ConstraintParts,
    JobInfo,
    Prediction,
    PredictionList,
    StepInfo,
    StepList,
    VariantPrediction,
    WhatIfPredictions,
    written,
)
from macex.server.api.shapes import (
    ConstraintsRequest,
    ExplainRequest,
    JobRequest,
    PredictRequest,
    StepsRequest,
    WhatIfRequest,
)
from macex.server.bodies import BodyRoute
from macex.server.problems import ProblemError, documented
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.questions import Ask, answered, frame_of, models_of, read_ask
from macex.server.security.gate import Caller
from macex.server.state import Server

router = APIRouter(route_class=BodyRoute, tags=["explain"], responses=documented())
ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answers, in the form `macex.explanations/1`.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["format", "explanations"],
                    "properties": {
                        "format": {"const": BATCH_FORMAT},
                        "explanations": {"type": "array", "items": {"type": "object"}},
                    },
                }
            }
        },
    },
    202: {"description": "There are many rows: a job was made.", "model": JobInfo},
}


@router.post("/projects/{name}/predict", response_model=PredictionList)
async def predict(
    asked: PredictRequest, project: Chosen, server: Running, _caller: Asker
) -> Response:
    """The model's decisions and scores."""
    return await server.turns.run(project, partial(_predicted, asked, project, server))


def _predicted(asked: PredictRequest, project: Project, server: Server) -> Response:
    if len(asked.rows or asked.cases or ()) > server.settings.job_rows:
        raise ProblemError(413, f"a request may have {server.settings.job_rows:,} rows")
    refuse_other(project, asked, needed=True)
    if isinstance(project, SeriesProject):
        return written(scored(project, asked.cases))
    explainer, rows = project.explainer(), asked.rows or ()
    require_few_scores(len(rows), explainer.engine.fitted.outlook.width)
    said = predicted(explainer.engine, frame_of(explainer, rows))
    return written(PredictionList(predictions=[prediction(said, row) for row in range(len(said))]))


@router.post("/projects/{name}/explain", responses=ANSWER, response_model=None)
async def explain(
    asked: ExplainRequest, project: Chosen, server: Running, caller: Asker
) -> Response:
    """The least that would have to be different, for each row.

    A few rows are answered at once. For more than `limits.sync_rows` a job is made instead: the
    answer is then 202 and says where to look for it. A project of time series is asked about cases
    and answers in the form `macex.series_explanations/1`.
    """
    count = len(asked.places or asked.rows or asked.cases or ())
    if count > server.settings.sync_rows:
        many = JobRequest(**asked.model_dump())
        return await server.turns.run(project, partial(begun, server, project, caller, many))
    check_question(asked, server.settings)
    if isinstance(project, SeriesProject):
        text = await to_thread.run_sync(_cases_answered, asked, project, server, caller)
    else:
        ask = await server.turns.run(project, partial(_ask, asked, project, server, caller))
        text = await server.sharing.explain(project, ask)
    return Response(text, media_type="application/json")


@router.post("/projects/{name}/whatif", response_model=WhatIfPredictions)
async def whatif(
    asked: WhatIfRequest, project: Chosen, server: Running, _caller: Asker
) -> Response:
    """What the model says of a row, and of the row with other values in some columns."""
    return await server.turns.run(project, partial(_tried, asked, project))


def _tried(asked: WhatIfRequest, project: Project) -> Response:
    explainer = project.explainer()
    rows = explainer.schema.read(_one_row(asked, project))
    said, changes, follows = tried(explainer.engine, rows, asked.variants)
    variants = [
        VariantPrediction(
            **prediction(said, at).model_dump(), changes=_infos(done), consequences=_infos(then)
        )
        for at, (done, then) in enumerate(zip(changes, follows, strict=True), 1)
    ]
    return written(WhatIfPredictions(query=prediction(said, 0), variants=variants))


@router.post("/projects/{name}/steps", response_model=StepList)
async def steps(asked: StepsRequest, project: Chosen, server: Running, caller: Asker) -> Response:
    """Order the changes of an answer into steps, with what follows from each and what it costs."""
    return await server.turns.run(project, partial(_stepped, asked, project, server, caller))


def _stepped(asked: StepsRequest, project: Project, server: Server, caller: Caller) -> Response:
    if project.series_only:
        raise ProblemError(422, "a project of time series has no steps")
    question = ExplainRequest(
        n=asked.rank,
        rows=None if asked.row is None else [asked.row],
        places=None if asked.place is None else [asked.place],
        constraints=asked.constraints,
        prefer=asked.prefer,
        reach=asked.reach,
    )
    check_question(question, server.settings)
    options, rows = question.options(server.settings), _rows(question, project)
    ask = read_ask(project, options, rows, asked.wanted(), asked.constraints, caller.signature)
    found = answered(project, [ask])[0][0]
    told = StepList(status=found.status, reason=found.reason, score=float(found.score))
    if len(found.counterfactuals) < asked.rank:
        return written(told)
    with project.turn():
        answer = found.counterfactuals[asked.rank - 1]
        way = options.explainer(project).steps(answer, asked.costs, dense=asked.dense)
    told.takes, told.steps = way.takes, [_step(one) for one in way.steps]
    return written(told)


def _step(step: OrderedStep) -> StepInfo:
    return StepInfo(
        moves=_infos(step.moves),
        follows=_infos(step.follows),
        score=step.score,
        label=plain(step.label),
        plausibility=step.plausibility,
        takes=dict(step.takes),
    )


def _infos(cells: Iterable[tuple[str, Any, Any]]) -> list[ChangeInfo]:
    return [
        ChangeInfo(column=column, before=plain(before), after=plain(after))
        for column, before, after in cells
    ]


@router.post("/projects/{name}/constraints")
async def constraints(
    asked: ConstraintsRequest, project: Chosen, server: Running, _caller: Asker
) -> ConstraintParts:
    """Whether constraints are right for a project, and what they say part by part."""
    return await server.turns.run(project, partial(_parted, asked, project))


def _parted(asked: ConstraintsRequest, project: Project) -> ConstraintParts:
    given = Constraints.from_dict(asked.constraints)
    merged = project.explainer().engine.merged(given)
    parts = [text for text, _ in given.parts()]
    return ConstraintParts(constraints=plain(merged.to_dict()), parts=parts)


def prediction(said: Predictions, row: int) -> Prediction:
    """What the model says of one row."""
    names = said.classes or tuple(range(said.scores.shape[1]))
    scores = said.scores[row].tolist()
    return Prediction(
        label=plain(said.label(row)),
        score=float(said.shown[row]),
        scores=dict(zip(map(str, names), scores, strict=True)),
    )


def _cases_answered(
    asked: ExplainRequest, project: SeriesProject, server: Server, caller: Caller
) -> str:
    refuse_other(project, asked)
    options = asked.options(server.settings)
    also = models_of(project, others(server, caller, options.also))
    return answered_cases(project, asked, options, caller, also)


def _ask(asked: ExplainRequest, project: Project, server: Server, caller: Caller) -> Ask:
    options, rows, by = asked.options(server.settings), _rows(asked, project), caller.signature
    also = models_of(project, others(server, caller, options.also))
    return read_ask(project, options, rows, asked.wanted(), asked.constraints, by, also)


def _rows(asked: ExplainRequest, project: Project) -> list[Mapping[str, Any]]:
    refuse_other(project, asked)
    if (asked.rows is None) == (asked.places is None):
        raise ProblemError(422, "give rows, or places of rows of the table, and not both")
    if asked.rows is not None:
        return list(asked.rows)
    table = project.table
    return [table.cells(table.checked(place)) for place in asked.places or ()]


def _one_row(asked: WhatIfRequest, project: Project) -> Any:
    if (asked.row is None) == (asked.place is None):
        raise ProblemError(422, "give a row, or the place of a row of the table, and not both")
    if asked.row is not None:
        return frame_of(project.explainer(), [asked.row])
    return project.table.rows.iloc[[project.table.checked(asked.place or 0)]]
