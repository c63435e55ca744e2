"""CERTIFAI (Sharma, Henderson, Ghosh, 2020): a genetic algorithm that minimises a mixed distance.

An individual is a row; it is fit if it reaches the goal, and fitter the nearer it is to the query:
scaled absolute differences of numbers plus changed categories. All individuals of all queries are
scored in one model call a generation. Beyond the paper's text: individuals start as mixtures of
the query with rows that meet the goal, mutation also moves values back toward the query's own, and
the fittest survive. Without these a genetic search of the same size is far weaker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.units import unit_codes
from macex.baselines.baseline import Baseline, lawful, open_queries
from macex.engine.batch import Outcome
from macex.errors import require_counts
from macex.schema import MISSING, Array, row_keys, special
from macex.stages.arrays import first_of_each, rank_within, set_keys
from macex.stages.shapes import Pool, Task

UNFIT = 1e6  # beyond any distance: rows that miss the goal are ranked by how far they miss it
CROSSED = 0.7  # share of offspring with two parents


class Generation(NamedTuple):
    """P individuals of every open query."""

    at: Array  # (Q,) which query
    codes: Array  # (Q, P, U)
    cost: Array  # (Q, P) the distance, or UNFIT and more
    progress: Array  # (Q, P)


class Certifai(Baseline):
    """Sharma et al.: `population` rows a query, bred for `generations`.

    The defaults score 15,000 rows a query. `distance` scales numbers as in `Explainer`; the
    publication's own scale is `"mad"`.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> bred = Certifai(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> bred.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "certifai"

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        population: int = 250,
        generations: int = 59,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        distance: str = "median",
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.population, self.generations = population, generations
        require_counts(self, "population", "generations")
        self.max_rows = population * (generations + 1)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            distance=distance,
            classes=classes,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """The fittest individuals, different sets of changed columns first."""
        task = opened.task
        at = np.flatnonzero(open_queries(opened))
        if not len(at):
            return Pool.empty(task.space.width)
        people = _judged(task, at, self._born(opened, at))
        for generation in range(1, self.generations + 1):
            if task.judge.late:
                break
            young = _judged(task, at, _bred(task, people, generation))
            people = _survivors(people, young)
        return _fittest(task, people)

    def _born(self, opened: Outcome, at: Array) -> Array:
        """Mixtures (Q, P, U) of each query with rows that meet its goal, or with any rows."""
        task, fitted = opened.task, self.fitted
        mates = np.empty((len(at), self.population, task.space.width))
        choice = _draw(task, at, "mate", 0, self.population)[:, :, 0]
        for place, query in enumerate(at):
            rows = fitted.meeting(opened.goals, int(query))
            rows = rows if len(rows) else np.arange(len(fitted.ground.codes))
            chosen = rows[(choice[place] * len(rows)).astype(int)]
            mates[place] = unit_codes(task.space.units, fitted.ground.codes[chosen])
        share = _draw(task, at, "share", 0, self.population)[:, :, :1]
        taken = _draw(task, at, "taken", 0, self.population) < share
        return np.where(taken, mates, task.queries[at][:, None])


def _draw(task: Task, at: Array, stream: str, turn: int, count: int) -> Array:
    """Uniform numbers (Q, count, U) of the open queries."""
    drawn: Array = task.draws.uniform(f"certifai {stream}", turn * count, count)
    return drawn[at]


def _judged(task: Task, at: Array, codes: Array) -> Generation:
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


def _bred(task: Task, people: Generation, turn: int) -> Array:
    """Offspring (Q, P, U): parents by rank, uniform crossover, mutation."""
    at, count = people.at, people.codes.shape[1]
    lines = np.arange(len(at))[:, None]
    luck = _draw(task, at, "parents", turn, count)
    first, second = ((luck[:, :, i % luck.shape[2]] ** (2 + i) * count).astype(int) for i in (0, 1))
    mother, father = people.codes[lines, first], people.codes[lines, second]
    crossed = _draw(task, at, "crossed", turn, count)
    mixed = crossed[:, :, :1] < CROSSED
    child = np.where(mixed & (_draw(task, at, "gene", turn, count) < 0.5), father, mother)
    return _mutated(task, people, child, turn)


def _mutated(task: Task, people: Generation, child: Array, turn: int) -> Array:
    """Each value goes back to the query's own, part of the way back, or to a value of another.

    On average about one value of a row does so.
    """
    at, count = people.at, child.shape[1]
    own = np.broadcast_to(task.queries[at][:, None], child.shape)
    kind = _draw(task, at, "kind", turn, count)
    size = _draw(task, at, "size", turn, count)
    changed = child != own
    rate = 1.0 / np.maximum(1, changed.sum(axis=2, keepdims=True))
    child = np.where(changed & (kind < 0.4 * rate), own, child)
    number = np.array([not unit.discrete for unit in task.space.units])
    moving = changed & number & (kind > 1 - 0.6 * rate) & ~special(child) & ~special(own)
    child = np.where(moving, _between(task, child, own, size, moving), child)
    fresh = (kind >= 0.4 * rate) & (kind < 0.4 * rate + 0.5 / child.shape[2])
    return np.where(fresh, _values(task, size), child)


def _between(task: Task, child: Array, own: Array, size: Array, moving: Array) -> Array:
    """Numbers a random part of the way back to the query's own, or a little farther away."""
    moved = np.where(moving, child + (own - child) * (1.2 * size**2 - 0.2), 0.0)
    for place, unit in enumerate(task.space.units):
        if not unit.discrete:
            moved[:, :, place] = task.space.snap(place, moved[:, :, place])
    return moved


def _values(task: Task, luck: Array) -> Array:
    """Values seen in training, as often as they were seen."""
    found = np.empty(luck.shape)
    for place, unit in enumerate(task.space.units):
        share = np.cumsum(unit.counts) / max(1, unit.counts.sum())
        index = np.minimum(np.searchsorted(share, luck[:, :, place]), len(unit.seen) - 1)
        found[:, :, place] = unit.seen[index] if len(unit.seen) else MISSING
    return found


def _survivors(people: Generation, young: Generation) -> Generation:
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


def _fittest(task: Task, people: Generation) -> Pool:
    """Fit individuals: for each query the nearest of every set of columns, then the others."""
    query, place = np.nonzero(people.cost < UNFIT / 2)
    at, codes = people.at[query], people.codes[query, place]
    again = ~first_of_each(set_keys(task.space.changed(codes, at), at)[None])[0]
    pool = Pool(at, codes, people.progress[query, place])
    return pool.take(np.argsort(rank_within(at, again, people.cost[query, place]), kind="stable"))
