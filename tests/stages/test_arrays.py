"""The array operations do what a few lines of plain Python do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from macex.stages.arrays import (
    among_highest,
    counted,
    distinct,
    first_of_each,
    highest,
    rank_within,
    set_keys,
)

few = st.integers(0, 4)  # small numbers, so that ties are the rule
tables = arrays(int, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=few)


@given(table=tables, count=st.integers(1, 12), gaps=st.booleans(), small=st.sampled_from([0, 99]))
def test_the_highest_come_first_and_ties_keep_their_order(table, count, gaps, small):
    """Small tables are sorted, larger ones are cut first."""
    table = np.where(table == 0, -np.inf, table) if gaps else table.astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("macex.stages.arrays.SMALL", small)
        found, among = highest(table, count).tolist(), among_highest(table, count).tolist()
    for line, first, chosen in zip(table.tolist(), found, among, strict=True):
        assert first == sorted(range(len(line)), key=lambda i: (-line[i], i))[:count]
        assert [i for i, one in enumerate(chosen) if one] == sorted(first)


@given(table=tables, small=st.sampled_from([0, 99]))
def test_a_count_is_that_of_true_entries(table, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("macex.stages.arrays.SMALL", small)
        assert counted(table > 1).tolist() == [sum(k > 1 for k in line) for line in table.tolist()]


@given(keys=tables)
def test_a_key_is_first_where_it_did_not_stand_before(keys):
    expected = [[k not in line[:i] for i, k in enumerate(line)] for line in keys.tolist()]
    assert first_of_each(keys).tolist() == expected


@given(entries=st.lists(st.tuples(few, few, few), max_size=20))
def test_a_rank_counts_those_before_in_the_group(entries):
    group, first, second = (np.array([e[i] for e in entries], dtype=int) for i in range(3))
    expected = [
        sum(
            (other[1:], j) < (entry[1:], i)
            for j, other in enumerate(entries)
            if other[0] == entry[0]
        )
        for i, entry in enumerate(entries)
    ]
    assert rank_within(group, first, second).tolist() == expected


@given(rows=tables, at=st.data())
def test_distinct_keeps_the_first_of_equal_rows_of_a_query(rows, at):
    owner = np.array(at.draw(st.lists(few, min_size=len(rows), max_size=len(rows))), dtype=np.intp)
    lines = [(int(q), *row) for q, row in zip(owner, rows.tolist(), strict=True)]
    expected = [i for i, line in enumerate(lines) if line not in lines[:i]]
    assert distinct(owner, rows.astype(float)).tolist() == expected


def test_zero_has_no_sign():
    assert distinct(np.zeros(2, np.intp), np.array([[0.0], [-0.0]])).tolist() == [0]


def small_sets(width: int) -> np.ndarray:
    members = [c for size in (0, 1, 2) for c in combinations(range(width), size)]
    changed = np.zeros((len(members), width), bool)
    for line, units in enumerate(members):
        changed[line, list(units)] = True
    return changed


@pytest.mark.parametrize("width", [1, 8, 9, 64, 65, 130])
def test_every_set_has_a_key_of_its_own(width):
    keys = set_keys(small_sets(width))
    assert len(np.unique(keys)) == len(keys)


@pytest.mark.parametrize("width", [8, 40, 64])
def test_keys_stay_apart_with_the_number_of_a_query_mixed_in(width):
    keys = set_keys(small_sets(width)) & ~np.uint64(0x7FF << 40)
    assert len(np.unique(keys)) == len(keys)


@given(changed=arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_equal_sets_have_equal_keys_whatever_stands_around_them(changed):
    keys = set_keys(changed)
    assert set_keys(changed[::-1]).tolist() == keys[::-1].tolist()
    expected = len({tuple(line) for line in changed.tolist()})
    assert len(np.unique(keys)) == expected
