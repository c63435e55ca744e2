"""What genetic searches share: individuals of all open queries, bred in step.

An individual is a row; it is fit if it reaches the goal, and fitter the nearer it is to the query.
All individuals of all queries are scored in one model call a generation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.baselines.baseline import lawful
from macex.baselines.proposals import seen_values
from macex.schema import Array, row_keys, special
from macex.stages.arrays import first_of_each, rank_within, set_keys
from macex.stages.shapes import Pool, Task

UNFIT = 1e6  # beyond any distance: rows that miss the goal are ranked by how far they miss it


class Generation(NamedTuple):
    """P individuals of every open query."""

    at: Array  # (Q,) which query
    codes: Array  # (Q, P, U)
    cost: Array  # (Q, P) the distance, or UNFIT and more
    progress: Array  # (Q, P)


def draw(task: Task, at: Array, stream: str, turn: int, count: int) -> Array:
    """Uniform numbers (Q, count, U) of the open queries."""
    drawn: Array = task.draws.uniform(stream, turn * count, count)
    return drawn[at]


def scored(task: Task, at: Array, codes: Array) -> Generation:
    """Individuals as they may be, with what they cost: one model call for all of them."""
    queries, count, width = codes.shape
    owner = np.repeat(at, count)
    rows = lawful(task, codes.reshape(-1, width), owner)
    verdict = task.judge(rows, owner)
    changes = task.space.changed(rows, owner).sum(axis=1)
    fit = verdict.reached & (changes <= task.max_changes[owner])
    miss = UNFIT - np.where(np.isfinite(verdict.progress), verdict.progress, -UNFIT / 2)
    cost = np.where(fit, task.measure(rows, owner), miss)
    shape = (queries, count)
    return Generation(
        at, rows.reshape(codes.shape), cost.reshape(shape), verdict.progress.reshape(shape)
    )


def mutated(task: Task, people: Generation, child: Array, turn: int, name: str) -> Array:
    """Each value goes back to the query's own, part of the way back, or to a value of another.

    On average about one value of a row does so.
    """
    at, count = people.at, child.shape[1]
    own = np.broadcast_to(task.queries[at][:, None], child.shape)
    kind = draw(task, at, f"{name} kind", turn, count)
    size = draw(task, at, f"{name} size", turn, count)
    changed = child != own
    rate = 1.0 / np.maximum(1, changed.sum(axis=2, keepdims=True))
    child = np.where(changed & (kind < 0.4 * rate), own, child)
    number = np.array([not unit.discrete for unit in task.space.units])
    moving = changed & number & (kind > 1 - 0.6 * rate) & ~special(child) & ~special(own)
    child = np.where(moving, _between(task, child, own, size, moving), child)
    fresh = (kind >= 0.4 * rate) & (kind < 0.4 * rate + 0.5 / child.shape[2])
    return np.where(fresh, seen_values(task.space, size), child)


def _between(task: Task, child: Array, own: Array, size: Array, moving: Array) -> Array:
    """Numbers a random part of the way back to the query's own, or a little farther away."""
    moved = np.where(moving, child + (own - child) * (1.2 * size**2 - 0.2), 0.0)
    for place, unit in enumerate(task.space.units):
        if not unit.discrete:
            moved[:, :, place] = task.space.snap(place, moved[:, :, place])
    return moved


def survivors(people: Generation, young: Generation) -> Generation:
    """The fittest of parents and offspring, fittest first, each kind of row once."""
    codes, cost, progress = (
        np.concatenate([old, new], axis=1) for old, new in zip(people[1:], young[1:], strict=True)
    )
    keys = row_keys(codes.reshape(-1, codes.shape[2])).reshape(cost.shape)
    cost = np.where(first_of_each(keys), cost, np.inf)
    order = np.argsort(cost, axis=1, kind="stable")[:, : people.codes.shape[1]]
    return Generation(
        people.at,
        np.take_along_axis(codes, order[:, :, None], axis=1),
        *(np.take_along_axis(table, order, axis=1) for table in (cost, progress)),
    )


def fittest(task: Task, people: Generation) -> Pool:
    """Fit individuals: for each query the nearest of every set of columns, then the others."""
    query, place = np.nonzero(people.cost < UNFIT / 2)
    at, codes = people.at[query], people.codes[query, place]
    again = ~first_of_each(set_keys(task.space.changed(codes, at), at)[None])[0]
    pool = Pool(at, codes, people.progress[query, place])
    return pool.take(np.argsort(rank_within(at, again, people.cost[query, place]), kind="stable"))
