"""Stage 1 by hand: Algorithm 1 on a tiny table, and what the domain offers beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.ask.space import Space
from macex.ask.units import unit_codes
from macex.errors import OptionError
from macex.schema import MISSING
from macex.stages import candidates as stage
from macex.stages.candidates import Both, Domain, Near, Neighbors, led, offer, popular, remaining
from stages.worlds import offered, space_of

# query: b=5 (bin 0), c=x, z=10 (bin 0); its neighbours that meet the goal below it
TABLE = pd.DataFrame(
    {
        "z": [10, 20, 20, 30, 30, 30],
        "b": [5, 5, 7, 8, 9, 50],
        "c": ["x", "y", "y", "x", "w", "w"],
    }
)


def near_of(space: Space, rows: pd.DataFrame, bins: dict[str, list[float]]) -> Near:
    """Neighbours as they stand in `rows`; numbers in bins with these inner edges."""
    codes = space.ground.schema.read(rows).codes
    values = unit_codes(space.units, codes)[None].repeat(len(space), axis=0)

    def binned(table: np.ndarray) -> np.ndarray:
        found = table.astype(int)
        for place, unit in enumerate(space.units):
            if unit.name in bins:
                found[..., place] = np.searchsorted(bins[unit.name], table[..., place], "right")
        return np.where(table == MISSING, -1, found)

    real = np.ones(values.shape[:2], bool)
    return Near(values, binned(values), binned(space.queries), real)


EDGES = {"b": [6.0, 8.5, 10.0], "z": [15.0, 25.0]}


def by_algorithm_1(columns: int = 10, values: int = 3, **wish) -> dict[str, list[float]]:
    space = space_of(TABLE, **wish)
    near = near_of(space, TABLE.iloc[1:], EDGES)
    return offered(space, offer(Neighbors(columns=columns, values=values), space, near))


def test_algorithm_1_by_hand():
    # b: bin 0 is the query's own, bin 1 has 7 and 8, bins 2 and 3 have 9 and 50
    # c: w twice, y twice, x is the query's own; z: 30 three times, 20 twice
    assert by_algorithm_1() == {"b": [7.0, 9.0, 50.0], "c": [0.0, 2.0], "z": [30.0, 20.0]}


def test_the_columns_in_which_most_neighbours_differ_come_first_and_ties_go_by_name():
    # z differs in five neighbours, b and c in four each
    assert set(by_algorithm_1(columns=1)) == {"z"}
    assert set(by_algorithm_1(columns=2)) == {"b", "z"}
    assert set(by_algorithm_1(columns=3)) == {"b", "c", "z"}


def test_the_most_frequent_values_come_first_and_ties_go_to_the_nearer():
    assert by_algorithm_1(values=1) == {"b": [7.0], "c": [0.0], "z": [30.0]}
    assert by_algorithm_1(values=2)["b"] == [7.0, 9.0]


def test_only_values_that_may_be_set_are_counted():
    assert by_algorithm_1(ranges={"b": (None, 8)})["b"] == [7.0]
    assert by_algorithm_1(decrease=["z"]).get("z") is None
    assert by_algorithm_1(allowed={"c": ["w"]})["c"] == [0.0]


def test_columns_that_may_not_change_are_reasons_but_take_no_place_of_others():
    """Of ten columns to change, none may be lost to columns that are fixed."""
    space = space_of(TABLE, fixed=["z"])
    near = near_of(space, TABLE.iloc[1:], EDGES)
    candidates = offer(Neighbors(columns=2), space, near)
    changeable = candidates.real & candidates.allowed
    names = {space.units[u].name for u in candidates.unit[changeable[0]]}
    assert names == {"b", "c"}


def test_neighbours_that_are_not_real_do_not_count():
    space = space_of(TABLE)
    near = near_of(space, TABLE.iloc[1:], EDGES)
    only_first = near._replace(real=np.arange(5)[None] < 1)
    found = offered(space, offer(Neighbors(), space, only_first))
    assert found == {"c": [2.0], "z": [20.0]}


def test_a_query_without_neighbours_gets_the_domain():
    space = space_of(TABLE)
    near = near_of(space, TABLE.iloc[1:], EDGES)
    none = near._replace(real=np.zeros((1, 5), bool))
    found = offered(space, offer(Neighbors(), space, none))
    assert {name: sorted(values) for name, values in found.items()} == {
        "b": [7, 8, 9, 50],
        "c": [0, 2],
        "z": [20, 30],
    }


@given(
    bins=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    usable=st.lists(st.booleans(), min_size=9, max_size=9),
    count=st.integers(1, 5),
    own=st.integers(0, 9),
)
def test_popular_counts_bins_and_offers_their_median(bins, usable, count, own):
    values = [b * 2 + (i % 2) for i, b in enumerate(bins)]
    open_ = usable[: len(bins)]
    picked, real, total = popular(
        np.array([bins]),
        np.array([values], dtype=float),
        np.array([open_]),
        np.array([float(own)]),
        count,
    )
    groups: dict[int, list[int]] = {}
    for b, value, ok in zip(bins, values, open_, strict=True):
        if ok:
            groups.setdefault(b, []).append(value)
    medians = [(-len(g), sorted(g)[(len(g) - 1) // 2]) for g in groups.values()]
    best = sorted(medians, key=lambda m: (m[0], abs(m[1] - own), m[1]))[:count]
    assert picked[0][real[0]].tolist() == [value for _, value in best]
    assert total[0] == sum(open_)


def whole_domain(data: pd.DataFrame, **wish) -> dict[str, list[float]]:
    space = space_of(data, **wish)
    return offered(space, offer(Domain(), space, None))


def test_the_domain_offers_every_seen_value_but_the_query_s_own():
    assert whole_domain(TABLE) == {"b": [7, 8, 9, 50], "c": [0, 2], "z": [20, 30]}


def wide(columns: int, rows: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({f"x{i:03}": rng.permutation(rows) for i in range(columns)})


@pytest.mark.parametrize(("columns", "most"), [(1, 24), (10, 24), (40, 10), (300, 2)])
def test_the_rungs_of_a_ladder_grow_fewer_with_more_columns(columns, most):
    space = space_of(wide(columns))
    choice = Domain(categories=32, quantiles=24, rows=400)
    found = offered(space, offer(choice, space, None))
    assert len(found) == columns
    assert {len(values) for values in found.values()} <= {most, most - 1}
    assert sum(map(len, found.values())) <= max(400, 2 * columns)


def test_a_ladder_is_spread_evenly_over_the_rows_and_has_both_ends():
    space = space_of(wide(1), wide(1).iloc[[3]])
    (values,) = offered(space, offer(Domain(categories=32, quantiles=24), space, None)).values()
    assert (values[0], values[-1]) == (0, 599)
    assert np.diff(values).min() >= 20
    assert np.diff(values).max() <= 55


def test_the_numbers_beside_the_query_s_own_are_offered_once():
    data = pd.DataFrame({"x": np.arange(0, 1000, 10)})
    space = space_of(data, pd.DataFrame({"x": [500, 503, 0]}))
    plain, choice = Domain(quantiles=2), Domain(quantiles=2, beside=4)
    for query, near in enumerate(
        [
            [490, 480, 460, 420, 510, 520, 540, 580],
            [500, 490, 470, 430, 510, 520, 540, 580],
            [10, 20, 40, 80],
        ]
    ):
        few = offered(space, offer(plain, space, None), query)["x"]
        many = offered(space, offer(choice, space, None), query)["x"]
        assert many == few + near


def test_numbers_beside_the_query_s_own_stay_within_its_range():
    data = pd.DataFrame({"x": np.arange(100)})
    space = space_of(data, data.iloc[[50]], ranges={"x": (48, 52)})
    found = offered(space, offer(Domain(quantiles=2, beside=3), space, None))["x"]
    assert sorted(found) == [48, 49, 51, 52]


def test_a_ladder_stands_within_the_query_s_own_range():
    data = wide(1)
    space = space_of(data, data.iloc[[0, 1]], ranges={"x000": (100, 130)})
    candidates = offer(Domain(categories=32, quantiles=24), space, None)
    for query in (0, 1):
        (values,) = offered(space, candidates, query).values()
        assert (min(values), max(values)) == (100, 130)
        assert len(set(values)) == len(values) >= 23


def many_categories(count: int) -> pd.DataFrame:
    names = [f"n{i:05}" for i in range(count)]
    often = ["n00007"] * 50 + ["n00003"] * 40
    return pd.DataFrame({"c": names + often, "x": np.arange(count + 90) % 9})


def test_a_column_of_10000_categories_offers_no_more_than_a_narrow_one():
    data = many_categories(10_000)
    space = space_of(data)
    near = near_of(space, data.iloc[5000:5030], {"x": [3.0, 6.0]})
    found = offered(space, offer(Both(), space, near))["c"]
    assert len(found) <= 32 + 3
    assert found[:2] == [7.0, 3.0]  # the most frequent first
    assert len(set(found)) == len(found)


def test_both_offers_no_value_twice():
    space = space_of(TABLE)
    near = near_of(space, TABLE.iloc[1:], EDGES)
    found = offered(space, offer(Both(), space, near))
    assert all(len(set(values)) == len(values) for values in found.values())
    assert {name: sorted(values) for name, values in found.items()} == {
        "b": [7, 8, 9, 50],
        "c": [0, 2],
        "z": [20, 30],
    }


def test_where_rows_are_short_the_nearest_row_leads_and_then_what_goes_its_way():
    data = pd.DataFrame({"c": list("abab"), "x": [1.0, 4.0, 6.0, 9.0], "y": [9.0, 5.0, 3.0, 1.0]})
    space = space_of(data, rows=data.iloc[[1, 1]])
    near = near_of(space, data.iloc[[2]], {})
    found = offer(Domain(), space, near)
    other = led(space, near, found, np.array([True, False]))
    query, entry = np.nonzero(other.real)
    order = np.lexsort((other.turns(query, entry), query))
    names = [space.units[unit].name for unit in other.unit[entry]]
    tried = [(int(query[k]), names[k], float(other.value[query[k], entry[k]])) for k in order]
    first = [line[1:] for line in tried if line[0] == 0]
    assert first == [
        ("c", 0.0),
        ("x", 6.0),
        ("y", 3.0),
        ("x", 9.0),
        ("y", 1.0),
        ("x", 1.0),
        ("y", 9.0),
    ]
    at, place = np.nonzero(found.real)
    kept = np.lexsort((found.turns(at, place), at))
    before = [float(found.value[at[k], place[k]]) for k in kept if at[k] == 1]
    assert [line[2] for line in tried if line[0] == 1] == before  # who can pay has what it had


def test_repeats_are_found_unit_by_unit_as_all_at_once(monkeypatch):
    data = wide(4)
    space = space_of(data, rows=data.head(5))
    near = near_of(space, data.iloc[:6], {})
    found = offer(Both(), space, near)
    monkeypatch.setattr("macex.stages.spread.AT_ONCE", 0)
    again = offer(Both(), space, near)
    assert found.real.sum() < found.real.size
    assert np.array_equal(found.real, again.real)
    assert np.array_equal(found.value, again.value)


def test_the_ends_of_a_range_are_offered_though_never_seen():
    data = pd.DataFrame({"x": [1.5, 2.5, 7.5, 9.5], "y": list("abab")})
    found = whole_domain(data, ranges={"x": (2.0, 8.0)})
    assert sorted(found["x"]) == [2.0, 2.5, 7.5, 8.0]
    one_way = whole_domain(data, increase=["x"])
    assert sorted(one_way["x"]) == [2.5, 7.5, 9.5]


def test_ends_between_two_grid_points_move_inward():
    data = pd.DataFrame({"x": [1.5, 2.5, 7.5, 9.5], "y": list("abab")})
    found = whole_domain(data, ranges={"x": (2.26, 7.84)})
    assert sorted(found["x"]) == [2.3, 2.5, 7.5, 7.8]


@pytest.mark.parametrize("choice", [Both().domain, Domain(categories=2, quantiles=2)])
def test_what_remains_and_what_was_given_are_all_seen_values_once(choice):
    data = wide(3, rows=200).assign(c=[f"n{i % 60:02}" for i in range(200)])
    rows = data.iloc[[0, 5, 9]]
    space = space_of(data, rows, ranges={"x001": (20, 150)}, fixed=["x002"])
    given_ = offer(choice, space, None)
    open_ = np.array([True, True, False])
    rest, complete = remaining(space, open_, given_)
    assert complete.all()
    for query in (0, 1):
        both = offered(space, given_.join(rest), query)
        own = dict(zip(["c", "x000", "x001"], space.queries[query], strict=False))
        assert sorted(both["x000"]) == [v for v in range(200) if v != own["x000"]]
        assert sorted(both["x001"]) == [v for v in range(20, 151) if v != own["x001"]]
        assert sorted(both["c"]) == [v for v in range(60) if v != own["c"]]
        assert "x002" not in both
    assert not rest.real[2].any()


def test_a_column_with_too_many_values_is_not_completed_and_says_so():
    data = many_categories(400)
    space = space_of(data)
    given_ = offer(Both().domain, space, None)
    rest, complete = remaining(space, np.ones(1, bool), given_)
    assert not complete[0]
    assert set(offered(space, rest)) <= {"x"}
    fixed = space_of(data, fixed=["c"])
    assert remaining(fixed, np.ones(1, bool), offer(Both().domain, fixed, None))[1].all()


def test_a_query_with_too_many_values_in_all_is_not_completed(monkeypatch):
    space = space_of(wide(3, rows=200), wide(3, rows=200).iloc[[0, 1]])
    given_ = offer(Domain(categories=32, quantiles=24), space, None)
    monkeypatch.setattr(stage, "MOST_REMAINING", 500)
    rest, complete = remaining(space, np.ones(2, bool), given_)
    assert not complete.any()
    assert not rest.real.any()


def test_the_whole_domain_has_nothing_remaining():
    space = space_of(many_categories(400))
    given_ = offer(Domain(), space, None)
    rest, complete = remaining(space, np.ones(1, bool), given_)
    assert given_.exact
    assert complete.all()
    assert not rest.real.any()


@pytest.mark.parametrize("wrong", [{"k": 0}, {"columns": -1}, {"values": 1.5}, {"bins": True}])
def test_counts_are_whole_numbers(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Neighbors(**wrong)


def test_match_is_one_of_two_words():
    with pytest.raises(OptionError, match="changeable"):
        Neighbors(match="some")


@pytest.mark.parametrize("choice", [Domain(), Both().domain, Domain(categories=2, quantiles=3)])
@pytest.mark.parametrize("wish", [{}, {"fixed": ["c"]}, {"only": ["z", "c"]}])
def test_a_spread_that_nothing_bounds_is_the_one_that_wide_bounds_leave(choice, wish):
    wide = {"ranges": {"z": (0, 100)}}  # binds nothing, but no longer unbounded
    free, bounded = space_of(TABLE, TABLE, **wish), space_of(TABLE, TABLE, **wish, **wide)
    assert free.plain
    assert not bounded.plain
    assert offered(free, offer(choice, free, None)) == offered(
        bounded, offer(choice, bounded, None)
    )
