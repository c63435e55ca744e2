"""Questions as they come with requests, about rows or cases, put to the explainer of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.answers import Answers, compile_goals
from macex.ask.constraints import Constraints
from macex.ask.goals import AnyOf, above_row, goal_read, goal_typed, resolve
from macex.engine.options import PREFERENCES
from macex.engine.robustness import draws_of
from macex.errors import ConstraintError, GoalError, OptionError, SchemaError, closest
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.scale.text import as_trained
from macex.schema import Array
from macex.series.values import SeriesExplanations
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.storage.audit import asked_by
from macex.stages.search.protocol import DEFAULT_SEARCH

BIGGEST = 2**63
Cells = Mapping[str, Any]
CHOSEN = ("method", "prefer", "structure", "also")
OWN_ROWS = 100_000  # more than a search, and finding out why it failed, take of their own accord


@dataclass(frozen=True)
class CallOptions:
    """What requests must have in common to be answered in one call."""

    n: int = 1
    method: str = DEFAULT_SEARCH
    prefer: str = PREFERENCES[0]
    max_rows: int | None = None
    timeout_s: float | None = None
    margin: float = 1e-6
    diagnose: bool = False
    robust: float | None = None
    reach: float | None = None
    also: tuple[str, ...] = ()
    structure: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "also", tuple(self.also))  # a list, where it comes from JSON

    def explainer(self, project: Project) -> Explainer:
        """The explainer of a project that is asked."""
        return project.explainer(self.method, self.prefer, self.structure)

    @property
    def call(self) -> dict[str, Any]:
        """The arguments of `Explainer.explain`."""
        call = {part: value for part, value in vars(self).items() if part not in CHOSEN}
        if self.reach is None:
            del call["reach"]  # of which time series know nothing
        return {**call, "on_error": "keep"}


def bounded_rows(asked: int | None, most: int) -> int | None:
    """How many rows the model may score for a query; None where the search takes less by itself.

    >>> bounded_rows(None, 1000), bounded_rows(5000, 1000), bounded_rows(None, 100_000)
    (1000, 1000, None)
    """
    if asked is None:
        return most if most < OWN_ROWS else None
    return min(asked, most)


@dataclass(frozen=True)
class Ask:
    """Rows, or cases, with goals and constraints, and who asked; those of rows are one for each."""

    options: CallOptions
    rows: Any  # by their cells, or an array of cases
    want: Any = None
    constraints: Any = None
    by: Mapping[str, Any] = field(default_factory=dict)
    also: Sequence[Any] = ()  # the models that `options.also` names

    def __len__(self) -> int:
        return len(self.rows)


def read_ask(
    project: Project,
    options: CallOptions,
    rows: Sequence[Cells],
    want: Any,
    constraints: Any,
    by: Mapping[str, str],
    also: Sequence[Any] = (),
) -> Ask:
    """A request's question, checked as far as it can be without the model."""
    explainer = options.explainer(project)
    for place, row in enumerate(rows):
        _refuse_columns(place, row, explainer.columns)
    goals = [goal_of(explainer, one) for one in per_row("want", want, len(rows))]
    limits = [constraints_of(one) for one in per_row("constraints", constraints, len(rows))]
    check_reach(project, options)
    return Ask(options, rows, goals, _same_objects(limits), by, also)


def check_reach(project: Project, options: CallOptions) -> None:
    """Raise for a reach that nothing can be asked with: it needs causes."""
    if options.reach is None:
        return
    if project.series_only:
        raise OptionError("reach: time series have no causes; leave it out")
    draws_of(project.explainer(options.method, options.prefer).engine.fitted.causal)


def answered(project: Project, asks: Sequence[Ask]) -> list[Explanations]:
    """The answers to questions with the same options, by one call."""
    options = asks[0].options
    explainer = options.explainer(project)
    frame = frame_of(explainer, [row for ask in asks for row in ask.rows])
    frame = frame.set_axis([place for ask in asks for place in range(len(ask))], axis=0)
    who = [ask.by for ask in asks for _ in range(len(ask))]
    with asked_by(who), project.turn():
        found = explainer.explain(
            frame,
            want=[want for ask in asks for want in ask.want],
            constraints=_same_objects([one for ask in asks for one in ask.constraints]),
            also=asks[0].also,
            **options.call,
        )
    ends = np.cumsum([len(ask) for ask in asks]).tolist()
    return [found[end - len(ask) : end] for ask, end in zip(asks, ends, strict=True)]


def models_of(project: Project, others: Sequence[Project]) -> list[Any]:
    """The models of further projects, each of which decides between the same classes."""
    for other in others:
        if other.series_only != project.series_only:
            raise OptionError(f"also: one of {project.name!r} and {other.name!r} has time series")
        if other.classes != project.classes:
            raise OptionError(
                f"also: project {other.name!r} decides between {other.classes}, "
                f"project {project.name!r} between {project.classes}"
            )
    return [other.model for other in others]


def frame_of(explainer: Explainer, rows: Sequence[Cells]) -> pd.DataFrame:
    """Rows as a frame of exactly the values that were sent."""
    columns = explainer.schema.frame_columns
    for place, row in enumerate(rows):
        _refuse_columns(place, row, explainer.columns)
    frame = pd.DataFrame(
        {
            column.name: pd.Series([_cell(row[column.name]) for row in rows], dtype=object)
            for column in columns
        },
        columns=[column.name for column in columns],
    )
    for column in columns:
        if column.kind == "datetime":
            frame[column.name] = as_trained(frame[column.name], column, lambda at: f"row {at}")
    return frame


def goal_of(explainer: Explainer, want: Any) -> Any:
    """A goal from JSON: nothing, a label, a goal as text, or a goal by its parts."""
    if isinstance(want, Mapping) and want["kind"] == "above_row":
        _refuse_columns(0, want["row"], explainer.columns)
        return above_row(frame_of(explainer, [want["row"]]), label=want.get("label"))
    return plain_goal(want, explainer.classes)


def plain_goal(want: Any, classes: Sequence[object] | None) -> Any:
    """A goal from JSON that speaks of no row."""
    if isinstance(want, str):
        return goal_typed(want, classes)
    if not isinstance(want, Mapping):
        return want
    goal = goal_read(want)
    if isinstance(goal, AnyOf) and goal.labels == ():
        raise GoalError("any_of needs at least one label, or null for any other one")
    low, high = want.get("low"), want.get("high")
    if want["kind"] == "band" and (low is None) == (high is None) and (low is None or low > high):
        raise GoalError("a band needs a low or a high bound, and low is not above high")
    return goal


def constraints_of(given: Any) -> Constraints | None:
    """Constraints from JSON."""
    if given is None or isinstance(given, Constraints):
        return given
    if not isinstance(given, Mapping):
        raise ConstraintError(
            f"constraints are an object such as {{'fixed': ['age']}}, not {given!r}"
        )
    return Constraints.from_dict(given)


def per_row(part: str, given: Any, count: int) -> list[Any]:
    """One entry for each row, from one for all of them or a list of one each."""
    if not isinstance(given, list):
        return [given] * count
    if len(given) != count:
        raise OptionError(
            f"{part} has {len(given)} entries for {count} rows: give one, or one each"
        )
    return given


def _same_objects(constraints: Sequence[Constraints | None]) -> list[Constraints | None]:
    """Equal constraints as one object, since they are merged and checked by object."""
    known: dict[str, Constraints | None] = {}
    return [known.setdefault(repr(one), one) for one in constraints]


def _refuse_columns(place: int, row: Cells, columns: Sequence[str]) -> None:
    if row.keys() == set(columns):
        return
    for column in columns:
        if column not in row:
            raise SchemaError(f"row {place} has no column {column!r}{closest(column, row)}")
    extra = next(column for column in row if column not in columns)
    raise SchemaError(f"row {place} has an extra column {extra!r}{closest(extra, columns)}")


def _cell(value: Any) -> Any:
    if isinstance(value, int) and not -BIGGEST <= value < BIGGEST:
        raise SchemaError(f"{str(value)[:20]}… is too large a number")
    return value


def read_cases_of(given: Sequence[Any]) -> Array:
    """Cases that came with a request, (cases, channels, time)."""
    try:
        cases = np.array(given, dtype=float)
    except (ValueError, OverflowError):
        raise SchemaError("cases are lists of channels, each a list of as many numbers") from None
    if cases.ndim != 3 or not cases.size:
        raise SchemaError(f"cases are (cases, channels, time), not {cases.shape}")
    return cases


def goals_of(project: SeriesProject, want: Any) -> Any:
    """Goals from JSON: one for all cases, or a list of one each, checked against the model."""
    if isinstance(want, list):
        return [goals_of(project, one) for one in want]
    if isinstance(want, Mapping) and want.get("kind") == "above_row":
        raise GoalError("above_row is for rows: ask for a score, such as above(0.7)")
    explainer = project.case_explainer()
    goal, outlook = plain_goal(want, explainer.classes), explainer.fitted.outlook
    own = Answers(np.zeros((1, max(1, outlook.width))), np.zeros(1, int))
    compile_goals(resolve(goal, 1), own, outlook, 0.0)
    return goal


def explained(project: SeriesProject, ask: Ask) -> SeriesExplanations:
    """The answers for cases; the caller holds the project's turn."""
    explainer = project.case_explainer(ask.options.method, ask.options.prefer)
    with asked_by([ask.by] * len(ask.rows)):
        return explainer.explain(
            ask.rows,
            want=goals_of(project, ask.want),
            constraints=ask.constraints,
            also=ask.also,
            **ask.options.call,
        )
