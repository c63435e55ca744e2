"""Deterministic fine-tuning, and the points it passes on its way."""

import numpy as np
import pandas as pd

from macex.stages.finetune.section import Section
from macex.stages.shapes import Pool
from stages.worlds import space_of, task_of

DATA = pd.DataFrame({"debt": [1000, 0, 40, 900, 20], "job": ["a", "b", "a", "b", "b"]})


def low_debt(codes):
    return (codes[:, 0] <= 400).astype(float)


def test_a_number_is_moved_back_to_where_the_goal_is_just_reached():
    task = task_of(space_of(DATA), low_debt)
    refined, _ = Section().on_the_way(
        task, Pool(np.zeros(1, int), np.array([[0.0, 0.0]]), np.ones(1))
    )
    assert refined.codes.tolist() == [[400.0, 0.0]]


def test_points_that_were_passed_reach_the_goal_and_lie_beyond_the_refined_one():
    task = task_of(space_of(DATA), low_debt)
    refined, passed = Section().on_the_way(
        task, Pool(np.zeros(1, int), np.array([[0.0, 0.0]]), np.ones(1))
    )
    assert 1 < len(passed) < Section().points
    assert (low_debt(passed.codes) == 1).all()
    assert ((passed.codes[:, 0] > 0) & (passed.codes[:, 0] <= refined.codes[0, 0])).all()
    assert (passed.progress > 0).all()


def test_no_points_are_passed_where_there_is_nothing_to_move():
    task = task_of(space_of(DATA), lambda codes: (codes[:, 1] == 1).astype(float))
    example = Pool(np.zeros(1, int), np.array([[1000.0, 1.0]]), np.ones(1))
    refined, passed = Section().on_the_way(task, example)
    assert refined.codes.tolist() == example.codes.tolist()
    assert not len(passed)
