"""The four stages joined: one batch of queries from codes to checked answers.

1 candidates   nearest training rows that meet the goal -> which columns, which values
2 search       which of them to combine -> a pool of valid examples
4 finetune     numbers moved back toward the query as far as they go
3 selection    near, plausible and diverse ones
  check        scored again by the caller's model; only what holds is kept
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.compiling import build_space
from macex.ask.goals import Goal, Goals, Verdict, compile_goals
from macex.explainer.checking import Checked, check
from macex.explainer.measuring import measure_of
from macex.explainer.options import most_rows
from macex.explainer.refining import looked_at, refine
from macex.explainer.searching import search
from macex.explainer.sturdy import Sturdiness
from macex.models.asking import Asker
from macex.models.judge import Judge
from macex.models.remembered import Remembered
from macex.schema import Array
from macex.stages.candidates import remaining
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.shapes import Found, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.ask.answers import Answers
    from macex.ask.constraints import Constraints
    from macex.ask.space import Space
    from macex.explainer.fitted import Fitted
    from macex.schema import Rows

REMEMBERED_FROM = 32  # queries: fewer ask about few rows twice


@dataclass(frozen=True)
class Asked:
    """A batch as it was asked."""

    rows: Rows
    goals: Sequence[Goal]
    constraints: Sequence[Constraints]
    count: int
    margin: float
    max_rows: int | None
    deadline: float | None
    keep: bool
    places: Array | None = None  # where the rows stand in the caller's call
    sturdy: Sturdiness = field(default_factory=Sturdiness)
    spent: Array | int = 0  # (Q,) rows that the queries have cost before
    remembered: Remembered | None = None  # what the model has said in the same call

    @property
    def set_aside(self) -> int:
        """Rows of each query kept for checking its answers, and for a miss if none is sturdy."""
        return self.count * (1 + self.sturdy.rows) + bool(self.sturdy)


@dataclass(frozen=True)
class Outcome:
    """A batch as it was answered, as arrays; `assemble` makes explanations of it."""

    asked: Asked
    task: Task
    judge: Judge
    goals: Goals
    own: Answers
    verdict: Verdict  # on the queries themselves
    there: Array  # (Q,) bool: the goal is reached without a change
    found: Found
    method: Array  # (Q,) str: the search that answered
    checked: Checked  # the answers, by query, best first


@dataclass(frozen=True)
class Opened:
    """A batch whose queries have been scored: what every search starts from."""

    task: Task
    judge: Judge
    goals: Goals
    own: Answers
    verdict: Verdict  # on the queries themselves
    there: Array  # (Q,) bool: the goal is reached without a change


def remembering(fitted: Fitted, asked: Asked) -> Asked:
    """The same, with room for what the model says: its blocks ask about no row twice."""
    if len(asked.rows) < REMEMBERED_FROM:
        return asked
    return replace(asked, remembered=Remembered.of(len(asked.rows), fitted.outlook.width))


def answer(fitted: Fitted, asked: Asked) -> Outcome:
    """From rows to checked answers."""
    opened = open_batch(fitted, asked)
    task, judge, goals = opened.task, opened.judge, opened.goals
    found, method = search(fitted, task, goals)
    ranked = refine(fitted, task, goals, found)
    checked = check(fitted.options.selection, task, judge, ranked, asked.sturdy)
    checked = looked_at(fitted, task, goals, checked)
    return Outcome(
        asked, task, judge, goals, opened.own, opened.verdict, opened.there, found, method, checked
    )


def open_batch(fitted: Fitted, asked: Asked) -> Opened:
    """Score the queries themselves and lay out what may change in each."""
    asker = Asker(
        fitted.oracle if asked.margin else fitted.oracle.by_predict,  # an even score is decided too
        fitted.ground.schema,
        asked.rows,
        deadline=asked.deadline,
        keep=asked.keep,
        places=asked.places,
        remembered=asked.remembered if len(asked.rows) >= REMEMBERED_FROM else None,
    )
    space = build_space(fitted.ground, asked.rows, asked.constraints)
    own, verdict, goals = _own(asked, asker)
    judge = Judge(asker, goals, space, _limits(asked, fitted), asked.max_rows is not None)
    judge.count(np.arange(len(space)))
    there = verdict.reached & space.holds(space.own, np.arange(len(space)))
    task = _task(fitted, asked, space.closed(there | np.isneginf(verdict.progress)), judge, verdict)
    return Opened(task, judge, goals, own, verdict, there)


def _own(asked: Asked, asker: Asker) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the queries themselves, and what they mean for the goals."""
    at = np.arange(len(asked.rows))
    own, done = asker.trusted(asked.rows.codes, at)
    goals = compile_goals(asked.goals, own, asker.oracle.outlook, asked.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(asked: Asked, fitted: Fitted) -> Array:
    """How many rows each query may cost, all but those of the final check."""
    most = most_rows(fitted.options.method)
    most += 0 if fitted.grid is None else fitted.grid.rows
    if asked.max_rows is None:
        return np.full(len(asked.rows), most)
    left = asked.max_rows - asked.set_aside - asked.spent
    return np.maximum(1, np.broadcast_to(left, len(asked.rows)))


def _task(fitted: Fitted, asked: Asked, space: Space, judge: Judge, verdict: Verdict) -> Task:
    names = [unit.name for unit in space.units]
    keys = row_keys(fitted.options.random_state, fitted.ground.schema.names, space.own)
    return Task(
        space=space,
        judge=judge,
        measure=measure_of(fitted, space),
        draws=Draws(keys, column_keys(names)),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=asked.count,
        prefer=fitted.options.prefer,
        rest=partial(remaining, space),
        grid=fitted.grid,
        additive=not callable(fitted.options.distance),
    )
