"""An index proposes rows; what comes of it is as near as can be, and the same in any batch."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from macex.stages.approximate import (
    FEW,
    ManyRows,
    approximate,
    arrays_of,
    recall,
    sampled,
)
from macex.stages.faiss_indexes import Lists
from macex.stages.neighbors import NeighborIndex, Side

pytest.importorskip("faiss")

COUNT, K = 30_000, 30
DISCRETE = np.array([True, False, True, False, False, False, True])
EVERY = np.ones(7, bool)
SOME = np.array([True, True, False, True, True, True, False])


def rows_of(seed: int, count: int, wide: int = 12) -> np.ndarray:
    """Rows around a few centres: categories, numbers (one often missing), a wide category."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, 10, (8, 7))[rng.integers(8, size=count)]
    rows = np.clip(centre + np.round(rng.normal(0, 1.6, (count, 7))), 0, 9)
    rows[:, 2] = rng.integers(0, wide, count)
    rows[rng.random(count) < 0.2, 4] = -1
    return rows.astype(np.int8)


def index_of(count: int) -> NeighborIndex:
    group = np.random.default_rng(1).random(count) < 0.4
    return NeighborIndex(rows_of(0, count), DISCRETE, group.astype(int))


@pytest.fixture(scope="module")
def lists():
    return approximate(index_of(COUNT), "ivf", 0, K)


@pytest.fixture(scope="module")
def graphs():
    return approximate(index_of(COUNT // 3), "hnsw", 0, K)


@pytest.fixture(params=["lists", "graphs"])
def made(request):
    return request.getfixturevalue(request.param)


def kind_of(made) -> str:
    return "ivf" if isinstance(made.finder, Lists) else "hnsw"


def goal_rows(index, label: int = 1) -> np.ndarray:
    return index.distinct[index.group[index.distinct] == label]


@pytest.mark.parametrize("match", [EVERY, SOME], ids=["all columns", "some columns"])
def test_nearly_all_of_the_true_nearest_rows_are_found(made, match):
    sample = sampled(made, rows_of(5, 200), goal_rows(made.index), K, match)
    assert recall(made, [sample], K) >= 0.99


def test_the_recall_measured_while_building_is_that_of_other_rows(made):
    sample = sampled(made, rows_of(6, 200), goal_rows(made.index, 0), K)
    assert made.recall >= 0.998
    assert abs(made.recall - recall(made, [sample], K)) < 0.02


@pytest.mark.parametrize("match", [EVERY, SOME], ids=["all columns", "some columns"])
def test_a_query_alone_finds_what_it_finds_among_others(made, match):
    queries = rows_of(7, 300)
    side = made.side(goal_rows(made.index), match)
    together = made.nearest(queries, side, K)
    for size in (1, 19, 64):
        parts = [made.nearest(queries[at : at + size], side, K) for at in range(0, 60, size)]
        for whole, pieces in zip(together, zip(*parts, strict=True), strict=True):
            alone = np.concatenate(pieces)
            assert np.array_equal(whole[: len(alone)], alone)


def test_rows_found_meet_the_goal_and_differ_from_the_query_and_each_other(made):
    queries = made.index.binned[goal_rows(made.index, 0)[:100]]
    rows, real = made.nearest(queries, made.side(goal_rows(made.index), EVERY), K)
    assert real.all()
    assert (made.index.group[rows] == 1).all()
    for query, mine in zip(queries, made.index.binned[rows], strict=True):
        assert len(np.unique(np.vstack([query[None], mine]), axis=0)) == K + 1


def test_nearer_rows_come_first_and_equally_near_ones_in_the_order_of_training(made):
    queries = rows_of(8, 50)
    rows, _ = made.nearest(queries, made.side(goal_rows(made.index), EVERY), K)
    gaps = made.features.gaps(queries, made.index.binned[rows], EVERY)
    step = np.diff(gaps, axis=1)
    assert (step >= 0).all()
    assert (np.diff(rows, axis=1)[step == 0] > 0).all()


def test_building_twice_or_reading_again_makes_the_same_index(made):
    queries, goal = rows_of(9, 40), goal_rows(made.index)
    first = made.nearest(queries, made.side(goal, EVERY), K)
    again = approximate(made.index, kind_of(made), 0, K)
    read = approximate(made.index, kind_of(made), 0, K, arrays_of(made))
    shipped = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own bytes
    for other in (again, read, shipped):
        assert other.recall == made.recall
        found = other.nearest(queries, other.side(goal, EVERY), K)
        assert all(map(np.array_equal, first, found))


def test_what_was_kept_of_other_rows_is_refused(made):
    fewer = index_of(5000)
    with pytest.raises(ValueError, match=r"do(es)? not fit the training rows"):
        approximate(fewer, kind_of(made), 0, K, arrays_of(made))


def test_few_rows_are_all_compared(made):
    some = goal_rows(made.index)[:FEW]
    assert isinstance(made.side(some, EVERY), Side)
    assert approximate(made.index, "auto", 0, K) is None
    assert approximate(made.index, "exact", 0, K) is None


def test_rows_that_agree_on_the_compared_columns_count_once(lists):
    two = np.array([False, True, False, False, False, True, False])
    side = lists.side(goal_rows(lists.index), two)
    assert isinstance(side, Side)
    assert len(side.rows) <= 100
    assert isinstance(lists.side(goal_rows(lists.index), SOME), ManyRows)


def test_graphs_are_walked_only_where_most_rows_meet_the_goal(graphs):
    goal = goal_rows(graphs.index)
    assert isinstance(graphs.side(goal[::3], EVERY), Side)
    assert isinstance(graphs.side(goal, SOME), Side)
    assert isinstance(graphs.side(goal[5:], EVERY), ManyRows)


def test_a_column_of_many_categories_is_told_apart_in_the_end():
    group = np.zeros(COUNT, int)
    index = NeighborIndex(rows_of(2, COUNT, wide=120), DISCRETE, group)
    made = approximate(index, "ivf", 0, K)
    sample = sampled(made, rows_of(3, 100, wide=120), index.distinct, K)
    assert made.features.wide.tolist() == [False, False, True, False, False, False, False]
    assert recall(made, [sample], K) >= 0.99


@pytest.mark.parametrize("bins", [180, 1000, 5000])
@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_many_bins_need_more_than_a_byte_and_are_found_as_well(kind, bins):
    rng = np.random.default_rng(4)
    binned = rng.integers(0, bins, (6000, 3)).astype(np.int16)
    index = NeighborIndex(binned, np.zeros(3, bool), np.zeros(len(binned), int))
    made = approximate(index, kind, 0, K)
    sample = sampled(made, rng.integers(0, bins, (100, 3)).astype(np.int16), index.distinct, K)
    assert recall(made, [sample], K) >= 0.99
    assert made.finder.look < 1000 or kind == "ivf"


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_recall_is_of_as_many_rows_as_there_are(kind):
    index = index_of(4000)
    made = approximate(index, kind, 0, 3000)
    assert len(goal_rows(index)) < 3000
    assert made.recall >= 0.99


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_the_number_of_threads_changes_nothing(kind):
    faiss = pytest.importorskip("faiss")
    index, threads, found = index_of(6000), faiss.omp_get_max_threads(), []
    try:
        for count in (1, 3):
            faiss.omp_set_num_threads(count)
            made = approximate(index, kind, 0, K)
            rows, _ = made.nearest(rows_of(9, 200), made.side(goal_rows(index), EVERY), K)
            found.append({**arrays_of(made), "rows": rows})
    finally:
        faiss.omp_set_num_threads(threads)
    assert found[0].keys() == found[1].keys()
    assert all(np.array_equal(found[0][part], found[1][part]) for part in found[0])
