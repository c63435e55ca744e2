"""Stage 3 on hand-made lists: Algorithm 3 as printed, and the default."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.errors import OptionError
from macex.stages.selection import Ranking, Selection, shortlist
from macex.stages.shapes import Pool
from stages.worlds import space_of, task_of


def table(*changes: str, units: str = "abcd") -> np.ndarray:
    return np.array([[unit in change for unit in units] for change in changes])


def chosen(selection: Selection, changes: list[str], count: int) -> list[str]:
    order = np.arange(len(changes))
    return [changes[i] for i in selection(order, table(*changes), count)]


def test_the_printed_rule_passes_over_columns_used_k_times():
    ranked = ["a", "a", "ab", "b", "a", "c"]
    assert chosen(Selection(uses=1, printed=True), ranked, 3) == ["a", "b", "c"]
    assert chosen(Selection(uses=2, printed=True), ranked, 3) == ["a", "a", "b"]
    assert chosen(Selection(uses=3, printed=True), ranked, 5) == ["a", "a", "ab", "b", "c"]


def test_the_printed_rule_rejects_nothing_when_k_is_what_is_wanted():
    assert chosen(Selection(uses=3, printed=True), ["a", "a", "a", "b"], 3) == ["a", "a", "a"]


def test_the_printed_rule_is_not_relaxed():
    assert chosen(Selection(uses=1, printed=True), ["a", "ab", "ac"], 3) == ["a"]


def test_the_default_takes_the_best_of_each_set():
    assert Selection()(np.arange(4), table("a", "a", "b", "b"), 2) == [0, 2]
    assert Selection()(np.array([3, 1, 0, 2]), table("a", "a", "b", "b"), 2) == [3, 1]


def test_the_default_prefers_columns_not_used_and_then_relaxes():
    ranked = ["a", "ab", "bc", "d"]
    assert chosen(Selection(), ranked, 3) == ["a", "bc", "d"]
    assert chosen(Selection(), ranked, 4) == ranked
    assert chosen(Selection(uses=2), ranked, 3) == ["a", "ab", "bc"]


def test_where_the_fewest_are_wanted_no_set_is_larger_than_it_takes():
    def fewest(ranked: list[str], count: int) -> list[str]:
        found = Selection()(np.arange(len(ranked)), table(*ranked), count, fewest=True)
        return [ranked[i] for i in found]

    assert fewest(["ab", "ac", "bc", "acd"], 3) == ["ab", "ac", "bc"]
    assert fewest(["ab", "ac", "bcd"], 3) == ["ab", "ac", "bcd"]
    assert fewest(["ab", "ac", "cd"], 2) == ["ab", "cd"]


def test_where_the_fewest_are_wanted_a_set_that_holds_another_comes_last():
    ranked = ["a", "ab", "ac", "bcd"]
    order = np.arange(len(ranked))
    assert Selection()(order, table(*ranked), 2, fewest=True) == [0, 3]
    assert Selection()(order, table(*ranked), 3, fewest=True) == [0, 1, 3]


def test_a_set_is_given_once_though_more_are_wanted():
    assert chosen(Selection(), ["a", "a", "a"], 3) == ["a"]


def test_what_is_chosen_is_given_best_first():
    ranked = ["ab", "ac", "d", "bc"]
    assert chosen(Selection(), ranked, 3) == ["ab", "ac", "d"]


@given(
    changes=st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=9),
    count=st.integers(1, 6),
    uses=st.integers(1, 3),
    printed=st.booleans(),
)
def test_no_example_is_chosen_twice_and_the_best_is_always_chosen(changes, count, uses, printed):
    named = ["".join(sorted(change)) for change in changes]
    places = Selection(uses, printed)(np.arange(len(named)), table(*named), count)
    assert len(set(places)) == len(places) <= count
    assert places[0] == 0
    if not printed:
        assert places == sorted(places)
        assert len({named[i] for i in places}) == len(places) == min(count, len(set(named)))
    else:
        used = table(*named)[places].sum(axis=0)
        assert used.max() <= uses


def test_uses_is_a_whole_number():
    with pytest.raises(OptionError, match="uses"):
        Selection(uses=0)


DATA = pd.DataFrame({name: [0.0, 1.0, 2.0, 3.0, 4.0] for name in "abcd"})


def pool_task(rows: list[list[float]], at=None, prefer="fewest", count=1, progress=None):
    """Examples of queries at (0, 0, 0, 0); every unit of change is 1 / 2."""
    at = np.zeros(len(rows), np.intp) if at is None else np.array(at)
    queries = DATA.iloc[[0] * (int(at.max()) + 1)]
    task = task_of(space_of(DATA, queries), lambda c: np.full(len(c), 0.9), prefer, count)
    given_ = np.zeros(len(rows)) if progress is None else np.array(progress)
    return task, Pool(at, np.array(rows, dtype=float), given_)


ROWS = [
    [3, 0, 0, 0],  # 0
    [1, 0, 0, 0],  # 1
    [2, 0, 0, 0],  # 2
    [0, 4, 0, 0],  # 3
    [0, 0, 1, 1],  # 4
]


def test_the_shortlist_has_the_nearest_few_of_each_set():
    task, pool = pool_task(ROWS, count=3)
    assert shortlist(task, pool, sets=5, each=2).tolist() == [1, 2, 3, 4]
    assert shortlist(task, pool, sets=5, each=1).tolist() == [1, 3, 4]


def test_the_best_sets_have_few_changes_then_little_distance():
    task, pool = pool_task(ROWS, count=3)
    assert shortlist(task, pool, sets=1, each=1).tolist() == [1]
    assert shortlist(task, pool, sets=2, each=1).tolist() == [1, 3]
    task, pool = pool_task(ROWS, count=3, prefer="nearest")
    assert shortlist(task, pool, sets=2, each=1).tolist() == [1, 4]
    task, pool = pool_task(ROWS, count=3, prefer="surest", progress=[0, 0, 3, 1, 2])
    assert shortlist(task, pool, sets=2, each=1).tolist() == [2, 4]


def test_where_one_is_wanted_only_the_fewest_changes_are_worth_it():
    task, pool = pool_task(ROWS)
    assert shortlist(task, pool, sets=5, each=5).tolist() == [0, 1, 2, 3]


def test_every_query_has_a_shortlist_of_its_own():
    task, pool = pool_task(ROWS + ROWS, at=[0] * 5 + [1] * 5, count=3)
    assert shortlist(task, pool, sets=2, each=1).tolist() == [1, 3, 6, 8]


def test_an_empty_pool_has_an_empty_shortlist():
    task, _ = pool_task(ROWS)
    assert shortlist(task, Pool.empty(4), 3).tolist() == []
    assert Ranking.of(task, Pool.empty(4)).order_with(np.zeros(0)).tolist() == []


@pytest.mark.parametrize(
    ("prefer", "expected"),
    [("fewest", [1, 2, 0, 3, 4]), ("nearest", [1, 4, 2, 0, 3]), ("surest", [4, 3, 1, 2, 0])],
)
def test_ranks_follow_what_is_preferred(prefer, expected):
    rows = [*ROWS[:4], [0, 0, 0.5, 1]]
    task, pool = pool_task(rows, prefer=prefer, progress=[1, 1, 1, 2, 3])
    assert Ranking.of(task, pool).order_with(np.full(5, np.nan)).tolist() == expected


def test_an_implausible_example_comes_after_plausible_ones_of_its_size():
    task, pool = pool_task(ROWS)
    usual = np.array([0.9, 0.01, 0.5, 0.05, 0.9])
    assert Ranking.of(task, pool).order_with(usual).tolist() == [2, 0, 3, 1, 4]


def test_ties_are_broken_by_values_in_the_order_of_names():
    task, pool = pool_task([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    assert Ranking.of(task, pool).order_with(np.ones(3)).tolist() == [2, 0, 1]
    turned = pool.take(np.array([2, 0, 1]))
    assert Ranking.of(task, turned).order_with(np.ones(3)).tolist() == [0, 1, 2]
