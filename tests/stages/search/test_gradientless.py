"""MACE-GLD: its formulas, and the lock-step held against one query at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from macex.schema import Array
from macex.stages.draws import Draws
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.shapes import Candidates, Pool, Task
from stages.worlds import space_of, task_of

NAMES = list("abcde")
DATA = pd.DataFrame({name: np.arange(12) % (place + 3) for place, name in enumerate(NAMES)})
SHORT = GradientlessSearch(rounds=3, starts=3)


def offer(task: Task, seed: int = 0) -> Candidates:
    """Up to three other values for each column, but not every query is offered all of them."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(task.space.width), 3)
    value = np.tile([0.0, 1.0, 2.0], task.space.width) + np.zeros((len(task.queries), 1))
    real = (value != task.queries[:, unit]) & (rng.random(value.shape) < 0.8)
    return Candidates(unit, value, real, real.copy())


def chance(threshold: float):
    """Columns push differently, and not in one direction.

    Scores are rounded, as models' are: the last bits of a batch are not those of a row alone.
    """
    pull = np.array([0.9, -0.7, 0.5, 0.8, -0.4])
    return lambda codes: np.round(1 / (1 + np.exp(threshold - codes @ pull)), 6)


def task_for(rows: pd.DataFrame, threshold: float, **wish) -> Task:
    return task_of(space_of(DATA, rows, **wish), chance(threshold))


def one_at_a_time(search: GradientlessSearch, task: Task, offer: Candidates, query: int) -> Pool:
    """The same algorithm for one query, number by number."""
    own, most = task.queries[query], int(task.max_changes[query])
    entries = [np.flatnonzero((offer.unit == u) & offer.real[query]) for u in range(len(own))]
    columns = [0.5] * len(own)
    values = [[0.5] * len(mine) for mine in entries]
    found: dict[tuple[float, ...], float] = {}
    for start in range(search.starts):
        if start:
            columns = [0.55 if score >= 0.5 else 0.0 for score in columns]
        reached = False
        for epoch in range(search.rounds):
            best = None
            for k in range(len(search.radii)):
                counter = (start * search.rounds + epoch) * len(search.radii) + k
                a, b = drawn(task, query, counter, columns, values, search.radii[k])
                row = example(own, offer.value[query], entries, a, b, most)
                if tuple(row) == tuple(own):
                    continue
                verdict = task.judge(row[None], np.array([query]))
                if not verdict.reached[0]:
                    continue
                reached = True
                found[tuple(row)] = float(verdict.progress[0])
                cost = float(task.measure(row[None], np.array([query]))[0])
                if best is None or cost < best[0]:
                    best = cost, a, b
            if best is not None:
                _, columns, values = best
        if not reached:
            break
    codes = np.array(list(found)).reshape(-1, len(own))
    return Pool(np.full(len(found), query), codes, np.array(list(found.values())))


def drawn(task, query, counter, columns, values, radius):
    """One point around the scores of columns and of values."""
    own = Draws(task.draws.rows[[query]], task.draws.columns)
    steps = own.normal("column", counter, 1)[0, 0]
    a = [min(max(s + radius * steps[u], 0.0), 1.0) for u, s in enumerate(columns)]
    b = [
        [
            min(max(s + radius * own.normal(f"value {i}", counter, 1)[0, 0, u], 0.0), 1.0)
            for i, s in enumerate(scores)
        ]
        for u, scores in enumerate(values)
    ]
    return a, b


def example(own, value, entries, a, b, most) -> Array:
    """The row that a point stands for."""
    chosen = [u for u in range(len(own)) if a[u] > 0.5 and len(entries[u])]
    row = own.copy()
    for u in sorted(chosen, key=lambda u: (-a[u], u))[:most]:
        row[u] = value[entries[u][int(np.argmax(b[u]))]]
    return row


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1000),
    threshold=st.floats(0, 4),
    most=st.none() | st.integers(1, 3),
)
def test_lock_step_finds_what_one_query_at_a_time_does(seed, threshold, most):
    rows = DATA.sample(4, random_state=seed, ignore_index=True)
    wish = {} if most is None else {"max_changes": most}
    task = task_for(rows, threshold, **wish)
    candidates = offer(task, seed)
    found = SHORT(task, candidates).pool
    for query in range(len(rows)):
        alone = one_at_a_time(SHORT, task, candidates, query)
        mine = found.take(found.at == query)
        assert mine.codes.tolist() == alone.codes.tolist()
        assert np.allclose(mine.progress, alone.progress)


@pytest.mark.parametrize(
    ("radius", "radii"),
    [
        ((0.0005, 0.25), [0.25 * 2.0**-k for k in range(8)]),
        ((0.1, 0.4), [0.4, 0.2]),
        ((0.1, 0.2), [0.2]),
    ],
)
def test_radii_are_halved_from_the_largest_on(radius, radii):
    assert GradientlessSearch(radius=radius).radii.tolist() == radii


@pytest.mark.parametrize("radius", [(0.0, 0.25), (0.25, 0.25), (0.2, 0.25), (0.25, 0.0005)])
def test_radii_that_leave_nothing_to_draw_are_refused(radius):
    with pytest.raises(mx.MacexError, match="radius"):
        GradientlessSearch(radius=radius)


def test_a_round_is_one_call_for_all_queries():
    task = task_for(DATA.head(5), threshold=2.0)
    SHORT(task, offer(task))
    singles = 1
    assert len(task.judge.sizes) == SHORT.rounds * SHORT.starts + singles
    assert max(task.judge.sizes[:-1]) <= 5 * len(SHORT.radii)


def test_a_start_that_reached_nothing_is_the_last():
    task = task_for(DATA.head(5), threshold=99.0)
    found = SHORT(task, offer(task))
    assert not len(found.pool)
    assert len(task.judge.sizes) == SHORT.rounds + 1


def test_further_starts_find_fewer_changes():
    rows = DATA.head(12)
    fewest = []
    for starts in (1, 3):
        task = task_for(rows, threshold=2.0)
        pool = GradientlessSearch(rounds=4, starts=starts)(task, offer(task)).pool
        changes = task.space.changed(pool.codes, pool.at).sum(axis=1)
        fewest.append([changes[pool.at == q].min() for q in np.unique(pool.at)])
    once, again = fewest
    assert all(b <= a for a, b in zip(once, again, strict=True))
    assert sum(again) < sum(once)


def test_no_more_columns_are_changed_than_a_query_may_change():
    task = task_for(DATA.head(12), threshold=1.0, max_changes=1)
    pool = SHORT(task, offer(task)).pool
    assert len(pool)
    assert task.space.changed(pool.codes, pool.at).sum(axis=1).max() == 1


def test_no_example_is_kept_twice():
    task = task_for(DATA.head(5), threshold=1.0)
    pool = GradientlessSearch()(task, offer(task)).pool
    assert len(np.unique(np.column_stack([pool.at, pool.codes]), axis=0)) == len(pool)
