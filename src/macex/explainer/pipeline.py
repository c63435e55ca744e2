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
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.compiling import build_space
from macex.ask.goals import Goal, Goals, Verdict, compile_goals
from macex.errors import OptionError
from macex.explainer.checking import Checked, Ranked, check, pick
from macex.explainer.fitted import same_goal
from macex.explainer.options import Options, Search, search_name
from macex.models.asking import Asker
from macex.models.judge import Judge
from macex.stages.arrays import distinct
from macex.stages.candidates import Domain, offer, remaining
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.nearest_row import NearestRow
from macex.stages.selection import PLAUSIBLE, ranking, shortlist
from macex.stages.shapes import Candidates, Found, Pool, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.ask.answers import Answers
    from macex.ask.constraints import Constraints
    from macex.ask.space import Space
    from macex.explainer.fitted import Fitted
    from macex.schema import Rows

Array = np.ndarray[Any, np.dtype[Any]]

LOOKED_AT = 3


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


def answer(fitted: Fitted, asked: Asked) -> Outcome:
    """From rows to checked answers."""
    options = fitted.options
    asker = Asker(
        fitted.oracle,
        fitted.ground.schema,
        asked.rows,
        deadline=asked.deadline,
        keep=asked.keep,
        places=asked.places,
    )
    space = build_space(fitted.ground, asked.rows, asked.constraints)
    own, verdict, goals = _own(fitted, asked, asker)
    judge = Judge(asker, goals, space, _limits(asked, options.method), asked.max_rows is not None)
    judge.count(np.arange(len(space)))
    there = verdict.reached & space.holds(space.own, np.arange(len(space)))
    task = _task(fitted, asked, space.closed(there | np.isneginf(verdict.progress)), judge, verdict)

    found, method = _search(fitted, task, goals)
    pool = _refined(fitted, task, goals, found.pool)
    checked = check(options.selection, task, judge, pool)
    differing = _second_opinion(task, judge, own, checked)
    if differing is not None:
        fitted.heed(*differing)
        return answer(fitted, asked)
    return Outcome(asked, task, judge, goals, own, verdict, there, found, method, checked)


def _own(fitted: Fitted, asked: Asked, asker: Asker) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the queries themselves, and what they mean for the goals."""
    at = np.arange(len(asked.rows))
    own, done = asker(asked.rows.codes, at)
    goals = compile_goals(asked.goals, own, fitted.outlook, asked.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _second_opinion(
    task: Task, judge: Judge, own: Answers, checked: Checked
) -> tuple[Array, Array] | None:
    """Ask the model itself what it decides for the queries and their answers."""
    sound = np.array([q for q in range(len(task.queries)) if q not in judge.asker.failed], np.intp)
    codes = np.concatenate([task.queries[sound], checked.pool.codes])
    at = np.concatenate([sound, checked.pool.at])
    return judge.second_opinion(codes, at, np.concatenate([own.decision[sound], checked.decision]))


def _limits(asked: Asked, search: Search) -> Array:
    """How many rows each query may cost, all but those of the final check."""
    most = getattr(search, "max_rows", Exhaustive().max_rows)
    if asked.max_rows is not None:
        most = max(1, asked.max_rows - asked.count)
    return np.full(len(asked.rows), most)


def _task(fitted: Fitted, asked: Asked, space: Space, judge: Judge, verdict: Verdict) -> Task:
    names = [unit.name for unit in space.units]
    keys = row_keys(fitted.options.random_state, fitted.ground.schema.names, space.own)
    return Task(
        space=space,
        judge=judge,
        measure=_measure(fitted, space),
        draws=Draws(keys, column_keys(names)),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=asked.count,
        prefer=fitted.options.prefer,
        rest=partial(remaining, space),
    )


def _measure(fitted: Fitted, space: Space) -> Any:
    """The distance that search, ranking and fine-tuning use."""
    custom = fitted.options.distance
    weights = space.bounds.weights.copy()
    weights[:, [column for column, _ in space.derived]] = 0.0

    def built_in(codes: Array, at: Array) -> Array:
        return fitted.scales.total(space.own[at], space.columns(codes, at), weights[at])

    def given(codes: Array, at: Array) -> Array:
        schema, rows = fitted.ground.schema, space.rows
        before = schema.frame(space.own[at], rows, at)
        after = schema.frame(space.columns(codes, at), rows, at)
        try:
            steps: Array = np.asarray(custom(before, after)).astype(float)  # type: ignore[operator]
        except Exception as fault:
            raise OptionError(f"the distance function raised {fault!r}") from fault
        return _read_distance(steps, weights[at])

    return given if callable(custom) else built_in


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


def _search(fitted: Fitted, task: Task, goals: Goals) -> tuple[Found, Array]:
    """Stages 1 and 2, and the searches that are tried where one finds nothing."""
    options = fitted.options
    open_ = np.asarray(task.space.changeable.any(axis=1))
    open_ &= ~task.judge.finished
    near = fitted.near(task.space, goals, open_)
    method = np.array([options.method_name] * len(open_), dtype=object)
    found: Found | None = None
    for turn, search in enumerate(options.chain()):
        if turn and not open_.any():
            break
        if turn:
            task.judge.renew(open_, Exhaustive().max_rows)
        part = replace(task, space=task.space.closed(~open_))
        tried = search(part, _candidates(options, search, part, near))
        found = tried if found is None else _joined(found, tried)
        answered = np.isin(np.arange(len(open_)), tried.pool.at) & open_
        method[answered] = search_name(search)
        open_ &= ~answered & ~_hopeless(task, found)
    if found is None:
        raise TypeError("there is at least one search")
    if options.fallback and open_.any():
        part = replace(task, space=task.space.closed(~open_))
        pool = NearestRow()(part, near.values, near.real & open_[:, None])
        method[pool.at] = "nearest row"
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    return found, method


def _candidates(options: Options, search: Search, task: Task, near: Any) -> Candidates:
    """Stage 1. The policy searches learn over Algorithm 1's own candidates, as the paper's do."""
    choice = options.candidates
    if not isinstance(search, Exhaustive) and not isinstance(choice, Domain):
        choice = options.neighbors
    return offer(choice, task.space, near)


def _hopeless(task: Task, found: Found) -> Array:
    """Queries of which it is proved that nothing seen in training helps, or whose time is over."""
    over: Array = (found.proved >= task.max_changes) | task.judge.finished
    return over


def _joined(first: Found, then: Found) -> Found:
    """What an earlier search proved, with the examples of a later one."""
    pool = Pool.join([first.pool, then.pool], then.pool.codes.shape[1])
    return replace(first, pool=pool)


def _refined(fitted: Fitted, task: Task, goals: Goals, pool: Pool) -> Ranked:
    """Stage 4 and the order of examples; with the printed rule selection comes first."""
    options = fitted.options
    pool = pool.take(distinct(pool.at, pool.codes))
    if options.selection.printed:
        task = replace(task, prefer="nearest")
        ranked = _ranked(fitted, task, goals, pool)
        pool = pool.take(
            np.concatenate([*pick(options.selection, task, ranked), np.zeros(0, np.intp)])
        )
    else:
        pool = pool.take(shortlist(task, pool, sets=task.count + 11, each=5))
    if options.finetune is None or task.prefer == "surest" or not len(pool):
        return _ranked(fitted, task, goals, pool)
    task.judge.renew(np.ones(len(task.queries), bool), Exhaustive().max_rows)
    near = task.count + (9 if task.prefer == "nearest" else 5)
    every = np.arange(len(pool))
    nearest = every if options.selection.printed else shortlist(task, pool, near, each=2)
    refined = options.finetune(task, pool.take(nearest))
    if not options.selection.printed:
        refined = Pool.join([refined, pool], task.space.width)
    refined = refined.take(distinct(refined.at, refined.codes))
    return _ranked(fitted, task, goals, refined)


def _ranked(fitted: Fitted, task: Task, goals: Goals, pool: Pool) -> Ranked:
    """How usual each example is among the training rows that meet its goal, and its rank.

    Where one answer is wanted the nearest few are looked at first: if one of them is plausible,
    it comes before all that are farther, and those need no look.
    """
    full = task.space.columns(pool.codes, pool.at)
    usual = np.full(len(pool), np.nan)
    order = ranking(task, pool, usual)
    turn = np.empty(len(pool), int)
    turn[order] = np.arange(len(pool)) - np.searchsorted(pool.at[order], pool.at[order])
    if task.judge.finished.all():
        return Ranked(pool, usual, order)
    first = np.flatnonzero((turn < LOOKED_AT) | (task.count > 1))
    usual[first] = _usual(fitted, goals, pool.at[first], full[first])
    settled = np.isin(pool.at, pool.at[first][~(usual[first] < PLAUSIBLE)])
    rest = np.flatnonzero(~settled & np.isnan(usual))
    usual[rest] = _usual(fitted, goals, pool.at[rest], full[rest])
    return Ranked(pool, usual, ranking(task, pool, usual))


def _usual(fitted: Fitted, goals: Goals, at: Array, full: Array) -> Array:
    usual = np.full(len(at), np.nan)
    for queries in same_goal(goals, np.unique(at)):
        mine = np.isin(at, queries)
        usual[mine] = fitted.reference(goals, int(queries[0])).share(full[mine])
    return usual
