"""Steps one and two: candidates, a search, and the searches that are tried if it finds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.units import unit_codes
from macex.schema import Array
from macex.stages.arrays import distinct
from macex.stages.candidates import Both, Domain, Near
from macex.stages.candidates import offer as offer_values
from macex.stages.relevance import WIDE, screened, telling, wide
from macex.stages.search.names import NEAREST_ROW
from macex.stages.search.nearest_row import NearestRow
from macex.stages.search.protocol import MOST_ROWS, Search
from macex.stages.search.reduction import stripped
from macex.stages.selection import shortlist
from macex.stages.shapes import Candidates, Found, Pool, Task
from macex.stages.spread import spread
from macex.stages.thresholds import Thresholds

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.ask.units import Unit
    from macex.engine.batch import Outcome
    from macex.engine.fitted import Fitted


def offer(outcome: Outcome) -> Outcome:
    """Stage 1: the nearest training rows that meet each goal, whose values searches combine."""
    task = outcome.task
    return replace(outcome, near=outcome.fitted.near(task.space, outcome.goals, _open(task)))


def search(outcome: Outcome) -> Outcome:
    """Stage 2: a pool of examples, by the search that was asked for or those that follow it."""
    task, options, near = outcome.task, outcome.fitted.options, outcome.near
    if near is None:
        return outcome
    open_, found, answered_by = _open(task), outcome.found, outcome.method.copy()
    kept_back = _kept_back(outcome) if options.fallback and task.judge.capped else 0
    outcome.judge.allow(-kept_back)
    for turn, method in enumerate(options.chain()):
        asked = open_ & ~task.judge.finished
        if not asked.any() and (turn or task.judge.late):
            break
        if turn:
            task.judge.renew(asked, MOST_ROWS)
        part = replace(task, space=task.space.closed(~asked))
        tried = method(part, _candidates(outcome.fitted, method, part, near))
        if not method.proves and not options.selection.printed:
            tried = replace(tried, pool=_frugal(part, tried.pool))
        found = _joined(found, tried) if turn else tried
        answered = np.zeros(len(open_), bool)
        answered[tried.pool.at] = True
        answered &= open_
        answered_by[answered] = method.name
        open_ &= ~answered & ~_hopeless(task, found)
    outcome.judge.allow(kept_back)
    if options.fallback and open_.any():
        pool = _last_resort(task, near, open_ & ~task.judge.finished)
        answered_by[pool.at] = NEAREST_ROW
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    pool = found.pool.take(distinct(found.pool.at, found.pool.codes))
    return replace(outcome, found=found, method=answered_by, pool=pool)


def _last_resort(task: Task, near: Near, open_: Array) -> Pool:
    """Training rows laid over the queries (Q,) bool that no search has an answer for."""
    if not open_.any():
        return Pool.empty(task.space.width)
    task.judge.renew(open_, MOST_ROWS)
    part = replace(task, space=task.space.closed(~open_))
    return NearestRow()(part, near.values, near.real & open_[:, None])


def _open(task: Task) -> Array:
    """The queries that may change and can still be asked about, (Q,) bool."""
    changeable: Array = np.asarray(task.space.changeable.any(axis=1))
    return changeable & ~task.judge.finished


def _candidates(fitted: Fitted, search: Search, task: Task, near: Near) -> Candidates:
    """Stage 1. The policy searches learn over fewer values than the exhaustive one tries."""
    choice = fitted.options.candidates
    if isinstance(choice, Thresholds):
        if task.grid is not None and search.proves:
            return task.grid.offer(task.space)
        choice = Both()
    if search.offered == "few":
        choice = Both().domain if choice == Domain() else choice
        choice = choice.for_policy if isinstance(choice, Both) else choice
    space = task.space
    if search.offered == "all" and isinstance(choice, Both):
        space = _narrowed(fitted, task, near, choice.domain)
    return offer_values(choice, space, near, search.max_rows)


def _narrowed(fitted: Fitted, task: Task, near: Near, domain: Domain) -> Space:
    """The space, of which queries with very many single changes keep the units that matter."""
    space = task.space
    if space.width * (1 + 2 * domain.beside) <= WIDE:
        return space
    counts = np.maximum(1, space.changeable.sum(axis=1))
    singles = {count: domain.singles(space.units, count) for count in np.unique(counts).tolist()}
    wide_ = wide(space, np.stack([singles[count] for count in counts.tolist()]))
    if task.judge.capped or not wide_.any():  # too few rows to look first
        return space
    ends = spread(Domain(categories=2, quantiles=2), space, wide_)
    nearest, told = near.values[:, 0], _telling(fitted, space.units)
    kept = screened(task, ends, nearest, near.real[:, 0], told, wide_)
    return replace(space, changeable=kept, reason=space.reason & (kept | ~wide_[:, None]))


def _telling(fitted: Fitted, units: tuple[Unit, ...]) -> Array:
    """How much each unit tells of the model's scores in training, (U,); kept."""
    if fitted.ground.private:
        return np.zeros(len(units))
    key = tuple(unit.members for unit in units)
    if key not in fitted.ground.telling:
        values = fitted.binned.take([unit.members[0] for unit in units], axis=1).astype(int)
        for place in [at for at, unit in enumerate(units) if unit.joint]:
            values[:, place] = unit_codes((units[place],), fitted.ground.codes)[:, 0]
        fitted.ground.telling[key] = telling(values, fitted.answers.scores)
    return fitted.ground.telling[key]


def _frugal(task: Task, pool: Pool) -> Pool:
    """The nearest examples that a policy found, without changes that they do not need."""
    return stripped(task, pool.take(shortlist(task, pool, sets=task.count + 5, each=3)))


def _kept_back(outcome: Outcome) -> Array:
    """The rows that each query keeps for the last resort, (Q,), if the caller set its limit.

    They pay for a few neighbors and for taking back most of what the nearest of them changes.
    """
    return np.minimum(NearestRow().few + 3 * outcome.task.space.width, outcome.judge.limit // 4)


def _hopeless(task: Task, found: Found) -> Array:
    """Queries that provably have no answer over seen values."""
    most = task.max_changes
    if found.candidates.whole is not None:  # a unit that nothing is offered for cannot help
        most = np.minimum(most, [found.reachable(query) for query in range(len(most))])
    over: Array = np.asarray(found.proved >= most)
    return over


def _joined(first: Found, then: Found) -> Found:
    """What an earlier search proved, with the examples of a later one."""
    pool = Pool.join([first.pool, then.pool], then.pool.codes.shape[1])
    return replace(first, pool=pool)
