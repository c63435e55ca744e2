"""The four stages joined: one batch of queries from codes to checked answers.

1 candidates   nearest training rows that meet the goal -> which columns, which values
2 search       which of them to combine -> a pool of valid examples
4 finetune     numbers moved back toward the query as far as they go
3 selection    near, plausible and diverse ones
  check        scored again by the caller's model; only what holds is kept
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.compiling import build_space
from macex.ask.goals import Goals, Verdict, compile_goals
from macex.engine.batch import Batch
from macex.engine.checking import Checked, check
from macex.engine.measuring import measure_of
from macex.engine.refining import looked_at, refine
from macex.engine.searching import search
from macex.models.asking import Asker
from macex.models.judge import Judge
from macex.models.remembered import Remembered
from macex.schema import Array
from macex.stages.candidates import remaining
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.shapes import Found, Task

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.ask.space import Space
    from macex.engine.fitted import Fitted

REMEMBERED_FROM = 32  # queries: fewer ask about few rows twice


@dataclass(frozen=True)
class Outcome:
    """A batch as it was answered, as arrays; `assemble` makes explanations of it."""

    batch: Batch
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


def remembering(fitted: Fitted, batch: Batch) -> Batch:
    """The same, with room for what the model says: its blocks ask about no row twice."""
    if len(batch.rows) < REMEMBERED_FROM:
        return batch
    return replace(batch, remembered=Remembered.of(len(batch.rows), fitted.outlook.width))


def answer(fitted: Fitted, batch: Batch) -> Outcome:
    """From rows to checked answers."""
    opened = open_batch(fitted, batch)
    task, judge, goals = opened.task, opened.judge, opened.goals
    found, method = search(fitted, task, goals)
    ranked = refine(fitted, task, goals, found)
    checked = check(fitted.options.selection, task, judge, ranked, batch.sturdy)
    checked = looked_at(fitted, task, goals, checked)
    return Outcome(
        batch, task, judge, goals, opened.own, opened.verdict, opened.there, found, method, checked
    )


def open_batch(fitted: Fitted, batch: Batch) -> Opened:
    """Score the queries themselves and lay out what may change in each."""
    asker = Asker(
        fitted.oracle if batch.margin else fitted.oracle.by_predict,  # an even score is decided too
        fitted.ground.schema,
        batch.rows,
        deadline=batch.deadline,
        keep=batch.keep,
        places=batch.places,
        remembered=batch.remembered if len(batch.rows) >= REMEMBERED_FROM else None,
    )
    space = build_space(fitted.ground, batch.rows, batch.constraints)
    own, verdict, goals = _own(batch, asker)
    judge = Judge(asker, goals, space, _limits(batch, fitted), batch.max_rows is not None)
    judge.count(np.arange(len(space)))
    there = verdict.reached & space.holds(space.own, np.arange(len(space)))
    task = _task(fitted, batch, space.closed(there | np.isneginf(verdict.progress)), judge, verdict)
    return Opened(task, judge, goals, own, verdict, there)


def _own(batch: Batch, asker: Asker) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the queries themselves, and what they mean for the goals."""
    at = np.arange(len(batch.rows))
    own, done = asker.trusted(batch.rows.codes, at)
    goals = compile_goals(batch.goals, own, asker.oracle.outlook, batch.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(batch: Batch, fitted: Fitted) -> Array:
    """How many rows each query may cost, all but those of the final check."""
    most = fitted.options.method.max_rows
    most += 0 if fitted.grid is None else fitted.grid.rows
    if batch.max_rows is None:
        return np.full(len(batch.rows), most)
    left = batch.max_rows - batch.set_aside - batch.spent
    return np.maximum(1, np.broadcast_to(left, len(batch.rows)))


def _task(fitted: Fitted, batch: Batch, space: Space, judge: Judge, verdict: Verdict) -> Task:
    names = [unit.name for unit in space.units]
    keys = row_keys(fitted.options.random_state, fitted.ground.schema.names, space.own)
    return Task(
        space=space,
        judge=judge,
        measure=measure_of(fitted, space),
        draws=Draws(keys, column_keys(names)),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=batch.count,
        prefer=fitted.options.prefer,
        rest=partial(remaining, space),
        grid=fitted.grid,
        additive=not callable(fitted.options.distance),
    )
