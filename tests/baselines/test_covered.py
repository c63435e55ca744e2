"""AReS and GLOBE-CE flip what they say, and a plan flips at least as many rows."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from cohort.town import NO, YES, explainer, merit, refused, town
from macex.baselines import ares, globe_ce
from macex.baselines.covered import greedy

FREE = mx.Constraints(fixed=["gender", "age"], ranges={"income": (None, 80), "debt": (5, None)})


@pytest.mark.parametrize("method", [ares, globe_ce])
def test_a_plan_flips_at_least_as_many_rows(method):
    rows, chooser = refused(200), explainer()
    found = method(chooser, rows, want=YES, constraints=FREE, actions=3)
    plan = chooser.plan(rows, want=YES, constraints=FREE, actions=3, slack=0, plausible=False)
    assert 0 < found.coverage <= plan.coverage
    assert len(found.actions) <= 3
    assert np.isfinite(found.distance[found.flipped]).all()
    assert np.isinf(found.distance[~found.flipped]).all()


@pytest.mark.parametrize("method", [ares, globe_ce])
def test_nobody_in_need_and_nothing_to_change_are_answers(method):
    chooser, rows = explainer(), town(50)
    there = method(chooser, rows[merit(rows) > 0], want=YES)
    assert np.isnan(there.coverage)
    stuck = method(chooser, refused(40), want=YES, constraints={"only": []})
    assert (stuck.coverage, stuck.actions) == (0.0, ())
    assert np.isnan(stuck.cost)


def test_a_rule_flips_the_rows_that_meet_its_condition():
    data = town().assign(job=lambda rows: np.where(rows["job"] == "none", "part-time", rows["job"]))
    model = lambda rows: np.where(rows["job"] == "full-time", 0.9, 0.1)  # noqa: E731
    chooser = mx.Explainer(model, data, classes=(NO, YES))
    found = ares(chooser, data, want=YES, actions=1)
    assert found.coverage == 1
    assert found.cost == pytest.approx(1.0)
    assert found.actions[0].startswith("if job = ")


def test_a_row_goes_along_a_direction_no_farther_than_it_must():
    data = town()
    model = lambda rows: np.where(rows["income"] >= 70, 0.9, 0.1)  # noqa: E731
    chooser = mx.Explainer(model, data, classes=(NO, YES))
    rows = data[data["income"] < 70]
    found = globe_ce(chooser, rows, want=YES, actions=1, max_changes=1, scales=200)
    assert found.coverage > 0.9
    scale = chooser.explain(rows.head(1), want=YES, constraints={"only": ["income"]})[0]
    step = scale.counterfactuals[0].distance / (70 - rows["income"].iloc[0])
    least = step * (70 - rows["income"].to_numpy())
    mine = found.flipped
    assert (found.distance[mine] >= least[mine] - 1e-9).all()
    assert (found.distance[mine] <= least[mine] + 2 * step).mean() > 0.9


def test_greedy_takes_what_adds_the_most_and_is_cheapest():
    reached = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    distance = np.array([[2.0, 2, 0], [1, 1, 0], [0, 0, 1]])
    assert greedy(reached, distance, 5) == [1, 2]
    assert greedy(reached[:0], distance[:0], 5) == []
