"""Steps one and two: candidates, a search, and the searches that are tried if it finds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.engine.options import Options
from macex.schema import Array
from macex.stages.arrays import distinct
from macex.stages.candidates import Both, Domain, Near
from macex.stages.candidates import offer as offer_values
from macex.stages.search.names import NEAREST_ROW
from macex.stages.search.nearest_row import NearestRow
from macex.stages.search.protocol import MOST_ROWS, Search
from macex.stages.search.reduction import stripped
from macex.stages.selection import shortlist
from macex.stages.shapes import Candidates, Found, Pool, Task
from macex.stages.thresholds import Thresholds

if TYPE_CHECKING:
    from macex.engine.batch import Outcome


def offer(outcome: Outcome) -> Outcome:
    """Stage 1: the nearest training rows that meet each goal, whose values searches combine."""
    if outcome.judge.late:
        return outcome
    task = outcome.task
    return replace(outcome, near=outcome.fitted.near(task.space, outcome.goals, _open(task)))


def search(outcome: Outcome) -> Outcome:
    """Stage 2: a pool of examples, by the search that was asked for or those that follow it."""
    task, options, near = outcome.task, outcome.fitted.options, outcome.near
    open_, found, answered_by = _open(task), outcome.found, outcome.method.copy()
    if near is None or outcome.judge.late:
        return outcome
    for turn, method in enumerate(options.chain()):
        if turn and not open_.any():
            break
        if turn:
            task.judge.renew(open_, MOST_ROWS)
        part = replace(task, space=task.space.closed(~open_))
        tried = method(part, _candidates(options, method, part, near))
        if not method.proves and not options.selection.printed:
            tried = replace(tried, pool=_frugal(part, tried.pool))
        found = _joined(found, tried) if turn else tried
        answered = np.zeros(len(open_), bool)
        answered[tried.pool.at] = True
        answered &= open_
        answered_by[answered] = method.name
        open_ &= ~answered & ~_hopeless(task, found)
    if options.fallback and open_.any():
        task.judge.renew(open_, MOST_ROWS)
        part = replace(task, space=task.space.closed(~open_))
        pool = NearestRow()(part, near.values, near.real & open_[:, None])
        answered_by[pool.at] = NEAREST_ROW
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    pool = found.pool.take(distinct(found.pool.at, found.pool.codes))
    return replace(outcome, found=found, method=answered_by, pool=pool)


def _open(task: Task) -> Array:
    """The queries that may change and can still be asked about, (Q,) bool."""
    changeable: Array = np.asarray(task.space.changeable.any(axis=1))
    return changeable & ~task.judge.finished


def _candidates(options: Options, search: Search, task: Task, near: Near) -> Candidates:
    """Stage 1. The policy searches learn over fewer values than the exhaustive one tries."""
    choice = options.candidates
    if isinstance(choice, Thresholds):
        if task.grid is not None and search.proves:
            return task.grid.offer(task.space)
        choice = Both()
    if search.offered == "few":
        choice = Both().domain if choice == Domain() else choice
        choice = choice.for_policy if isinstance(choice, Both) else choice
    return offer_values(choice, task.space, near, search.max_rows)


def _frugal(task: Task, pool: Pool) -> Pool:
    """The nearest examples that a policy found, without changes that they do not need."""
    return stripped(task, pool.take(shortlist(task, pool, sets=task.count + 5, each=3)))


def _hopeless(task: Task, found: Found) -> Array:
    """Queries that provably have no answer over seen values, or whose time is over."""
    most = task.max_changes
    if found.candidates.whole is not None:  # a unit that nothing is offered for cannot help
        most = np.minimum(most, [found.reachable(query) for query in range(len(most))])
    over: Array = (found.proved >= most) | task.judge.finished
    return over


def _joined(first: Found, then: Found) -> Found:
    """What an earlier search proved, with the examples of a later one."""
    pool = Pool.join([first.pool, then.pool], then.pool.codes.shape[1])
    return replace(first, pool=pool)
