"""The pipeline: a batch of queries from codes to checked answers, in six steps.

offer       nearest training rows that meet the goal -> which columns, which values     stage 1
search      which of them to combine -> a pool of examples that reach the goal          stage 2
fine-tune   numbers moved back toward the query as far as they go                       stage 4
rank        few changes, near, plausible first
select      those to return: they differ in what they change                            stage 3
confirm     scored again by the caller's model; only what holds is kept
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from macex.ask.answers import SLIGHT, Goals, Verdict, compile_goals
from macex.ask.compilation import build_space
from macex.engine.batch import Batch, BatchOf, Outcome, OutcomeT
from macex.engine.confirmation import confirm, select
from macex.engine.options import Preference
from macex.engine.ranking import fine_tune, nearest_first, rank
from macex.engine.search import offer, search
from macex.errors import OptionError
from macex.models.asker import Asker
from macex.models.judge import Judge
from macex.models.memory import Remembered
from macex.schema import Array
from macex.stages.candidates import remaining
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.selection import STABLE
from macex.stages.shapes import Prefer, Task

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.ask.space import Space
    from macex.engine.fitted import Fitted

REMEMBERED_FROM = 32  # queries: fewer ask about few rows twice
SEARCHED: dict[Preference, Prefer] = {"balanced": "fewest", "plausible": "fewest"}
"""Preferences that want stable answers, and what their searches are after."""
PLAUSIBLE_AMONG = 5  # sets of changes among which a plausible answer is sought

STEPS = (offer, search, fine_tune, rank, select, confirm)
PRINTED = (offer, search, nearest_first, rank, select, fine_tune, rank, select, confirm)
"""The order in which the paper prints its algorithms: selection before fine-tuning."""


def answer(fitted: Fitted, batch: Batch) -> Outcome:
    """From rows to checked answers."""
    outcome = open_batch(fitted, batch)
    for step in PRINTED if fitted.options.selection.printed else STEPS:
        outcome = step(outcome)
    return outcome


def run(outcome: OutcomeT, steps: Sequence[Callable[[OutcomeT], OutcomeT]]) -> OutcomeT:
    """What is known of a batch after some steps more."""
    for step in steps:
        outcome = step(outcome)
    return outcome


def remembering(fitted: Fitted, batch: Batch) -> Batch:
    """The same, with room for what the model says: its blocks ask about no row twice."""
    if len(batch.rows) < REMEMBERED_FROM:
        return batch
    return replace(batch, remembered=Remembered.of(len(batch.rows), fitted.outlook.width))


def open_batch(fitted: Fitted, batch: Batch) -> Outcome:
    """Score the queries themselves and lay out what may change in each."""
    asker = Asker(
        fitted.oracle if batch.question.margin else fitted.oracle.by_predict,  # for even scores
        fitted.ground.schema,
        batch.rows,
        deadline=batch.deadline,
        keep=batch.question.keeps,
        places=batch.places,
        remembered=batch.remembered if len(batch.rows) >= REMEMBERED_FROM else None,
    )
    keeping, caused = fitted.binding, fitted.caused
    space = build_space(fitted.ground, batch.rows, batch.constraints, keeping, caused)
    own, verdict, goals = _own(batch, asker)
    judge = Judge(asker, goals, space, _limits(batch, fitted), batch.question.max_rows is not None)
    every = np.arange(len(batch))
    judge.count(every)
    there = verdict.reached & space.holds(space.own, every)
    task = _task(fitted, batch, space.closed(there | np.isneginf(verdict.progress)), judge, verdict)
    return Outcome.begin(
        fitted, batch, task, judge, goals=goals, own=own, verdict=verdict, there=there
    )


def _own(batch: Batch, asker: Asker) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the queries themselves, and what they mean for the goals."""
    at = np.arange(len(batch.rows))
    own, done = asker.trusted(batch.rows.codes, at)
    goals = compile_goals(batch.goals, own, asker.oracle.outlook, batch.question.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(batch: Batch, fitted: Fitted) -> Array:
    """How many rows each query may cost, all but those of the final check."""
    most = fitted.options.method.max_rows
    most += 0 if fitted.grid is None else fitted.grid.rows
    if batch.question.max_rows is None:
        return np.full(len(batch.rows), most)
    left = batch.question.max_rows - batch.set_aside - batch.spent
    return np.maximum(1, np.broadcast_to(left, len(batch.rows)))


def _task(fitted: Fitted, batch: Batch, space: Space, judge: Judge, verdict: Verdict) -> Task:
    names, prefer = [unit.name for unit in space.units], fitted.options.prefer
    keys = row_keys(fitted.options.random_state, fitted.ground.schema.names, space.own)
    count = batch.question.n
    return Task(
        space=space,
        judge=judge,
        measure=measure_of(fitted, space),
        draws=Draws(keys, column_keys(names)),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=max(count, PLAUSIBLE_AMONG) if prefer == "plausible" else count,
        prefer=SEARCHED.get(prefer) or cast("Prefer", prefer),
        rest=partial(remaining, space),
        grid=fitted.grid,
        band=band_of(batch, judge) if prefer in SEARCHED else None,
        plausible=prefer == "plausible",
        additive=not callable(fitted.options.distance) and not space.implied,
    )


def band_of(batch: BatchOf[Any, Any], judge: Judge) -> Array | None:
    """The progress from which on answers are stable; none where the caller says how much it is."""
    return np.where(judge.bounded, STABLE, -np.inf) if 0 < batch.question.margin <= SLIGHT else None


def measure_of(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """How far rows of codes are from the queries they are made from."""
    custom = fitted.options.distance
    weights = np.where(space.follows, 0.0, space.bounds.weights)
    columns = space.set_columns if space.caused else space.columns  # what follows costs nothing
    even = bool((weights == 1.0).all())

    def built_in(codes: Array, at: Array) -> Array:
        after = columns(codes, at)
        return fitted.scales.total(space.own.take(at, axis=0), after, 1.0 if even else weights[at])

    def given(codes: Array, at: Array) -> Array:
        schema, rows = fitted.ground.schema, space.rows
        before = schema.frame(space.own[at], rows, at)
        after = schema.frame(columns(codes, at), rows, at)
        try:
            steps: Array = np.asarray(custom(before, after)).astype(float)  # type: ignore[operator]
        except Exception as fault:
            raise OptionError(f"the distance function raised {fault!r}") from fault
        return _read_distance(steps, weights[at])

    if callable(custom):
        return given
    return _of_units(fitted, space) if space.identity and even else built_in


def _of_units(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """The distance where every unit is a column: rows are compared as they are."""
    scales = fitted.scales.in_order(tuple(unit.members[0] for unit in space.units))
    return lambda codes, at: scales.total(space.queries.take(at, axis=0), codes)


def _read_distance(steps: Array, weights: Array) -> Array:
    if not np.isfinite(steps).all():
        raise OptionError("the distance function returned a number that is not finite")
    if steps.shape == weights.shape:
        total: Array = (steps * weights).sum(axis=1)
        return total
    if steps.shape == weights.shape[:1] and (weights == weights[:, :1]).all():
        return steps
    raise OptionError(
        f"the distance function returned shape {steps.shape} for {len(weights)} rows: "
        "(rows, columns) was expected, or (rows,) where no column has a weight of its own"
    )
