"""The stages joined for series: one batch of cases from samples to checked answers.

1 candidates   nearest training cases that meet the goal -> which channels, from which case
2 search       which of them to combine, by the searches that tables use
  strip        channels that are not needed are given back
3 selection    near, plausible and diverse ones
4 finetune     the stretch of each channel that is needed
  check        scored again by the caller's model; only what holds is kept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from macex.ask.answers import Answers
from macex.ask.compiling import build_space
from macex.ask.goals import Goal, Goals, Verdict, compile_goals
from macex.ask.space import Space
from macex.explainer.checking import Ranked, check
from macex.explainer.pipeline import Asked, Outcome
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.asking import SeriesAsker
from macex.series.cases import Cases
from macex.series.climbing import given_back
from macex.series.constraints import SeriesConstraints
from macex.series.fitted import Fitted
from macex.series.mixing import Mixture, differs
from macex.series.refining import tuned, whole
from macex.series.searching import nothing_left, search
from macex.series.segments import Draft
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.selection import Ranking, shortlist
from macex.stages.shapes import Pool, Task


@dataclass(frozen=True)
class Wish:
    """A batch as it was asked."""

    cases: Cases
    goals: Sequence[Goal]
    constraints: Sequence[SeriesConstraints]
    count: int
    margin: float
    max_rows: int | None
    deadline: float | None
    keep: bool
    places: Array  # where the cases stand in the caller's call


@dataclass(frozen=True)
class Answered:
    """A batch as it was answered: the outcome as for tables, and what each answer takes."""

    wish: Wish
    mixture: Mixture
    outcome: Outcome
    draft: Draft  # the answers, by query, best first
    score: Array  # (C,)
    decision: Array  # (C,)


def answer(fitted: Fitted, wish: Wish) -> Answered:
    """From cases to checked answers."""
    rows = fitted.rows(len(wish.cases))
    columns = [one.of_channels() for one in wish.constraints]
    space = build_space(fitted.ground, rows, columns)
    frozen = [
        one.frozen(fitted.names, wish.cases.values[query].shape[1])
        for query, one in enumerate(wish.constraints)
    ]
    donors = np.zeros((len(rows), fitted.neighbors), int)
    mixture = Mixture(wish.cases, fitted.train, donors, frozen)
    asker = SeriesAsker(
        fitted.oracle if wish.margin else fitted.oracle.by_predict,
        fitted.ground.schema,
        rows,
        deadline=wish.deadline,
        keep=wish.keep,
        places=wish.places,
        mixture=mixture,
    )
    asked = Asked(
        rows, wish.goals, columns, wish.count, wish.margin, wish.max_rows, wish.deadline, wish.keep
    )
    own, verdict, goals = _own(wish, asker, rows.codes)
    judge = Judge(asker, goals, space, _limits(fitted, wish), wish.max_rows is not None)
    judge.count(np.arange(len(space)))
    open_ = ~verdict.reached & np.isfinite(verdict.progress)
    offered, steps = _neighbors(fitted, mixture, goals, space, open_)
    task = _task(fitted, wish, space.closed(~open_), judge, verdict, steps)

    found, method = search(fitted.options, task, judge, offered)
    ranked = _ranked(task, found.pool)
    checked = check(fitted.options.selection, task, judge, ranked)
    outcome = Outcome(
        asked, task, judge, goals, own, verdict, verdict.reached, found, method, checked
    )
    draft = whole(mixture, space, checked.pool)
    draft, score, decision = tuned(fitted, outcome, draft)
    return Answered(wish, mixture, outcome, draft, score, decision)


def _own(wish: Wish, asker: SeriesAsker, codes: Array) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the cases themselves, and what they mean for the goals."""
    at = np.arange(len(codes))
    own, done = asker(codes, at)
    goals = compile_goals(wish.goals, own, asker.oracle.outlook, wish.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(fitted: Fitted, wish: Wish) -> Array:
    """How many samples each query may cost, all but those of the final check."""
    most = getattr(fitted.options.method, "max_rows", Exhaustive().max_rows)
    if wish.max_rows is not None:
        most = max(1, wish.max_rows - 2 * wish.count)
    return np.full(len(wish.cases), most)


def _neighbors(
    fitted: Fitted, mixture: Mixture, goals: Goals, space: Space, open_: Array
) -> tuple[Array, Array]:
    """Find each query's neighbours and write them into the mixture.

    Returns which channels they offer, (Q, K, d) bool, and how far each would move.
    """
    shape = (*mixture.donors.shape, len(fitted.names))
    offered, steps = np.zeros(shape, bool), np.zeros(shape)
    for query in np.flatnonzero(open_):
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
    fitted: Fitted, wish: Wish, space: Space, judge: Judge, verdict: Verdict, steps: Array
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
            row_keys(fitted.options.random_state, fitted.names, _contents(wish.cases)),
            column_keys([unit.name for unit in space.units]),
        ),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=wish.count,
        prefer=fitted.options.prefer,
        rest=nothing_left,
    )


def _contents(cases: Cases) -> Array:
    """A number for the content of every channel of every case, (Q, d)."""
    return np.array(
        [
            [float(crc32(np.ascontiguousarray(channel, dtype=float).data)) for channel in case]
            for case in cases.values
        ]
    ).reshape(len(cases), -1)


def _ranked(task: Task, pool: Pool) -> Ranked:
    """The most promising examples without needless channels, by query, best first."""
    pool = pool.take(shortlist(task, pool, sets=3 * task.count, each=1))
    if task.prefer == "fewest":
        pool = given_back(task, pool)
    usual = np.full(len(pool), np.nan)
    return Ranked(pool, usual, Ranking.of(task, pool).heeding(usual))
