"""Feature tweaking (Tolomei, Silvestri, Haines, Lalmas, 2017): a forest's own paths as recipes.

Every leaf of every tree that votes for the goal is a recipe: the query's numbers are moved just
inside the intervals of its path, by `tolerance` of a column's range on either side of a threshold
(half of the interval where that is less), and a category that the path refuses becomes the most
frequent one that it takes. Recipes are tried against the whole forest, cheapest first.
scikit-learn's trees and forests are read, alone or after steps that encode categories and leave
numbers as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.proposals import judged, nearest_first, rows_of, snapped, steps
from macex.engine.batch import Outcome
from macex.errors import OptionError
from macex.models.trees.trace import ANY, Path, path
from macex.schema import Array, Schema
from macex.stages.arrays import distinct
from macex.stages.shapes import Pool, Task

READS = "FeatureTweak reads a DecisionTree or RandomForest of scikit-learn, alone or in a Pipeline"


class FeatureTweak(Baseline):
    """Tolomei et al.: `tolerance` is how far inside an interval a number is moved.

    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> tree = DecisionTreeClassifier().fit(data, data["hours"] > 44)
    >>> FeatureTweak(tree, data).explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "feature tweaking"
    tolerance = 0.01
    max_rows = 2000

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self._steps, self._trees = _taken_apart(model)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """The nearest recipes that the forest itself confirms."""
        task = opened.task
        if task.space.joint:
            raise OptionError("FeatureTweak knows no groups of columns that move together")
        recipes = Recipes.read(self._trees, path(opened.fitted.ground.schema, self._steps), task)
        count = rows_of(opened, self.max_rows)
        codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
        for query in np.flatnonzero(open_queries(opened)):
            voting = _voting(opened, int(query), recipes.value)
            rows = recipes.followed(task, int(query), np.flatnonzero(voting), self.tolerance)
            rows = rows[:count]
            codes.append(rows)
            at.append(np.full(len(rows), query))
        return nearest_first(task, judged(task, np.concatenate(codes), np.concatenate(at)).pool)


def _taken_apart(model: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The steps before the trees, and the trees."""
    *before, last = [step for _, step in getattr(model, "steps", [("", model)])]
    grown = [last] if hasattr(last, "tree_") else list(getattr(last, "estimators_", []))
    if not grown or not all(hasattr(one, "tree_") for one in grown) or hasattr(last, "init_"):
        raise OptionError(f"{READS}; got {type(last).__name__}")
    return tuple(before), [one.tree_ for one in grown]


def _voting(opened: Outcome, query: int, value: Array) -> Array:
    """Which leaves vote for a query's goal, (L,) bool."""
    goals = opened.goals
    if goals.by_class[query]:
        wanted: Array = goals.wanted[query][value.argmax(axis=1)]
        return wanted
    share = value if value.shape[1] == 1 else value / value.sum(axis=1, keepdims=True)
    said = share[:, goals.output[query]]
    return np.asarray((said >= goals.low[query]) & (said <= goals.high[query]))


@dataclass(frozen=True)
class Recipes:
    """All leaves (L,): what the query's row must be to end there."""

    low: Array  # (L, U) numbers are above it
    high: Array  # (L, U) numbers are at most it
    takes: dict[int, Array]  # unit -> (L, v) bool: which of its seen values
    value: Array  # (L, K) what the leaf says

    @classmethod
    def read(cls, trees: Sequence[Any], way: Path, task: Task) -> Recipes:
        """The leaves of all trees."""
        features = TreeFeatures(way, task)
        units = task.space.units
        leaves = [leaf for tree in trees for leaf in _leaves(tree)]
        low, high = np.full((len(leaves), len(units)), -np.inf), None
        high = np.full(low.shape, np.inf)
        takes = {
            place: np.ones((len(leaves), len(unit.seen)), bool)
            for place, unit in enumerate(units)
            if unit.discrete
        }
        for line, (conditions, _) in enumerate(leaves):
            for feature, threshold, left in conditions:
                place = features.unit[feature]
                if place in takes:
                    goes = features.seen[place][:, feature] <= threshold
                    takes[place][line] &= goes if left else ~goes
                elif left:
                    high[line, place] = min(high[line, place], threshold)
                else:
                    low[line, place] = max(low[line, place], threshold)
        return cls(low, high, takes, np.array([value for _, value in leaves]))

    def followed(self, task: Task, query: int, leaves: Array, tolerance: float) -> Array:
        """The query's row by each recipe (n, U), each once and cheapest first."""
        own, units = task.queries[query], task.space.units
        rows = np.repeat(own[None], len(leaves), axis=0)
        possible = np.ones(len(leaves), bool)
        for place, unit in enumerate(units):
            if place in self.takes:
                rows[:, place], fits = _category(own[place], unit, self.takes[place][leaves])
                possible &= fits
                continue
            low, high = self.low[leaves, place], self.high[leaves, place]
            step = np.minimum(tolerance * max(unit.high - unit.low, 0.0), (high - low) / 2)
            kept = np.where(own[place] > high, high - step, own[place])
            rows[:, place] = np.where(own[place] <= low, low + step, kept)
        moved = rows != own
        rows = np.where(moved, snapped(task.space, rows), rows)[possible]
        far = np.round(steps(task.space, np.broadcast_to(own, rows.shape), rows).sum(axis=1), 9)
        rows = rows[np.argsort(far, kind="stable")]
        return rows[distinct(np.zeros(len(rows)), rows)]


def _category(own: float, unit: Any, takes: Array) -> tuple[Array, Array]:
    """The query's own value where the path takes it, else the most frequent one that it takes."""
    mine = unit.seen == own
    keeps = (takes & mine).any(axis=1) if mine.any() else takes.all(axis=1)
    best = np.where(takes, unit.counts, -1).argmax(axis=1) if len(unit.seen) else 0
    other = unit.seen[best] if len(unit.seen) else np.full(len(takes), own)
    return np.where(keeps, own, other), np.asarray(keeps | takes.any(axis=1))


class TreeFeatures:
    """Which unit each feature of the trees comes from, and what seen values look like to them."""

    def __init__(self, way: Path, task: Task) -> None:
        space = task.space
        schema: Schema = way.schema
        start = np.array([c.seen[0] if len(c.seen) else 0.0 for c in schema.columns])
        self.seen: dict[int, Array] = {}
        first = way.matrix(start[None])[0]
        self.unit = np.full(len(first), -1)
        for place, unit in enumerate(space.units):
            column = unit.members[0]
            values = unit.seen if unit.discrete else np.array([unit.low, unit.high])
            rows = np.repeat(start[None], max(1, len(values)), axis=0)
            rows[: len(values), column] = values
            matrix = way.matrix(rows)
            if unit.discrete:
                self.seen[place] = matrix
                self.unit[(matrix != first).any(axis=0)] = place
                continue
            mine = [f for f, source in enumerate(_sources(way, len(first))) if source == column]
            self.unit[mine] = place
            if mine and not np.allclose(matrix[: len(values), mine], values[:, None]):
                raise OptionError(f"{READS}; column {unit.name!r} is scaled before the trees")


def _sources(way: Path, width: int) -> list[int]:
    return [ANY] * width if way.source is None else way.source


def _leaves(tree: Any) -> Iterator[tuple[list[tuple[int, float, bool]], Array]]:
    """Each leaf's conditions (feature, threshold, whether at most it) and what it says."""
    stack: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while stack:
        node, conditions = stack.pop()
        left = int(tree.children_left[node])
        if left < 0:
            yield conditions, np.asarray(tree.value[node][0], float)
            continue
        split = int(tree.feature[node]), float(tree.threshold[node])
        stack.append((int(tree.children_right[node]), [*conditions, (*split, False)]))
        stack.append((left, [*conditions, (*split, True)]))
