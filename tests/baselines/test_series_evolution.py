"""Evolutionary search reaches its goals within the rows it may score."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.baselines.series_evolution import SeriesEvolution, _survivors
from series.machines import NAMES, Machine, made_cases

TRAIN, QUERIES = made_cases(), made_cases(3, seed=1)
LABELS = ["calm", "bump", "raised"] * 20


@pytest.mark.parametrize("style", ["masks", "windows"])
def test_answers_hold_and_cost_what_was_allowed(style):
    search = SeriesEvolution(
        Machine(), TRAIN, LABELS, channels=NAMES, style=style, population=20, generations=15
    )
    found = search.explain(QUERIES)
    for item in found:
        answer = item.counterfactuals[0]
        assert Machine().predict(answer.sample[None])[0] == answer.label != item.label
        assert item.cost.rows == 1 + 20 * 15
    again = search.explain(QUERIES[1:2])
    assert np.array_equal(again[0].counterfactuals[0].sample, found[1].counterfactuals[0].sample)


def test_more_generations_change_fewer_cells():
    cells = []
    for generations in (2, 60):
        search = SeriesEvolution(Machine(), TRAIN, LABELS, generations=generations)
        (item,) = search.explain(QUERIES[:1])
        cells.append(int((item.counterfactuals[0].sample != QUERIES[0]).sum()))
    assert cells[1] < cells[0] / 4


def test_survivors_are_those_that_reach_the_goal_and_that_no_other_beats():
    values = np.array([[0.0, 3.0], [3.0, 0.0], [1.0, 1.0], [2.0, 2.0], [-9.0, -9.0]])
    reached = np.array([True, True, True, True, False])
    assert set(_survivors(values, reached, 3)) == {0, 1, 2}
    assert _survivors(values, reached, 5)[-2:].tolist() == [3, 4]


def test_wrong_options_are_named():
    with pytest.raises(mx.OptionError, match="style='mask'"):
        SeriesEvolution(Machine(), TRAIN, style="mask")
    with pytest.raises(mx.OptionError, match="population"):
        SeriesEvolution(Machine(), TRAIN, population=0)
