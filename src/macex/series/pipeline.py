"""The stages joined for series: one batch of cases from samples to checked answers.

1 candidates   nearest training cases that meet the goal -> which channels, from which case
2 search       which of them to combine, by the searches that tables use
  strip        channels that are not needed are given back
3 selection    near, plausible and diverse ones
4 finetune     the stretch of each channel that is needed
  check        scored again by the caller's model; only what holds is kept
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np

from macex.ask.answers import Answers
from macex.ask.compiling import build_space
from macex.ask.goals import Goals, Verdict, compile_goals
from macex.ask.space import Space
from macex.engine.batch import Batch, BatchOf
from macex.engine.confirmation import confirmed, select
from macex.engine.outcome import Outcome
from macex.engine.pipeline import run
from macex.engine.ranking import Ranked
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.asking import SeriesAsker
from macex.series.cases import Cases, contents
from macex.series.climbing import given_back
from macex.series.constraints import SeriesConstraints
from macex.series.fitted import Fitted
from macex.series.mixing import Mixture, differs
from macex.series.refining import tuned, whole
from macex.series.searching import nothing_left, search
from macex.series.segments import Draft
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.selection import Ranking, shortlist
from macex.stages.shapes import Pool, Task

CaseBatch: TypeAlias = BatchOf[Cases, SeriesConstraints]


@dataclass(frozen=True)
class Answered:
    """A batch as it was answered: the outcome as for tables, and what each answer takes."""

    batch: CaseBatch
    mixture: Mixture
    outcome: Outcome
    draft: Draft  # the answers, by query, best first
    score: Array  # (C,)
    decision: Array  # (C,)


def answer(fitted: Fitted, batch: CaseBatch) -> Answered:
    """From cases to checked answers."""
    rows = fitted.rows(len(batch.rows))
    columns = [one.of_channels() for one in batch.constraints]
    space = build_space(fitted.ground, rows, columns)
    frozen = [
        one.frozen(fitted.names, batch.rows.values[query].shape[1])
        for query, one in enumerate(batch.constraints)
    ]
    donors = np.zeros((len(rows), fitted.neighbors), int)
    mixture = Mixture(batch.rows, fitted.train, donors, frozen)
    asker = SeriesAsker(
        fitted.oracle if batch.margin else fitted.oracle.by_predict,
        fitted.ground.schema,
        rows,
        deadline=batch.deadline,
        keep=batch.keep,
        places=batch.places,
        mixture=mixture,
    )
    asked = Batch(rows, batch.goals, columns, batch.question, batch.deadline)
    own, verdict, goals = _own(batch, asker, rows.codes)
    judge = Judge(asker, goals, space, _limits(fitted, batch), batch.max_rows is not None)
    judge.count(np.arange(len(space)))
    open_ = ~verdict.reached & np.isfinite(verdict.progress)
    offered, steps = _neighbors(fitted, mixture, goals, space, open_, judge)
    task = _task(fitted, batch, space.closed(~open_), judge, verdict, steps)

    found, method = search(fitted.options, task, judge, offered)
    pool, plausibility, order = _ranked(task, found.pool)
    outcome = Outcome.begin(
        cast("Any", fitted),
        *(asked, task, judge),
        goals=goals,
        own=own,
        verdict=verdict,
        there=verdict.reached,
    )
    outcome = replace(
        outcome, found=found, method=method, pool=pool, plausibility=plausibility, order=order
    )
    outcome = run(outcome, (select, confirmed))
    draft = whole(mixture, space, outcome.checked.pool)
    draft, score, decision = tuned(fitted, outcome, draft)
    return Answered(batch, mixture, outcome, draft, score, decision)


def _own(batch: CaseBatch, asker: SeriesAsker, codes: Array) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the cases themselves, and what they mean for the goals."""
    at = np.arange(len(codes))
    own, done = asker(codes, at)
    goals = compile_goals(batch.goals, own, asker.oracle.outlook, batch.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(fitted: Fitted, batch: CaseBatch) -> Array:
    """How many samples each query may cost, all but those of the final check."""
    most = fitted.options.method.max_rows
    if batch.max_rows is not None:
        most = max(1, batch.max_rows - 2 * batch.count)
    return np.full(len(batch.rows), most)


def _neighbors(
    fitted: Fitted, mixture: Mixture, goals: Goals, space: Space, open_: Array, judge: Judge
) -> tuple[Array, Array]:
    """Find each query's neighbours, as long as there is time, and write them into the mixture.

    Returns which channels they offer, (Q, K, d) bool, and how far each would move.
    """
    shape = (*mixture.donors.shape, len(fitted.names))
    offered, steps = np.zeros(shape, bool), np.zeros(shape)
    for query in np.flatnonzero(open_):
        if judge.late:
            break
        own = np.asarray(mixture.cases.values[query])
        match = space.bounds.changeable[query]
        match = match if match.any() else np.ones_like(match)
        near = fitted.near(goals, int(query), fitted.sketch(own), match)
        mixture.donors[query, : len(near)] = near
        for place in range(len(near)):
            full = np.full((1, len(fitted.names)), float(place + 1))
            laid = mixture.samples(full, np.array([query]))[0]
            steps[query, place] = fitted.sketch.steps(own, laid)
            offered[query, place] = differs(own, laid).any(axis=1)
    return offered, np.where(offered, np.maximum(steps, 1e-6), 0.0)


def _task(
    fitted: Fitted, batch: CaseBatch, space: Space, judge: Judge, verdict: Verdict, steps: Array
) -> Task:
    weights = space.bounds.weights

    def measure(codes: Array, at: Array) -> Array:
        full = space.columns(codes, at).astype(int)
        place = np.maximum(full - 1, 0)
        moved = steps[at[:, None], place, np.arange(full.shape[1])] * weights[at]
        total: Array = np.round(np.where(full > 0, moved, 0.0).sum(axis=1), 9)
        return total

    return Task(
        space=space,
        judge=judge,
        measure=measure,
        draws=Draws(
            row_keys(fitted.options.random_state, fitted.names, contents(batch.rows.values)),
            column_keys([unit.name for unit in space.units]),
        ),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=batch.count,
        prefer=fitted.options.prefer,
        rest=nothing_left,
    )


def _ranked(task: Task, pool: Pool) -> Ranked:
    """The most promising examples without needless channels, by query, best first."""
    pool = pool.take(shortlist(task, pool, sets=3 * task.count, each=1))
    if task.prefer == "fewest":
        pool = given_back(task, pool)
    usual = np.full(len(pool), np.nan)
    return Ranked(pool, usual, Ranking.of(task, pool).heeding(usual))
