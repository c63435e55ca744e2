"""Stages 1 and 2 joined: candidates, a search, and the searches tried where it finds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.engine.options import Options
from macex.schema import Array
from macex.stages.candidates import Both, Domain, Near, offer
from macex.stages.search.nearest_row import NearestRow
from macex.stages.search.protocol import MOST_ROWS, Search
from macex.stages.search.stripping import stripped
from macex.stages.selection import shortlist
from macex.stages.shapes import Candidates, Found, Pool, Task
from macex.stages.thresholds import Thresholds

if TYPE_CHECKING:
    from macex.ask.goals import Goals
    from macex.engine.fitted import Fitted


def search(fitted: Fitted, task: Task, goals: Goals) -> tuple[Found, Array]:
    """Stages 1 and 2, and the searches that are tried where one finds nothing."""
    options = fitted.options
    open_ = np.asarray(task.space.changeable.any(axis=1))
    open_ &= ~task.judge.finished
    answered_by = np.array([options.method_name] * len(open_), dtype=object)
    if task.judge.late:
        return _unsearched(task), answered_by
    near = fitted.near(task.space, goals, open_)
    found: Found | None = None
    for turn, method in enumerate(options.chain()):
        if turn and not open_.any():
            break
        if turn:
            task.judge.renew(open_, MOST_ROWS)
        part = replace(task, space=task.space.closed(~open_))
        tried = method(part, _candidates(options, method, part, near))
        if not method.proves and not options.selection.printed:
            tried = replace(tried, pool=_frugal(part, tried.pool))
        found = tried if found is None else _joined(found, tried)
        answered = np.zeros(len(open_), bool)
        answered[tried.pool.at] = True
        answered &= open_
        answered_by[answered] = method.name
        open_ &= ~answered & ~_hopeless(task, found)
    if found is None:
        raise TypeError("there is at least one search")
    if options.fallback and open_.any():
        task.judge.renew(open_, MOST_ROWS)
        part = replace(task, space=task.space.closed(~open_))
        pool = NearestRow()(part, near.values, near.real & open_[:, None])
        answered_by[pool.at] = "nearest row"
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    return found, answered_by


def _unsearched(task: Task) -> Found:
    """What is known of queries that were not searched."""
    return Found.unproved(Pool.empty(task.space.width), Candidates.empty(len(task.queries)))


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
    return offer(choice, task.space, near, search.max_rows)


def _frugal(task: Task, pool: Pool) -> Pool:
    """The nearest examples that a policy found, without changes that they do not need."""
    return stripped(task, pool.take(shortlist(task, pool, sets=task.count + 5, each=3)))


def _hopeless(task: Task, found: Found) -> Array:
    """Queries of which it is proved that nothing seen in training helps, or whose time is over."""
    most = task.max_changes
    if found.candidates.whole is not None:  # a unit that nothing is offered for cannot help
        most = np.minimum(most, [found.reachable(query) for query in range(len(most))])
    over: Array = (found.proved >= most) | task.judge.finished
    return over


def _joined(first: Found, then: Found) -> Found:
    """What an earlier search proved, with the examples of a later one."""
    pool = Pool.join([first.pool, then.pool], then.pool.codes.shape[1])
    return replace(first, pool=pool)
