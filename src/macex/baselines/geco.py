"""GeCo (Schleich, Geng, Zhang, Suciu, 2021): a genetic search that starts from single changes.

The first candidates change one column each, to values seen in training. Every generation pairs are
crossed, by taking the changes of both, and one more column of others is changed. Candidates that
reach the goal are ranked by their distance, before all others, which are ranked by the model's
score. A query is done when its best candidates reach the goal and a generation brings none better.
"""

from __future__ import annotations

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.breeding import UNFIT, Generation, draw, fittest, scored, survivors
from macex.baselines.proposals import rows_of, seen_values
from macex.engine.batch import Outcome
from macex.schema import Array
from macex.stages.shapes import Pool, Task


class GeCo(Baseline):
    """Schleich et al.: `population` candidates (fewer where rows are short), `generations` at most.

    The publication also lets users constrain how columns move together; here the constraints of the
    explainer do.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> bred = GeCo(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> bred.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "geco"
    population = 100
    generations = 20
    max_rows = 2500

    def offer(self, opened: Outcome) -> Pool:
        """Those that reach the goal: of every set of changed columns the nearest first."""
        task = opened.task
        at = np.flatnonzero(open_queries(opened))
        if not len(at):
            return Pool.empty(task.space.width)
        count = int(np.clip(rows_of(opened, self.max_rows) // 6, 8, self.population))
        people = scored(task, at, _singles(task, at, 2 * count))
        people = survivors(people, _first(people, count))
        pools = []
        for turn in range(1, self.generations + 1):
            if task.judge.late or not len(people.at):
                break
            young = scored(task, people.at, _bred(task, people, turn, count))
            before, people = people, _first(survivors(people, young), count)
            done = _settled(before, people, task.count) | task.judge.ran_out[people.at]
            pools.append(fittest(task, _of(people, done)))
            people = _of(people, ~done)
        return Pool.join([*pools, fittest(task, people)], task.space.width)


def _of(people: Generation, which: Array) -> Generation:
    return Generation(*(part[which] for part in people))


def _first(people: Generation, count: int) -> Generation:
    return Generation(people.at, *(part[:, :count] for part in people[1:]))


def _settled(before: Generation, after: Generation, count: int) -> Array:
    """Queries whose best candidates reach the goal and are those of the generation before."""
    same = (before.codes[:, :count] == after.codes[:, :count]).all(axis=(1, 2))
    settled: Array = same & (after.cost[:, :count] < UNFIT / 2).all(axis=1)
    return settled


def _singles(task: Task, at: Array, count: int) -> Array:
    """Rows (Q, count, U) with one column changed, every column in turn that may change."""
    free = task.space.changeable[at]
    order = np.argsort(~free, axis=1, kind="stable")
    turn = np.arange(count)[None] % np.maximum(1, free.sum(axis=1))[:, None]
    unit = np.take_along_axis(order, turn, axis=1)
    return _changed(task, at, task.queries[at][:, None], unit, "geco first", 0)


def _changed(task: Task, at: Array, rows: Array, unit: Array, stream: str, turn: int) -> Array:
    """Rows (Q, P, U) with the column `unit` (Q, P) set to a value seen in training."""
    values = seen_values(task.space, draw(task, at, stream, turn, unit.shape[1]))
    chosen = np.arange(task.space.width) == unit[:, :, None]
    return np.where(chosen, values, rows)


def _bred(task: Task, people: Generation, turn: int, count: int) -> Array:
    """Offspring (Q, P, U): the changes of two, or one change more."""
    at, lines = people.at, np.arange(len(people.at))[:, None]
    luck, other = (draw(task, at, f"geco {name}", turn, count) for name in ("mother", "father"))
    mother, father = (
        people.codes[lines, (part[:, :, 0] ** 2 * people.codes.shape[1]).astype(int)]
        for part in (luck, other)
    )
    own = task.queries[at][:, None]
    either = draw(task, at, "geco gene", turn, count) < 0.5
    both = np.where((father != own) & ((mother == own) | either), father, mother)
    fresh = task.space.changeable[at][:, None] & (mother == own)
    worth = np.where(fresh, draw(task, at, "geco column", turn, count), -1.0)
    more = _changed(task, at, mother, worth.argmax(axis=2), "geco value", turn)
    crossed = (np.arange(count) % 2 == 0)[None, :, None]
    return np.where(crossed, both, more)
