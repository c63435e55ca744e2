"""Steps three and four: numbers moved back toward the query, then the order of examples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.engine.reach import surer
from macex.schema import Array
from macex.stages.arrays import alike_lines, distinct
from macex.stages.finetune.holds import held, held_further
from macex.stages.finetune.section import Section
from macex.stages.finetune.trades import traded
from macex.stages.search.protocol import MOST_ROWS
from macex.stages.search.reduction import without_idle
from macex.stages.selection import PLAUSIBLE, Ranking, Standing
from macex.stages.shapes import Found, Pool, Task

if TYPE_CHECKING:
    from macex.engine.batch import Outcome
    from macex.engine.options import Finetune


AT_ONCE = 64  # examples that are sooner looked at together than one after the other
WAVES = (1, 4, 12)  # how many of the nearest examples are looked at first, and then


class Ranked(NamedTuple):
    """Examples with their plausibility and their order: by query, best first."""

    pool: Pool
    plausibility: Array  # (E,)
    order: Array  # (E,)

    def without(self, gone: Array) -> Ranked:
        """The other examples."""
        place = np.cumsum(~gone) - 1
        order = place[self.order[~gone[self.order]]]
        return Ranked(self.pool.take(~gone), self.plausibility[~gone], order)

    def join(self, other: Ranked) -> Ranked:
        """The examples of both; no query has examples in both."""
        pool = Pool.join([self.pool, other.pool], self.pool.codes.shape[1])
        order = np.concatenate([self.order, len(self.pool) + other.order])
        order = order[np.argsort(pool.at[order], kind="stable")]
        return Ranked(pool, np.concatenate([self.plausibility, other.plausibility]), order)


def fine_tune(outcome: Outcome) -> Outcome:
    """Stage 4: the nearest few examples of each set of changed units, or those selected already."""
    task, options = outcome.task, outcome.fitted.options
    if outcome.chosen is not None:
        return replace(outcome, pool=_chosen_tuned(outcome, outcome.pool.take(outcome.chosen)))
    tune = None if task.prefer == "surest" or task.judge.late else options.finetune
    cheapest = task.prefer == "nearest" and bool(task.space.caused) and tune is not None
    outcome = _with_held(outcome) if cheapest else outcome
    standing = Standing.of(task, outcome.pool)
    short = standing.best(sets=task.count + 11, each=5)
    pool, standing = outcome.pool.take(short), standing.take(short)
    if tune is None or not len(pool):
        return replace(outcome, pool=pool)
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    near = task.count + (9 if task.prefer == "nearest" else 5)
    nearest = pool.take(standing.best(near, each=2))
    if task.grid is not None:
        nearest = nearest.take(~task.grid.settled(task.space, nearest.codes, nearest.at))
    if isinstance(tune, Section) and task.prefer == "fewest":
        tuned = Pool.join([*tune.on_the_way(task, nearest)], task.space.width)
    else:
        tuned = tune(task, nearest)
    if cheapest:
        tuned = Pool.join([tuned, _cheaper(task, tuned, tune)], task.space.width)
        if outcome.batch.requirements.draws:
            few = tuned.take(Standing.of(task, tuned).best(task.count + 3, each=1))
            tuned, pool = surer(outcome, few, tuned, pool)
    both = Pool.join([tuned, pool], task.space.width)
    both = both.take(distinct(both.at, both.codes))
    if task.count > 1 and task.additive:
        both = without_idle(task, both)
    return replace(outcome, pool=both)


def _with_held(outcome: Outcome) -> Outcome:
    """Also with examples in which some of what would follow is held."""
    task = outcome.task
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    more = held(task, outcome.found.candidates)
    return replace(outcome, pool=Pool.join([outcome.pool, more], task.space.width))


def _cheaper(task: Task, tuned: Pool, tune: Finetune) -> Pool:
    """The nearest examples that come of fine-tuned ones by holding more and by trades."""
    few = tuned.take(Standing.of(task, tuned).best(task.count + 3, each=1))
    further = held_further(task, few)
    further = further.take(Standing.of(task, further).best(task.count + 3, each=1))
    made = traded(task, Pool.join([few, further], task.space.width))
    return tune(task, made.take(Standing.of(task, made).best(task.count + 3, each=1)))


def _chosen_tuned(outcome: Outcome, pool: Pool) -> Pool:
    tune, task = outcome.fitted.options.finetune, outcome.task
    if tune is None or not len(pool):
        return pool
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    pool = tune(task, pool)
    return pool.take(distinct(pool.at, pool.codes))


def nearest_first(outcome: Outcome) -> Outcome:
    """The printed rule ranks by proximity, whatever is preferred."""
    return replace(outcome, task=replace(outcome.task, prefer="nearest", band=None))


def rank(outcome: Outcome) -> Outcome:
    """Order the examples, plausible ones first among equals.

    Where the best is a single implausible change, all other single changes are tried, too.
    """
    ranked = ranking(outcome, outcome.pool)
    further = _second_look(outcome.task, outcome.found, ranked) if _looks_twice(outcome) else None
    if further is not None and len(further):
        again = np.isin(ranked.pool.at, further.at)
        pool = Pool.join([ranked.pool.take(again), further], outcome.task.space.width)
        second = ranking(outcome, pool.take(distinct(pool.at, pool.codes)))
        ranked = ranked.without(again).join(second)
    pool, plausibility, order = ranked
    task = replace(outcome.task, count=outcome.batch.question.n)  # no more than was asked for
    return replace(outcome, task=task, pool=pool, plausibility=plausibility, order=order)


def _looks_twice(outcome: Outcome) -> bool:
    proves, task = outcome.fitted.options.method.proves, outcome.task
    return proves and task.prefer == "fewest" and task.count == 1 and not task.judge.late


def _second_look(task: Task, found: Found, ranked: Ranked) -> Pool:
    """More single changes for queries whose best one is implausible: all other seen values."""
    nothing = Pool.empty(task.space.width)
    if not len(ranked.pool):
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


def ranking(outcome: Outcome, pool: Pool) -> Ranked:
    """The plausibility of examples among the training rows that meet their goals, and their order.

    Where one answer is wanted the nearest few are looked at first: one of them that nothing speaks
    against comes before all that are farther, and those need no look; nor does an unstable one
    after a plausible one.
    """
    task = outcome.task
    full = task.space.columns(pool.codes, pool.at)
    found = np.full(len(pool), np.nan)
    standing = Ranking.of(task, pool)
    order = standing.order
    if task.judge.late:
        return Ranked(pool, found, order)
    place, turn = np.empty((2, len(pool)), int)
    place[order] = np.arange(len(pool))
    turn[order] = place[order] - np.searchsorted(pool.at[order], pool.at[order])
    settled, usual = np.zeros((2, len(task.queries)), bool)
    few = task.count == 1 and (task.band is None or not outcome.batch.requirements)
    few &= len(pool) > AT_ONCE
    for wave in (*(WAVES if few else ()), len(pool) + 1):
        look = np.flatnonzero((turn < wave) & np.isnan(found) & ~settled[pool.at])
        look = look[~(usual[pool.at[look]] & standing.on_edge(place[look]))] if few else look
        if not len(look):
            continue
        found[look] = plausibility_of(outcome, pool.at[look], full[look])
        usual[pool.at[look[~(found[look] < PLAUSIBLE)]]] = True
        settled[pool.at[look[standing.leads(place[look], found[look])]]] = True
    return Ranked(pool, found, standing.order_with(found))


def plausibility_of(outcome: Outcome, at: Array, full: Array) -> Array:
    """The plausibility of rows; NaN where too few rows meet the goal, or time is over."""
    found, goals = np.full(len(at), np.nan), outcome.goals
    asked = np.unique(at)
    for queries in alike_lines(asked, goals.alike[asked][:, None]):
        if outcome.judge.late:
            break
        mine = goals.alike[at] == goals.alike[queries[0]]
        found[mine] = outcome.fitted.plausible(goals, int(queries[0])).share(full[mine])
    return found
