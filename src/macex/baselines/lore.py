"""LORE (Guidotti et al., 2018): a tree on a bred neighbourhood, and its counterfactual rules.

Two populations are bred around the query: near rows that the model decides alike, and near rows
that reach the goal. A decision tree is fitted on both. Each of its leaves that reaches the goal is
a rule; those come first of whose conditions the query breaks the fewest. The publication returns
the rules; here each is made a row, which takes the broken conditions' columns from the nearest
neighbour in the leaf, and is asked about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.breeding import Generation, draw, mutated, scored, survivors
from macex.baselines.embedding import RowEmbedding
from macex.baselines.proposals import judged, ranked, rows_of, seen_values, steps
from macex.engine.batch import Outcome
from macex.schema import Array
from macex.stages.shapes import Pool, Task

SAME = 1.0  # what standing on the wrong side costs, in the greatest distance there is
RULES = 20  # leaves that are made rows


class Lore(Baseline):
    """Guidotti et al.: `population` rows on each side, bred for `generations`.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> lore = Lore(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> [change.column for change in lore.explain(data.iloc[[20]])[0].counterfactuals[0].changes]
    ['hours']
    """

    name = "lore"
    population = 200
    generations = 5
    max_rows = 2500

    def offer(self, opened: Outcome) -> Pool:
        """A row for each rule, those with the fewest changes first."""
        task = opened.task
        at = np.flatnonzero(open_queries(opened))
        if not len(at):
            return Pool.empty(task.space.width)
        rows = rows_of(opened, self.max_rows) - RULES
        count = int(np.clip(rows // (2 * (self.generations + 1)), 5, self.population))
        sides = [self._neighbours(task, at, count, reached=reached) for reached in (False, True)]
        proposed = [
            _rules(
                task, RowEmbedding.of(opened), int(query), [_line(side, place) for side in sides]
            )
            for place, query in enumerate(at)
        ]
        codes = np.concatenate(proposed)
        whose = np.repeat(at, [len(one) for one in proposed])
        return ranked(task, judged(task, codes, whose).pool)

    def _neighbours(self, task: Task, at: Array, count: int, *, reached: bool) -> Generation:
        """Near rows on one side of the goal."""
        name = "lore goal" if reached else "lore own"
        share = draw(task, at, f"{name} share", 0, count)[:, :, :1]
        taken = draw(task, at, f"{name} taken", 0, count) < share
        values = seen_values(task.space, draw(task, at, f"{name} value", 0, count))
        people = _valued(task, at, np.where(taken, values, task.queries[at][:, None]), reached)
        for turn in range(1, self.generations + 1):
            if task.judge.late:
                break
            young = _valued(task, at, _bred(task, people, turn, name), reached)
            people = survivors(people, young)
        return people


def _line(people: Generation, place: int) -> tuple[Array, Array]:
    """The rows of one query that the model was asked about, and whether they reach the goal."""
    known = np.isfinite(people.progress[place])
    return people.codes[place][known], people.progress[place][known] > 0


def _valued(task: Task, at: Array, codes: Array, reached: bool) -> Generation:
    """Rows with what they cost: their distance, and more on the wrong side or without a change."""
    people = scored(task, at, codes)
    width = task.space.width
    owner = np.repeat(at, codes.shape[1])
    rows = people.codes.reshape(-1, width)
    far = steps(task.space, task.queries[owner], rows).mean(axis=1).reshape(people.cost.shape)
    wrong = (people.progress > 0) != reached
    still = (people.codes == task.queries[at][:, None]).all(axis=2)
    return people._replace(cost=far + SAME * wrong + SAME * still)


def _bred(task: Task, people: Generation, turn: int, name: str) -> Array:
    at, count = people.at, people.codes.shape[1]
    lines = np.arange(len(at))[:, None]
    mother, father = (
        people.codes[
            lines, (draw(task, at, f"{name} {who}", turn, count)[:, :, 0] ** 2 * count).astype(int)
        ]
        for who in ("mother", "father")
    )
    gene = draw(task, at, f"{name} gene", turn, count) < 0.5
    return mutated(task, people, np.where(gene, father, mother), turn, name)


def _rules(
    task: Task, embedding: RowEmbedding, query: int, sides: list[tuple[Array, Array]]
) -> Array:
    """Rows that break with the fewest conditions of leaves that reach the goal, (n, U)."""
    from sklearn.tree import DecisionTreeClassifier

    rows = np.concatenate([side[0] for side in sides])
    reached = np.concatenate([side[1] for side in sides])
    if not reached.any() or reached.all():
        return np.zeros((0, task.space.width))
    points, owner = embedding(rows), embedding.unit_of
    tree = DecisionTreeClassifier(random_state=0).fit(points, reached)
    own = embedding(task.queries[[query]])[0]
    leaf = tree.apply(points)
    found = []
    for node, units in broken_conditions(tree.tree_, own, owner).items():
        mine = np.flatnonzero((leaf == node) & reached)
        if len(mine):
            far = steps(
                task.space, np.broadcast_to(task.queries[query], rows[mine].shape), rows[mine]
            ).sum(axis=1)
            row = task.queries[query].copy()
            row[units] = rows[mine[np.argmin(np.round(far, 9))]][units]
            found.append((len(units), float(far.min()), row))
    found.sort(key=lambda one: one[:2])
    return np.array([row for _, _, row in found[:RULES]]).reshape(-1, task.space.width)


def broken_conditions(tree: Any, point: Array, owner: Array) -> dict[int, list[int]]:
    """For each leaf the columns, by `owner` of the features, whose conditions a point breaks."""
    found: dict[int, list[int]] = {}
    stack: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while stack:
        node, broken = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            found[node] = sorted(broken)
            continue
        goes_left = point[tree.feature[node]] <= tree.threshold[node]
        more = broken | {int(owner[tree.feature[node]])}
        stack.append((left, broken if goes_left else more))
        stack.append((right, more if goes_left else broken))
    return found
