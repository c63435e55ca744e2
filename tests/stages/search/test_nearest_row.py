"""A far neighbour is stripped to the changes it needs, in few calls, alone or in a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.stages.search.nearest_row import NearestRow
from macex.stages.search.reduction import halved
from macex.stages.search.reduction import stripped as without_needless
from macex.stages.shapes import Pool, Task
from stages.worlds import space_of, task_of

WIDTH = 40
NAMES = [f"x{i:02}" for i in range(WIDTH)]
DATA = pd.DataFrame({name: [0, 1, 0, 1] for name in NAMES})
Sets = dict[int, list[list[int]]]


def task_for(needed: list[list[int]], slope: float = 0.0, **wish) -> Task:
    """A query of zeros for each list; its goal is reached when all these units are 1.

    With a slope each of them alone shows in the score. The last column tells queries apart.
    """
    queries = DATA.iloc[[0] * len(needed)].assign(x39=np.arange(len(needed)) * 100)

    def chance(codes: np.ndarray) -> np.ndarray:
        owner = (codes[:, 39] // 100).astype(int)
        share = np.array([codes[i, needed[query]].mean() for i, query in enumerate(owner)])
        return np.where(share == 1, 0.9, 0.1 + slope * share)

    return task_of(space_of(DATA, queries, **{"fixed": ["x39"], **wish}), chance)


def sets_of(task: Task, pool: Pool) -> Sets:
    """The changed units of every example, by query."""
    found: Sets = {}
    for query, line in zip(pool.at, task.space.changed(pool.codes, pool.at), strict=True):
        found.setdefault(int(query), []).append(np.flatnonzero(line).tolist())
    return found


def stripped(task: Task) -> Sets:
    """From neighbours that differ in all units but the last."""
    codes = task.queries.copy()
    codes[:, :39] = 1
    pool = Pool(np.arange(len(codes)), codes, np.full(len(codes), 0.4))
    return sets_of(task, without_needless(task, pool))


def answered(task: Task) -> Sets:
    near, real = np.ones((len(task.queries), 1, WIDTH)), np.ones((len(task.queries), 1), bool)
    return sets_of(task, NearestRow()(task, near, real, np.zeros(task.queries.shape)))


@pytest.mark.parametrize("needed", [[0], [38], [19, 20], [3, 17, 30], [0, 1, 2, 3]])
def test_what_stays_of_a_neighbour_is_what_is_needed(needed):
    task = task_for([needed])
    assert stripped(task) == {0: [needed]}
    assert len(task.judge.sizes) <= 20
    assert sum(task.judge.sizes) <= 250


@pytest.mark.parametrize("needed", [[0], [19, 20], [3, 17, 30]])
def test_every_way_to_a_sparse_example_ends_in_what_is_needed(needed):
    task = task_for([needed], slope=0.1)
    assert all(found == needed for found in answered(task)[0])
    assert len(task.judge.sizes) <= 24


@pytest.mark.parametrize("way", [stripped, answered])
@settings(max_examples=15)
@given(
    needed=st.lists(
        st.lists(st.integers(0, 38), min_size=1, max_size=3, unique=True).map(sorted),
        min_size=2,
        max_size=4,
    )
)
def test_a_batch_strips_each_as_if_alone(way: Callable[[Task], Sets], needed):
    together = way(task_for(needed))
    assert together[0] == way(task_for(needed[:1]))[0]
    assert {query: min(found, key=len) for query, found in together.items()} == dict(
        enumerate(needed)
    )


def test_values_that_may_not_be_set_are_left_as_they_are():
    found = answered(task_for([[5, 9]], fixed=["x39", *NAMES[20:30]]))
    assert min(found[0], key=len) == [5, 9]
    assert all(not set(range(20, 30)) & set(units) for units in found[0])
    assert answered(task_for([[5, 25]], fixed=["x39", "x25"])) == {}


def test_more_changes_than_allowed_are_no_answer():
    assert answered(task_for([[1, 2, 3]], max_changes=2)) == {}
    assert [1, 2] in answered(task_for([[1, 2]], max_changes=2))[0]


def test_no_neighbour_no_answer():
    task = task_for([[1]])
    pool = NearestRow()(task, np.ones((1, 3, WIDTH)), np.zeros((1, 3), bool), np.zeros((1, WIDTH)))
    assert len(pool) == 0
    assert task.judge.sizes == []


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("needed", [2, 3, 17, 38, 39])
def test_a_path_is_halved_to_its_shortest_beginning_that_reaches_the_goal(needed, known):
    task = task_for([list(range(needed))])
    steps = np.arange(WIDTH)
    paths = np.where(steps <= steps[:, None], 1.0, 0.0)[None, :39]
    paths[:, :, 39] = task.queries[0, 39]
    progress = np.array([0.4 if known else -np.inf])
    ends = Pool(np.zeros(1, int), paths[:, -1], progress)
    found = halved(task, ends, paths, np.array([39]))
    assert sets_of(task, found) == {0: [list(range(needed))]}
    assert sum(task.judge.sizes) <= 7  # the end, and the halves of 38


def test_a_path_that_leads_nowhere_is_given_up_after_one_row():
    task = task_for([[0, 38]])
    paths = np.tile(task.queries[0], (1, 5, 1))
    unknown = Pool(np.zeros(1, int), task.queries, np.array([-np.inf]))
    assert len(halved(task, unknown, paths, np.array([5]))) == 0
    assert task.judge.sizes == [1]
