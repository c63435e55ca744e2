"""Stage 4 and the order of examples: numbers moved back, plausibility, rank."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.engine.checking import Checked, Ranked, pick
from macex.engine.fitted import same_goal
from macex.schema import Array
from macex.stages.arrays import distinct
from macex.stages.finetune.section import Section
from macex.stages.search.protocol import MOST_ROWS
from macex.stages.search.stripping import without_idle
from macex.stages.selection import PLAUSIBLE, Ranking, Standing
from macex.stages.shapes import Found, Pool, Task

if TYPE_CHECKING:
    from macex.ask.goals import Goals
    from macex.engine.fitted import Fitted


WAVES = (1, 4, 12)  # how many of the nearest examples are looked at first, and then


def refine(fitted: Fitted, task: Task, goals: Goals, found: Found) -> Ranked:
    """Refine and rank; with the printed rule selection comes before fine-tuning."""
    pool = found.pool.take(distinct(found.pool.at, found.pool.codes))
    if fitted.options.selection.printed:
        return _refine_chosen(fitted, replace(task, prefer="nearest"), goals, pool)
    ranked = _refine_nearest(fitted, task, goals, pool)
    if not fitted.options.method.proves or task.prefer != "fewest":
        return ranked
    if task.judge.late:
        return ranked
    further = _second_look(task, found, ranked)
    if not len(further):
        return ranked
    again = np.isin(ranked.pool.at, further.at)
    pool = Pool.join([ranked.pool.take(again), further], task.space.width)
    second = rank(fitted, task, goals, pool.take(distinct(pool.at, pool.codes)))
    return ranked.without(again).join(second)


def _second_look(task: Task, found: Found, ranked: Ranked) -> Pool:
    """More single changes for queries whose best one is implausible: all other seen values."""
    nothing = Pool.empty(task.space.width)
    if task.count > 1 or not len(ranked.pool):
        return nothing
    at = ranked.pool.at[ranked.order]
    lead = ranked.order[np.concatenate([[True], at[1:] != at[:-1]])]
    best = ranked.pool.take(lead[ranked.plausibility[lead] < PLAUSIBLE])
    single = task.space.changed(best.codes, best.at).sum(axis=1) == 1
    if not single.any():
        return nothing
    open_ = np.zeros(len(task.queries), bool)
    open_[best.at[single]] = True
    rest, _ = task.rest(open_, found.candidates)
    codes, at, _ = rest.rows(task.queries, rest.real)
    if not len(at):
        return nothing
    verdict = task.judge(codes, at)
    good = verdict.reached
    return Pool(at[good], codes[good], verdict.progress[good])


def _refine_nearest(fitted: Fitted, task: Task, goals: Goals, pool: Pool) -> Ranked:
    """Fine-tune the nearest few examples of each set of changed units."""
    standing = Standing.of(task, pool)
    short = standing.best(sets=task.count + 11, each=5)
    pool, standing = pool.take(short), standing.take(short)
    tune = None if task.prefer == "surest" or task.judge.late else fitted.options.finetune
    if tune is None or not len(pool):
        return rank(fitted, task, goals, pool)
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    near = task.count + (9 if task.prefer == "nearest" else 5)
    nearest = pool.take(standing.best(near, each=2))
    if task.grid is not None:
        nearest = nearest.take(~task.grid.settled(task.space, nearest.codes, nearest.at))
    if isinstance(tune, Section) and task.prefer == "fewest":
        refined = Pool.join([*tune.on_the_way(task, nearest)], task.space.width)
    else:
        refined = tune(task, nearest)
    both = Pool.join([refined, pool], task.space.width)
    both = both.take(distinct(both.at, both.codes))
    if task.count > 1 and task.additive:
        both = without_idle(task, both)
    return rank(fitted, task, goals, both)


def _refine_chosen(fitted: Fitted, task: Task, goals: Goals, pool: Pool) -> Ranked:
    """The printed order of the stages: select, then fine-tune what was selected."""
    options = fitted.options
    ranked = rank(fitted, task, goals, pool)
    chosen = np.concatenate([*pick(options.selection, task, ranked), np.zeros(0, np.intp)])
    pool = pool.take(chosen)
    if options.finetune is not None and len(pool):
        task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
        pool = options.finetune(task, pool)
        pool = pool.take(distinct(pool.at, pool.codes))
    return rank(fitted, task, goals, pool)


def rank(fitted: Fitted, task: Task, goals: Goals, pool: Pool) -> Ranked:
    """How usual each example is among the training rows that meet its goal, and its rank.

    Where one answer is wanted the nearest few are looked at first: if one of them is plausible,
    it comes before all that are farther, and those need no look.
    """
    full = task.space.columns(pool.codes, pool.at)
    usual = np.full(len(pool), np.nan)
    ranking = Ranking.of(task, pool)
    order = ranking.order
    if task.judge.late:
        return Ranked(pool, usual, order)
    turn = np.empty(len(pool), int)
    turn[order] = np.arange(len(pool)) - np.searchsorted(pool.at[order], pool.at[order])
    settled = np.zeros(len(task.queries), bool)
    for wave in (*(WAVES if task.count == 1 else ()), len(pool) + 1):
        look = np.flatnonzero((turn < wave) & np.isnan(usual) & ~settled[pool.at])
        if not len(look):
            continue
        usual[look] = _usual(fitted, task, goals, pool.at[look], full[look])
        settled[pool.at[look[~(usual[look] < PLAUSIBLE)]]] = True
    return Ranked(pool, usual, ranking.heeding(usual))


def looked_at(fitted: Fitted, task: Task, goals: Goals, checked: Checked) -> Checked:
    """The answers with the plausibility of those that came up only in the check."""
    blank = np.flatnonzero(np.isnan(checked.plausibility))
    if not len(blank) or task.judge.late:
        return checked
    at, codes = checked.pool.at[blank], checked.pool.codes[blank]
    usual = checked.plausibility.copy()
    usual[blank] = _usual(fitted, task, goals, at, task.space.columns(codes, at))
    return checked._replace(plausibility=usual)


def _usual(fitted: Fitted, task: Task, goals: Goals, at: Array, full: Array) -> Array:
    """The plausibility of rows; NaN where too few rows meet the goal, or time is over."""
    usual = np.full(len(at), np.nan)
    for queries in same_goal(goals, np.unique(at)):
        if task.judge.late:
            break
        mine = goals.alike[at] == goals.alike[queries[0]]
        usual[mine] = fitted.plausible(goals, int(queries[0])).share(full[mine])
    return usual
