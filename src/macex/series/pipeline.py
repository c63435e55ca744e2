"""The pipeline of series: a batch of cases to checked answers, in the six steps of tables.

offer       nearest training cases that meet the goal -> which channels, from which case
search      which of them to combine, by the searches that tables use
fine-tune   channels that are not needed are given back
rank        few channels, near first
select      those to return: they differ in what they change
confirm     scored again; then only the stretch of each channel that is needed is kept
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from macex.ask.answers import Answers, Goals, Verdict, compile_goals
from macex.ask.compilation import build_space
from macex.ask.space import Space
from macex.engine.batch import Batch, Outcome
from macex.engine.pipeline import band_of, run
from macex.engine.ranking import select
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.cases import contents
from macex.series.confirmation import confirm
from macex.series.drafts import Draft
from macex.series.fitted import FittedSeries
from macex.series.limits import limits_of
from macex.series.mixtures import Mixture, SeriesAsker, differs
from macex.series.outcome import CaseBatch, SeriesOutcome, plausibilities, reached_classes
from macex.series.robustness import price_of, steady
from macex.series.search import SMALL, given_back, nothing_left, reserved, search
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.selection import PLAUSIBLE, Ranking, shortlist
from macex.stages.shapes import Pool, Task

NEIGHBORS_EACH = 5  # that a set of channels is taken from
CELLS = 4_000_000  # values of neighbors that are looked at together
SETS = 12  # of few channels, which are compared for an answer
FIRM = float(np.log(0.9 / 0.1))  # a lead from which on more of it counts for nothing


def answer(fitted: FittedSeries, batch: CaseBatch) -> SeriesOutcome:
    """From cases to checked answers."""
    return run(open_cases(fitted, batch), (offer, search, fine_tune, rank, select, confirm))


def open_cases(fitted: FittedSeries, batch: CaseBatch) -> SeriesOutcome:
    """Score the cases themselves and lay out what may change in each."""
    rows = fitted.rows(len(batch.rows))
    columns = [one.of_channels() for one in batch.constraints]
    space = build_space(fitted.ground, rows, columns)
    asker = SeriesAsker(
        fitted.oracle if batch.question.margin else fitted.oracle.by_predict,
        fitted.ground.schema,
        rows,
        deadline=batch.deadline,
        keep=batch.question.keeps,
        places=batch.places,
        mixture=_mixture(fitted, batch),
    )
    own, verdict, goals = _own(batch, asker, rows.codes)
    judge = Judge(asker, goals, space, _limits(fitted, batch), batch.question.max_rows is not None)
    judge.count(np.arange(len(space)))
    done = verdict.reached | ~np.isfinite(verdict.progress)
    task = _task(fitted, batch, space.closed(done), judge, verdict)
    known = Outcome.begin(
        fitted,  # type: ignore[arg-type]
        Batch(
            rows,
            batch.goals,
            columns,
            batch.question,
            batch.deadline,
            requirements=batch.requirements,
        ),
        *(task, judge),
        goals=goals,
        own=own,
        verdict=verdict,
        there=verdict.reached,
    )
    return SeriesOutcome(
        **vars(known),
        cases=batch,
        mixture=asker.mixture,
        offered=np.zeros((len(rows), fitted.neighbors, len(fitted.names)), bool),
        draft=Draft.empty(space.width),
        scores=np.zeros((0, max(1, fitted.outlook.width))),
    )


def _mixture(fitted: FittedSeries, batch: CaseBatch) -> Mixture:
    """The cases, with nothing known of their neighbors yet."""
    limits = [
        limits_of(one, fitted.names, case.shape[1], np.result_type(case.dtype, fitted.train.dtype))
        for one, case in zip(batch.constraints, batch.rows.values, strict=True)
    ]
    donors = np.zeros((len(batch.rows), fitted.neighbors), int)
    return Mixture(batch.rows, fitted.train, donors, limits, fitted.sketch.spread)


def _own(batch: CaseBatch, asker: SeriesAsker, codes: Array) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the cases themselves, and what they mean for the goals."""
    at = np.arange(len(codes))
    own, done = asker(codes, at)
    goals = compile_goals(batch.goals, own, asker.oracle.outlook, batch.question.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(fitted: FittedSeries, batch: CaseBatch) -> Array:
    """How many samples each query may cost, all but those of the final check."""
    most: Any = fitted.options.rows_for(len(fitted.names))
    if batch.question.max_rows is not None:
        most = (
            batch.question.max_rows
            - 3 * batch.question.n
            - batch.spent
            - price_of(batch.requirements) * batch.question.n
        )
    return np.maximum(1, np.broadcast_to(most, len(batch.rows)))


def offer(outcome: SeriesOutcome) -> SeriesOutcome:
    """Stage 1: each query's neighbors, as long as there is time, and which channels they offer."""
    fitted, mixture, space = outcome.fitted, outcome.mixture, outcome.task.space
    shape = (*mixture.donors.shape, len(fitted.names))
    offered, steps = np.zeros(shape, bool), np.zeros(shape)
    open_ = ~outcome.there & np.isfinite(outcome.verdict.progress)
    for query in np.flatnonzero(open_):
        if outcome.judge.late:
            break
        own = np.asarray(mixture.cases.values[query])
        match = space.bounds.changeable[query]
        match = match if match.any() else np.ones_like(match)
        near = fitted.near(outcome.goals, int(query), fitted.sketch(own), match)
        mixture.donors[query, : len(near)] = near
        taken = np.arange(len(near))
        for part in np.array_split(taken, max(1, len(near) * own.size // CELLS)):
            laid = mixture.of_one(np.repeat(part[:, None] + 1.0, len(fitted.names), 1), int(query))
            steps[query, part] = fitted.sketch.steps(own, laid)
            offered[query, part] = differs(own, laid).any(axis=2)
    steps = np.where(offered, np.maximum(steps, 1e-6), 0.0)
    weights = space.bounds.weights

    def measure(codes: Array, at: Array) -> Array:
        full = space.columns(codes, at).astype(int)
        place = np.maximum(full - 1, 0)
        moved = steps[at[:, None], place, np.arange(full.shape[1])] * weights[at]
        total: Array = np.round(np.where(full > 0, moved, 0.0).sum(axis=1), 9)
        return total

    return replace(outcome, offered=offered, task=replace(outcome.task, measure=measure))


def _task(
    fitted: FittedSeries, batch: CaseBatch, space: Space, judge: Judge, verdict: Verdict
) -> Task:
    """What the stages see; distances are known once there are neighbors."""
    return Task(
        space=space,
        judge=judge,
        measure=lambda _codes, at: np.zeros(len(at)),
        drawn=lambda: Draws(
            row_keys(fitted.options.random_state, fitted.names, contents(batch.rows.values)),
            column_keys([unit.name for unit in space.units]),
        ),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=batch.question.n,
        prefer=fitted.options.prefer,
        rest=nothing_left,
        band=band_of(batch, judge) if fitted.options.steady else None,
    )


def fine_tune(outcome: SeriesOutcome) -> SeriesOutcome:
    """The most promising examples without needless channels.

    Where few channels suffice, the same channels of several neighbors are kept to choose from, and
    those of more neighbors are tried.
    """
    task, pool = outcome.task, outcome.pool
    first = shortlist(task, pool, sets=3 * task.count, each=1)
    more = shortlist(task, pool, sets=SETS * task.count, each=NEIGHBORS_EACH)
    size = task.space.changed(pool.codes.take(more, axis=0), pool.at[more]).sum(axis=1)
    pool = pool.take(np.union1d(first, more[size <= SMALL]))
    pool = Pool.join([pool, reserved(outcome, pool)], task.space.width)
    return replace(outcome, pool=given_back(task, pool) if task.prefer == "fewest" else pool)


def rank(outcome: SeriesOutcome) -> SeriesOutcome:
    """The order of the examples: by query, best first.

    Among those with as many channels, plausible samples come first whose class is that of a case
    they take channels from; of these the ones that hold best under noise, and then with other
    models: those that are farther from any other decision, up to a score of 0.9.
    """
    pool, task = outcome.pool, outcome.task
    ranking = Ranking.of(task, pool)
    order = ranking.order
    if len(pool) and not outcome.judge.late and task.prefer != "surest":
        agree, lead = reached_classes(outcome, pool)
        told = np.fmin(plausibilities(outcome, pool), agree)
        order = _ordered(task, pool, ranking, told, lead, np.zeros(len(pool)))
        order = _ordered(task, pool, ranking, told, lead, np.nan_to_num(steady(outcome, order)))
    return replace(outcome, plausibility=np.full(len(pool), np.nan), order=order)


def _ordered(
    task: Task, pool: Pool, ranking: Ranking, told: Array, lead: Array, held: Array
) -> Array:
    """The order; ties go to answers that are usual, hold under noise, and lead by more."""
    banded = np.zeros(len(pool), bool) if task.band is None else np.isfinite(task.band)[pool.at]
    lead = np.where(banded, np.round(np.minimum(lead, FIRM), 6), 0.0)
    keys = (-lead, -held, told < PLAUSIBLE)
    at = ranking.order
    return np.asarray(at[np.lexsort((*(key[at] for key in keys), ranking.level))])
