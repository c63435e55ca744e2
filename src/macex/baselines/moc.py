"""MOC (Dandl, Molnar, Binder, Bischl, 2020): four objectives at once, by NSGA-II (Deb, 2002).

What is to be small: how far the goal is missed, the distance to the query (Gower's), the number of
changed columns, and the distance to the nearest training row. Candidates are sorted into fronts
that nobody else dominates, and within a front those in sparsely settled regions come first. Of the
last generation's first front those that reach the goal are returned, the fewest changes first.
"""

from __future__ import annotations

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.breeding import UNFIT, Generation, draw, mutated, scored
from macex.baselines.embedding import RowEmbedding
from macex.baselines.proposals import ranked, rows_of, seen_values, steps
from macex.engine.batch import Outcome
from macex.schema import Array, row_keys
from macex.stages.arrays import first_of_each
from macex.stages.shapes import Pool, Task

OBSERVED = 200  # training rows that candidates are held against
FAR = 1e3  # a miss that is not known


class Moc(Baseline):
    """Dandl et al.: `population` candidates, bred for at most `generations`.

    The publication starts with changes weighed by how much a column matters alone; here columns are
    drawn alike.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> moc = Moc(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> moc.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "moc"
    population = 20
    generations = 175
    max_rows = 3520

    def offer(self, opened: Outcome) -> Pool:
        """The first front's answers."""
        task = opened.task
        at = np.flatnonzero(open_queries(opened))
        if not len(at):
            return Pool.empty(task.space.width)
        observed = RowEmbedding.of(opened).rows
        observed = observed[:: max(1, len(observed) // OBSERVED)]
        people = scored(task, at, _born(task, at, self.population))
        aims = _aims(task, people, observed)
        rounds = min(self.generations, rows_of(opened, self.max_rows) // self.population - 1)
        for turn in range(1, rounds + 1):
            if task.judge.late:
                break
            young = scored(task, at, _bred(task, people, aims, turn))
            people, aims = _kept(people, aims, young, _aims(task, young, observed))
        best = (fronts(aims) == 0) & (people.cost < UNFIT / 2)
        query, place = np.nonzero(best)
        pool = Pool(at[query], people.codes[query, place], people.progress[query, place])
        return ranked(task, pool.take((pool.codes != task.queries[pool.at]).any(axis=1)))


def _born(task: Task, at: Array, count: int) -> Array:
    """Mixtures (Q, P, U) of each query with values seen in training."""
    share = draw(task, at, "moc share", 0, count)[:, :, :1]
    taken = draw(task, at, "moc taken", 0, count) < share
    values = seen_values(task.space, draw(task, at, "moc value", 0, count))
    return np.where(taken, values, task.queries[at][:, None])


def _aims(task: Task, people: Generation, observed: Array) -> Array:
    """The four objectives of all candidates, (Q, P, 4)."""
    shape = people.cost.shape
    rows, owner = people.codes.reshape(-1, task.space.width), np.repeat(people.at, shape[1])
    miss = np.where(np.isfinite(people.progress), np.maximum(0, -people.progress), FAR)
    miss = np.where(people.cost < UNFIT / 2, 0.0, np.maximum(miss, 1e-4))
    own = steps(task.space, task.queries[owner], rows).mean(axis=1).reshape(shape)
    changes = task.space.changed(rows, owner).sum(axis=1).reshape(shape)
    real = _nearest(task, rows, observed).reshape(shape)
    return np.round(np.stack([miss, own, changes, real], axis=2), 6)


def _nearest(task: Task, rows: Array, observed: Array) -> Array:
    """Gower's distance to the nearest observed row."""
    found = np.full(len(rows), np.inf)
    for one in observed:
        here = steps(task.space, np.broadcast_to(one, rows.shape), rows).mean(axis=1)
        found = np.minimum(found, here)
    return found


def dominated_by(aims: Array) -> Array:
    """Who dominates whom: (Q, P, P), entry (i, j) if j is as good in all and better in one.

    >>> dominated_by(np.array([[[1.0, 2.0], [2.0, 2.0], [2.0, 1.0]]]))[0].astype(int).tolist()
    [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    """
    mine, theirs = aims[:, :, None], aims[:, None]
    return np.asarray((theirs <= mine).all(axis=3) & (theirs < mine).any(axis=3))


def fronts(aims: Array) -> Array:
    """The front of each candidate, (Q, P): 0 for those that nobody dominates, and so on.

    >>> fronts(np.array([[[1.0, 2.0], [2.0, 2.0], [3.0, 3.0], [2.0, 1.0]]])).tolist()
    [[0, 1, 2, 0]]
    """
    beaten = dominated_by(aims)
    front = np.full(aims.shape[:2], -1)
    level = 0
    while (front < 0).any():
        left = front < 0
        free = np.asarray(left & ~(beaten & left[:, None]).any(axis=2))
        front[free] = level
        level += 1
    return front


def crowding(aims: Array, front: Array) -> Array:
    """How much room each candidate has on its front, (Q, P), infinite at the ends of an objective.

    >>> line = np.array([[[0.0, 4.0], [1.0, 3.0], [2.0, 1.0], [4.0, 0.0]]])
    >>> crowding(line, fronts(line)).round(2).tolist()
    [[inf, 1.25, 1.5, inf]]
    """
    found = np.zeros(front.shape)
    for aim in range(aims.shape[2]):
        values = aims[:, :, aim]
        order = np.lexsort((values, front), axis=1)
        ranked_values = np.take_along_axis(values, order, axis=1)
        levels = np.take_along_axis(front, order, axis=1)
        room = np.full(values.shape, np.inf)
        inner = (levels[:, 2:] == levels[:, 1:-1]) & (levels[:, :-2] == levels[:, 1:-1])
        gap = ranked_values[:, 2:] - ranked_values[:, :-2]
        room[:, 1:-1] = np.where(inner, gap, np.inf)
        wide = values.max(axis=1, keepdims=True) - values.min(axis=1, keepdims=True)
        back = np.empty_like(room)
        np.put_along_axis(back, order, room, axis=1)
        found += np.divide(back, wide, out=np.where(np.isinf(back), back, 0.0), where=wide > 0)
    return found


def _bred(task: Task, people: Generation, aims: Array, turn: int) -> Array:
    """Offspring: of two candidates the better twice, crossed uniformly, then mutated."""
    at, count = people.at, people.codes.shape[1]
    order = np.lexsort((-crowding(aims, front := fronts(aims)), front), axis=1)
    place = np.argsort(order, axis=1)
    lines = np.arange(len(at))[:, None]

    def parent(name: str) -> Array:
        luck = draw(task, at, f"moc {name}", turn, count)
        pair = [(luck[:, :, i % luck.shape[2]] * count).astype(int) for i in (0, 1)]
        if luck.shape[2] == 1:  # one column has one draw
            pair[1] = (luck[:, ::-1, 0] * count).astype(int)
        first, second = (np.take_along_axis(place, one, axis=1) for one in pair)
        return people.codes[lines, np.where(first <= second, *pair)]

    gene = draw(task, at, "moc gene", turn, count) < 0.5
    child = np.where(gene, parent("mother"), parent("father"))
    return mutated(task, people, child, turn, "moc")


def _kept(
    people: Generation, aims: Array, young: Generation, theirs: Array
) -> tuple[Generation, Array]:
    """The best of parents and offspring by front, then by room; each row once."""
    count = people.codes.shape[1]
    parts = [np.concatenate(pair, axis=1) for pair in zip(people[1:], young[1:], strict=True)]
    both = np.concatenate([aims, theirs], axis=1)
    keys = row_keys(parts[0].reshape(-1, parts[0].shape[2])).reshape(both.shape[:2])
    again = ~first_of_each(keys)
    front = fronts(np.where(again[:, :, None], np.inf, both))
    finite = np.where(again[:, :, None], FAR, both)
    order = np.lexsort((-crowding(finite, front), front, again), axis=1)[:, :count]
    codes = np.take_along_axis(parts[0], order[:, :, None], axis=1)
    cost, progress = (np.take_along_axis(part, order, axis=1) for part in parts[1:])
    aims = np.take_along_axis(both, order[:, :, None], axis=1)
    return Generation(people.at, codes, cost, progress), aims
