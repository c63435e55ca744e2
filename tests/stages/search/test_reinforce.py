"""Algorithm 2 after learning: both greedy paths, and what joins E."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import macex as mx
from macex.stages.search.options import UnitValues, options_of
from macex.stages.search.reinforce import PolicyPlan, Reinforce, _printed_path, _scored_path
from macex.stages.shapes import Candidates, Pool, Task
from stages.worlds import space_of, task_of

NAMES = list("abcde")
DATA = pd.DataFrame({name: np.arange(12) % (place + 3) for place, name in enumerate(NAMES)})
PULL = np.array([0.9, -0.7, 0.5, 0.8, -0.4])


def task_for(seed: int, threshold: float, **wish: Any) -> Task:
    rows = DATA.sample(4, random_state=seed, ignore_index=True)

    def score(codes):  # rounded, as the judge does: a batch has other last bits than a row alone
        return np.round(1 / (1 + np.exp(threshold - codes @ PULL)), 9)

    return task_of(space_of(DATA, rows, **wish), score)


def offer(task: Task) -> Candidates:
    unit = np.repeat(np.arange(task.space.width), 4)
    value = np.tile([0.0, 1.0, 2.0, 3.0], task.space.width) + np.zeros((len(task.queries), 1))
    real = value != task.queries[:, unit]
    return Candidates(unit, value, real, real.copy())


def plan_of(task: Task, options: UnitValues, seed: int, columns: int = 4) -> PolicyPlan:
    """A policy as it might have been learnt."""
    rng = np.random.default_rng(seed)
    p = np.where(options.open, rng.random(options.open.shape), 0.0)
    values = np.where(options.real, rng.random(options.real.shape), 0.0)
    place = np.argsort(np.argsort(-p, axis=1), axis=1)
    top = (place < columns) & options.open
    most = np.minimum(columns, task.max_changes)
    return PolicyPlan(p, values, place, top, values.argmax(axis=2), most)


def stepwise(
    task: Task, options: UnitValues, plan: PolicyPlan, query: int, values: int
) -> list[float]:
    """The scored path of one query, row by row; an empty list if it does not arrive."""
    row = task.queries[query].copy()
    left = [int(u) for u in np.argsort(plan.place[query]) if plan.top[query, u]]
    for _ in range(int(plan.most[query])):
        tried = []
        for u in left:
            offered = np.flatnonzero(options.real[query, u])
            likeliest = offered[np.argsort(-plan.values[query, u, offered], kind="stable")]
            for option in likeliest[:values]:
                changed = row.copy()
                changed[u] = options.value[query, u, option]
                verdict = task.judge(changed[None], np.array([query]))
                tried.append((float(verdict.progress[0]), u, changed, bool(verdict.reached[0])))
        if not tried:
            break
        _, unit, row, reached = max(tried, key=lambda one: one[0])
        left.remove(unit)
        if reached:
            return row.tolist()
    return []


def in_order(task: Task, options: UnitValues, plan: PolicyPlan, query: int) -> list[float]:
    """Step 5 as printed, for one query."""
    row = task.queries[query].copy()
    for u in np.argsort(plan.place[query])[: int(plan.most[query])]:
        if plan.top[query, u]:
            row[u] = options.value[query, u, plan.best[query, u]]
            if task.judge(row[None], np.array([query])).reached[0]:
                return row.tolist()
    return []


def of_query(pool: Pool, query: int) -> list[float]:
    """The one example that a query has on a path, if any."""
    mine = pool.codes[pool.at == query]
    assert len(mine) <= 1
    return mine[0].tolist() if len(mine) else []


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), threshold=st.floats(0, 5), most=st.none() | st.integers(1, 3))
@example(seed=455, threshold=0.625, most=None)
def test_both_paths_are_those_of_one_query_at_a_time(seed, threshold, most):
    task = task_for(seed, threshold, **({} if most is None else {"max_changes": most}))
    options = options_of(task, offer(task))
    plan = plan_of(task, options, seed)
    scored, printed = _scored_path(task, options, plan), _printed_path(task, options, plan)
    for query in range(len(task.queries)):
        assert of_query(scored, query) == stepwise(task, options, plan, query, values=2)
        assert of_query(printed, query) == in_order(task, options, plan, query)


def test_a_step_of_the_scored_path_is_one_call_of_two_values_a_column():
    task = task_for(0, threshold=99.0)
    options = options_of(task, offer(task))
    _scored_path(task, options, plan_of(task, options, 0, columns=3))
    assert task.judge.sizes == [4 * 2 * 3, 4 * 2 * 2, 4 * 2 * 1]


def test_the_printed_path_is_one_call():
    task = task_for(0, threshold=99.0)
    options = options_of(task, offer(task))
    _printed_path(task, options, plan_of(task, options, 0, columns=3))
    assert task.judge.sizes == [4 * 3]


@pytest.mark.parametrize("path", ["scored", "printed"])
def test_without_singles_only_they_are_missing(path):
    pools = []
    for singles in (True, False):
        task = task_for(3, threshold=1.0)
        pool = Reinforce(path=path, singles=singles, epochs=2)(task, offer(task)).pool
        changes = task.space.changed(pool.codes, pool.at).sum(axis=1)
        found = zip(pool.at.tolist(), pool.codes.tolist(), changes.tolist(), strict=True)
        pools.append({(at, tuple(row), size) for at, row, size in found})
    more, fewer = pools
    assert fewer < more
    assert {size for _, _, size in more - fewer} == {1}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [({"path": "greedy"}, "'scored' or 'printed'"), ({"singles": 1}, "True or False")],
)
def test_a_wrong_option_names_what_is_right(wrong, hint):
    with pytest.raises(mx.MacexError, match=hint):
        Reinforce(**wrong)
