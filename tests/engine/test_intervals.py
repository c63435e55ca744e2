"""Intervals by hand: which points are tested, and what is said of the run that holds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from macex.engine.intervals import BACK, POINTS, GridLine, Probes, TestedRun, probe
from macex.stages.shapes import Pool
from stages.worlds import space_of, task_of

DATA = pd.DataFrame({"c": list("ab") * 50, "x": range(100)})
FREE = SimpleNamespace(late=False, capped=False)


def probed(
    own: int, after: int, holds, judge=FREE, data=DATA, changes=("x",), stable=False, **wish
):
    """The probes of one example whose x went from `own` to `after`, and its span."""
    query = data.head(1).assign(x=own)
    space = space_of(data, query.astype(data.dtypes), **wish)
    task = task_of(space, lambda codes: np.ones(len(codes)))
    task = replace(task, band=np.ones(1)) if stable else task
    codes = space.queries.copy()
    codes[0, 1] = after
    if "c" in changes:
        codes[0, 0] = 1 - codes[0, 0]
    pool = Pool(np.zeros(1, np.intp), codes, np.ones(1))
    probes = probe(task, judge, pool, np.array([0]))
    values = probes.codes[:, 1]
    reached = np.array([bool(holds(value)) for value in values], dtype=bool)
    spans = [span for _, span in probes.spans(space, reached)]
    return values.tolist(), spans[0] if spans else None


DENSE = POINTS // 2  # neighbours on the grid, where not all can be tested


def test_one_step_back_then_neighbours_then_wider_strides_to_the_end():
    values, _ = probed(10, 40, lambda x: x >= 40)
    assert values[0] == 39
    assert values[1 : 1 + DENSE] == list(range(41, 41 + DENSE))
    assert len(values) == 1 + POINTS
    assert values[-1] == 99
    assert np.ptp(np.diff(values[DENSE:])) <= 1


def test_downward_is_the_mirror_of_upward():
    up, span = probed(10, 40, lambda x: 40 <= x <= 43)
    down, mirrored = probed(89, 59, lambda x: 56 <= x <= 59)
    assert np.allclose(99 - np.array(down), up, atol=1)  # halves are rounded to even
    assert [99 - v for v in down[:DENSE]] == up[:DENSE]
    assert (99 - mirrored.high, 99 - mirrored.low) == span[:2]
    assert mirrored[2:] == span[2:]


def test_a_run_that_ends_among_the_neighbours_is_exact():
    assert probed(10, 40, lambda x: 40 <= x <= 43)[1] == TestedRun(40, 43, 1 + 1 + POINTS, True)
    assert probed(10, 40, lambda x: x == 40)[1] == TestedRun(40, 40, 1 + 1 + POINTS, True)


def test_a_run_that_goes_on_past_the_neighbours_is_not_exact():
    low, high, _, exact = probed(10, 40, lambda x: 40 <= x <= 70)[1]
    assert (low, exact) == (40, False)
    assert 46 <= high <= 70
    assert probed(10, 40, lambda x: x >= 40)[1][:2] == (40, 99)


def test_up_to_24_neighbours_are_all_tested_and_a_failing_one_among_them_ends_the_run():
    near_the_end = 99 - 24
    values, span = probed(10, near_the_end, lambda x: x >= near_the_end)
    assert values[1:] == list(range(near_the_end + 1, 100))
    assert span == TestedRun(near_the_end, 99, 26, True)
    for fails in (near_the_end + 8, near_the_end + 13):
        span = probed(10, near_the_end, lambda x, fails=fails: x >= near_the_end and x != fails)[1]
        assert span == TestedRun(near_the_end, fails - 1, 26, True)


def test_off_the_edge_the_end_toward_the_query_is_looked_for():
    values, span = probed(10, 40, lambda x: 37 <= x <= 43, stable=True)
    assert len(values) == BACK + POINTS - 1  # the last one back is the query's own
    assert span[:2] == (37, 43)
    assert span.exact
    assert probed(10, 40, lambda x: 14 <= x <= 43, stable=True)[1].exact is False
    assert probed(35, 40, lambda x: 36 <= x <= 43, stable=True)[1][:2] == (36, 43)
    assert probed(35, 40, lambda x: 36 <= x <= 43, stable=True)[1].exact


def test_a_gap_ends_the_run_though_points_beyond_it_hold():
    assert probed(10, 40, lambda x: x >= 40 and x != 43)[1][:2] == (40, 42)


def test_a_step_back_that_holds_belongs_to_the_run_and_leaves_its_end_open():
    low, high, _, exact = probed(10, 40, lambda x: 38 <= x <= 43)[1]
    assert (low, high, exact) == (39, 43, False)


def test_near_the_end_every_point_is_tested_and_the_end_is_exact():
    values, span = probed(10, 92, lambda x: x >= 92)
    assert values == [91, 93, 94, 95, 96, 97, 98, 99]
    assert span == TestedRun(92, 99, 9, True)
    assert probed(10, 99, lambda x: x >= 99)[1] == TestedRun(99, 99, 2, True)


def test_a_step_away_the_query_s_own_value_closes_the_run():
    values, span = probed(39, 40, lambda x: 40 <= x <= 42)
    assert 39 not in values
    assert span == TestedRun(40, 42, 1 + POINTS, True)


def test_beside_other_changes_the_query_s_own_value_might_hold_so_nothing_is_exact():
    _, span = probed(39, 40, lambda x: 40 <= x <= 42, changes=("x", "c"))
    assert span[:2] == (40, 42)
    assert not span.exact


def test_an_interval_stays_within_the_range_that_may_be_set():
    values, span = probed(10, 40, lambda x: x >= 40, ranges={"x": (None, 45)})
    assert max(values) == 45
    assert span == TestedRun(40, 45, 7, True)
    values, span = probed(10, 40, lambda x: True, ranges={"x": (40, 45)})
    assert (min(values), max(values)) == (41, 45)
    assert span == TestedRun(40, 45, 6, True)


def test_only_allowed_values_are_tested():
    values, span = probed(10, 40, lambda x: x >= 40, allowed={"x": [40, 41, 42, 60]})
    assert set(values) <= {41, 42, 60}
    assert span[:2] == (40, 42)


def test_without_a_grid_points_are_even_and_nothing_is_exact():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"c": list("ab") * 50, "x": rng.normal(0, 1, 100) * np.pi})
    high = data["x"].max()
    values, span = probed(0.0, high / 2, lambda x: x >= high / 2, data=data)
    assert len(values) == 1 + POINTS
    assert np.allclose(np.diff(values[1:]), high / 2 / POINTS)
    assert span.high == high
    assert not span.exact


def test_categories_and_blanks_have_no_interval():
    data = DATA.assign(x=[np.nan, *map(float, range(99))])
    assert probed(np.nan, 40, lambda x: True, data=data) == ([], None)


@pytest.mark.parametrize(("left", "paid"), [(POINTS, False), (POINTS + 1, True)])
def test_a_query_that_cannot_pay_has_no_interval(left, paid):
    judge = SimpleNamespace(
        late=False, capped=True, limit=np.array([50]), spent=np.array([50 - left])
    )
    assert bool(probed(10, 40, lambda x: x >= 40, judge=judge)[0]) == paid


def test_the_answers_of_several_lines_are_not_mixed_up():
    def line(unit: int, points: list[float], fresh: list[bool]) -> GridLine:
        one = np.array
        padded = points + [points[-1]] * (1 + POINTS - len(points))
        new = fresh + [False] * (1 + POINTS - len(fresh))
        return GridLine(
            unit,
            one([7]),
            one([5.0]),
            one([padded]),
            one([new]),
            one([[False]]),
            one([[1, POINTS]]),
            one([points[-1]]),
            1,
        )

    lines = [line(0, [4.0, 6.0, 7.0], [True] * 3), line(1, [4.0, 6.0], [False, True])]
    probes = Probes(np.zeros((4, 2)), np.full(4, 7), lines)
    space = SimpleNamespace(units=[SimpleNamespace(members=(3,)), SimpleNamespace(members=(2,))])
    found = list(probes.spans(space, np.array([False, True, False, True])))
    assert found == [
        ((7, 3), TestedRun(5.0, 6.0, 4, True)),
        ((7, 2), TestedRun(5.0, 6.0, 2, False)),
    ]
