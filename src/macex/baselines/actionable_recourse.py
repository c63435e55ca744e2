"""Actionable Recourse (Ustun, Spangher, Liu, 2019): the cheapest actions of a linear model, proved.

What every action alone gains is read off the model: for a linear one gains add up. An integer
program then picks at most one action a column, so that the goal is reached at the least cost: the
share of training rows that a number passes, and 1 for a category. Numbers move on a grid of
quantiles. The proof holds for linear models of two classes, or of a number; of more classes gains
do not quite add up, so more and more is asked for until the model itself agrees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.ask.units import Unit
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.proposals import judged
from macex.engine.batch import Outcome
from macex.schema import Array, special
from macex.stages.shapes import Pool, Task

SPARE = (1e-3, 0.1, 0.5, 1.5)  # log odds to spare, tried in turn


class OfferedActions(NamedTuple):
    """Single changes of one query."""

    unit: Array  # (A,)
    value: Array  # (A,)
    gain: Array  # (A,) of progress
    cost: Array  # (A,)


class ActionableRecourse(Baseline):
    """Ustun et al.: `grid` values of each number, `values` of each category.

    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> chance = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> linear = ActionableRecourse(chance, data, classes=("no", "yes"))
    >>> linear.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "actionable recourse"
    grid = 100
    values = 32
    max_rows = 2000

    def offer(self, opened: Outcome) -> Pool:
        """The cheapest set of actions, then the cheapest of other sets of columns."""
        task = opened.task
        queries = np.flatnonzero(open_queries(opened))
        offered = self._offered(task, queries)
        pools = []
        for spare in SPARE:
            if not len(queries) or task.judge.late:
                break
            found = [_cheapest(task, int(q), offered[int(q)], spare) for q in queries]
            codes = np.concatenate([np.zeros((0, task.space.width)), *found])
            at = np.repeat(queries, [len(one) for one in found])
            pools.append(judged(task, codes, at).pool)
            queries = queries[~np.isin(queries, pools[-1].at)]
        return Pool.join(pools, task.space.width)

    def _offered(self, task: Task, queries: Array) -> dict[int, OfferedActions]:
        """What each query may do, with what it gains: a row a number, a row a category's value."""
        parts = [
            self._of_unit(task, queries, place, unit) for place, unit in enumerate(task.space.units)
        ]
        found = {}
        for line, query in enumerate(queries.tolist()):
            mine = [(p, v[line], g[line], c[line]) for p, (v, g, c) in enumerate(parts)]
            unit = np.concatenate([np.full(len(v), p) for p, v, _, _ in mine])
            value, gain, cost = (np.concatenate([one[at] for one in mine]) for at in (1, 2, 3))
            real = np.isfinite(gain) & np.isfinite(cost)
            found[query] = OfferedActions(
                unit.astype(int)[real], value[real], gain[real], cost[real]
            )
        return found

    def _of_unit(
        self, task: Task, queries: Array, place: int, unit: Unit
    ) -> tuple[Array, Array, Array]:
        """Values, gains and costs (Q, A) of one column; what is not allowed costs infinitely."""
        own = task.queries[queries, place]
        value = np.tile(self._menu(unit), (len(queries), 1))
        share = np.cumsum(unit.counts) / max(1, unit.counts.sum())
        if unit.discrete:
            cost = np.ones(value.shape)
            gain = _gains(task, queries, place, value)
        else:
            known = ~special(own)
            passed = [np.interp(v, unit.seen, share) for v in (value, np.where(known, own, 0.0))]
            cost = np.where(known[:, None], np.abs(passed[0] - passed[1][:, None]), np.inf)
            probe = _probe(task, place, np.where(known, own, unit.low))
            probe = np.where(known, probe, own)
            gap = np.where(probe != own, probe - own, np.inf)
            slope = _gains(task, queries, place, probe[:, None])[:, 0] / gap
            gain = slope[:, None] * (value - own[:, None])
        for column in range(value.shape[1]):
            fits = task.space.admits_one(queries, place, value[:, column])
            fits &= task.space.changeable[queries, place]
            cost[~fits, column] = np.inf
        return value, gain, cost

    def _menu(self, unit: Unit) -> Array:
        """The values of a column that actions may set."""
        if unit.discrete:
            return np.sort(unit.seen[np.argsort(-unit.counts, kind="stable")[: self.values]])
        if len(unit.seen) <= self.grid:
            return unit.seen
        return unit.seen[np.unique(np.linspace(0, len(unit.seen) - 1, self.grid).astype(int))]


def _probe(task: Task, place: int, own: Array) -> Array:
    """A value a quarter of the range away from the query's own, on the side with room."""
    unit = task.space.units[place]
    away = (unit.high - unit.low) / 4
    return task.space.snap(place, np.where(own + away <= unit.high, own + away, own - away))


def _gains(task: Task, queries: Array, place: int, value: Array) -> Array:
    """What setting one column gains, (Q, A)."""
    at = np.repeat(queries, value.shape[1])
    rows = task.queries[at]
    rows[:, place] = value.reshape(-1)
    asked = (rows[:, place] != task.queries[at, place]) & task.space.changeable[at, place]
    gain = np.full(len(rows), np.nan)
    verdict = task.judge(rows[asked], at[asked], probe=True)
    known = np.isfinite(verdict.progress)
    gain[np.flatnonzero(asked)[known]] = (verdict.progress - task.base[at[asked]])[known]
    return gain.reshape(value.shape)


def _cheapest(task: Task, query: int, actions: OfferedActions, spare: float) -> Array:
    """The cheapest rows (n, U) that should reach the goal, each by another set of columns."""
    found: list[Array] = []
    barred: list[Array] = []
    while len(found) < task.count and len(actions.unit):
        need = spare - task.base[query]
        most = int(task.max_changes[query])
        chosen = cheapest(actions, need, most, barred)
        if chosen is None:
            break
        row = task.queries[query].copy()
        row[actions.unit[chosen]] = actions.value[chosen]
        found.append(row)
        barred.append(np.isin(actions.unit, actions.unit[chosen]))
    return np.array(found).reshape(-1, task.space.width)


def cheapest(actions: OfferedActions, need: float, most: int, barred: list[Array]) -> Array | None:
    """The cheapest actions that gain `need`, at most `most`, one a column; None if none do.

    Each of `barred` is a set of columns, as actions (A,) bool, that may not all change again.

    >>> gain, cost = np.array([3.0, 2.0]), np.array([0.9, 0.2])
    >>> two = OfferedActions(np.array([0, 1]), np.zeros(2), gain, cost)
    >>> cheapest(two, 1.0, 2, []).tolist(), cheapest(two, 4.0, 2, []).tolist()
    ([1], [0, 1])
    >>> cheapest(two, 1.0, 2, [np.array([False, True])]).tolist()
    [0]
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    units = np.unique(actions.unit)
    one = (actions.unit == units[:, None]).astype(float)
    rules = [
        LinearConstraint(one, ub=np.ones(len(units))),
        LinearConstraint(actions.gain[None], lb=need),
        LinearConstraint(np.ones((1, len(actions.unit))), ub=most),
    ]
    rules += [
        LinearConstraint(some[None].astype(float), ub=len(np.unique(actions.unit[some])) - 1)
        for some in barred
    ]
    solved = milp(actions.cost, integrality=1, bounds=Bounds(0, 1), constraints=rules)
    return None if solved.x is None else np.flatnonzero(solved.x > 0.5)
