"""A far neighbour is stripped to the changes it needs, in few calls, alone or in a batch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.stages.search.nearest_row import NearestRow
from stages.worlds import space_of, task_of

WIDTH = 40
NAMES = [f"x{i:02}" for i in range(WIDTH)]
DATA = pd.DataFrame({name: [0, 1, 0, 1] for name in NAMES})


def stripped(needed: list[list[int]], **wish):
    """One query of zeros for each list; the goal is reached when all its units are 1."""
    queries = DATA.iloc[[0] * len(needed)].copy()
    marks = np.arange(len(needed))
    queries["x39"] = marks * 100  # tells the queries apart

    def chance(codes: np.ndarray) -> np.ndarray:
        owner = np.where(codes[:, 39] >= 2, codes[:, 39] // 100, 0).astype(int)
        ok = [codes[i, needed[q]].all() for i, q in enumerate(owner)]
        return np.where(ok, 0.9, 0.1)

    space = space_of(DATA, queries, **{"fixed": ["x39"], **wish})
    task = task_of(space, chance)
    near = np.ones((len(needed), 1, WIDTH))
    pool = NearestRow()(task, near, np.ones((len(needed), 1), bool))
    changed = [np.flatnonzero(line).tolist() for line in space.changed(pool.codes, pool.at)]
    return dict(zip(pool.at.tolist(), changed, strict=True)), task.judge.sizes


@pytest.mark.parametrize("needed", [[0], [38], [19, 20], [3, 17, 30], [0, 1, 2, 3]])
def test_what_stays_of_a_neighbour_is_what_is_needed(needed):
    found, sizes = stripped([needed])
    assert found == {0: needed}
    assert len(sizes) <= 20
    assert sum(sizes) <= 250


@settings(max_examples=15)
@given(
    needed=st.lists(
        st.lists(st.integers(0, 38), min_size=1, max_size=3, unique=True).map(sorted),
        min_size=2,
        max_size=4,
    )
)
def test_a_batch_strips_each_as_if_alone(needed):
    together, _ = stripped(needed)
    alone, _ = stripped(needed[:1])
    assert together[0] == alone[0]
    assert together == dict(enumerate(needed))


def test_values_that_may_not_be_set_are_left_as_they_are():
    found, _ = stripped([[5, 9]], fixed=["x39", *NAMES[20:30]])
    assert found == {0: [5, 9]}
    assert stripped([[5, 25]], fixed=["x39", "x25"])[0] == {}


def test_more_changes_than_allowed_are_no_answer():
    assert stripped([[1, 2, 3]], max_changes=2)[0] == {}
    assert stripped([[1, 2]], max_changes=2)[0] == {0: [1, 2]}


def test_no_neighbour_no_answer():
    space = space_of(DATA)
    task = task_of(space, lambda codes: codes[:, 0])
    pool = NearestRow()(task, np.ones((1, 3, WIDTH)), np.zeros((1, 3), bool))
    assert len(pool) == 0
    assert task.judge.sizes == []
