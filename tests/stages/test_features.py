"""Weights times features rank rows as their distances do, on whichever columns are compared."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from macex.stages.features import Features
from macex.stages.neighbors import NeighborIndex

DISCRETE = np.array([True, False, True, False])  # narrow, number, wide, number
MATCHES = st.lists(st.booleans(), min_size=4, max_size=4).filter(any)


def binned_rows(seed: int, low: int, count: int = 60, wide: int = 10) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers([low] * 4, [3, 12, wide, 9], (count, 4)).astype(np.int8)


def index_of(binned: np.ndarray) -> NeighborIndex:
    return NeighborIndex(binned, DISCRETE, np.zeros(len(binned), int))


def gap(query, row, match) -> int:
    total = 0
    for column in np.flatnonzero(match):
        a, b = int(query[column]), int(row[column])
        if DISCRETE[column]:
            total += 2 * (a != b)
        else:
            total += (max(a, 0) - max(b, 0)) ** 2 + 25 * ((a < 0) != (b < 0))
    return total


@given(seed=st.integers(0, 10_000), match=MATCHES, low=st.sampled_from([-1, 0]))
def test_a_product_is_a_constant_of_the_query_less_the_squared_distance(seed, match, low):
    rows, queries, match = binned_rows(seed, low), binned_rows(seed + 1, -1, 5), np.array(match)
    features = Features.of(index_of(rows))
    product = features.weights(queries, match) @ features.rows(rows).T
    expected = np.array([[gap(query, row, match) for row in rows] for query in queries])
    assert np.ptp(product + expected, axis=1).tolist() == [0] * len(queries)
    others = np.broadcast_to(rows, (len(queries), *rows.shape))
    assert features.gaps(queries, others, match).tolist() == expected.tolist()


@given(seed=st.integers(0, 10_000))
def test_a_wide_column_may_seem_to_agree_but_never_to_differ(seed):
    rows, match = binned_rows(seed, 0, wide=100), np.ones(4, bool)
    rows[0, 2] = 99
    features = Features.of(index_of(rows))
    own = (features.weights(rows, match) * features.rows(rows)).sum(axis=1)
    product = features.weights(rows, match) @ features.rows(rows).T
    expected = np.array([[gap(query, row, match) for row in rows] for query in rows])
    assert (own[:, None] - product <= expected).all()
    assert features.width < 40


def test_points_are_as_far_apart_as_the_rows():
    rows = binned_rows(3, -1)
    features = Features.of(index_of(rows))
    points = features.plain(features.rows(rows))
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    expected = [[gap(one, other, np.ones(4, bool)) for other in rows] for one in rows]
    assert np.allclose(apart, expected)
    assert points.shape[1] == features.plain_width


def test_an_unknown_category_is_like_no_row_s():
    rows = binned_rows(1, 0, wide=100)
    rows[0, 2] = 99
    unknown = np.array([[-2, 0, -2, 0]], np.int8)
    features = Features.of(index_of(rows))
    weights = features.weights(unknown, np.array([True, False, True, False]))
    assert not (weights @ features.rows(rows).T).any()
