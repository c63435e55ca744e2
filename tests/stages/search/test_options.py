"""Candidates by unit: the same changes, padded, and the way back."""

from __future__ import annotations

import numpy as np
import pandas as pd

from macex.stages.candidates import Domain, offer
from macex.stages.search.options import options_of
from macex.stages.shapes import Candidates
from stages.worlds import space_of, task_of

DATA = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyxy"), "c": [5, 5, 6, 5]})


def made(**wish):
    space = space_of(DATA, DATA.iloc[[0, 1]], **wish)
    return task_of(space, lambda codes: np.zeros(len(codes))), offer(Domain(), space, None)


def test_every_candidate_that_may_be_made_is_an_option_of_its_unit_once():
    task, candidates = made()
    options = options_of(task, candidates)
    assert options.value.shape == (2, 3, 4)
    for query, expected in enumerate([[{2, 3, 4}, {1}, {6}], [{1, 3, 4}, {0}, {6}]]):
        for unit, values in enumerate(expected):
            mine = options.value[query, unit][options.real[query, unit]].tolist()
            assert sorted(mine) == sorted(values)


def test_a_unit_that_may_not_change_is_not_open():
    task, candidates = made(fixed=["a"])
    assert options_of(task, candidates).open.tolist() == [[False, True, True]] * 2


def test_a_candidate_that_is_only_a_reason_is_no_option():
    task, candidates = made()
    reasons = Candidates(
        candidates.unit, candidates.value, candidates.real, candidates.allowed & False
    )
    assert not options_of(task, reasons).open.any()


def test_rows_set_the_chosen_options_and_nothing_else():
    task, candidates = made()
    options = options_of(task, candidates)
    at = np.array([0, 1, 1])
    chosen = np.array([[True, False, True], [False, True, False], [False, False, False]])
    option = np.array([options.real[q].argmax(axis=1) for q in at])
    rows = options.rows(task, at, chosen, option)
    assert rows.tolist() == [[2.0, 0.0, 6.0], [2.0, 0.0, 5.0], [2.0, 1.0, 5.0]]


def test_a_table_by_option_goes_back_to_a_table_by_candidate():
    task, candidates = made()
    options = options_of(task, candidates)
    back = options.spread(options.value, np.nan, candidates.value.shape[1])
    assert np.array_equal(back, candidates.value)


def test_without_candidates_nothing_is_open():
    task, _ = made()
    none = np.zeros((2, 0), bool)
    options = options_of(task, Candidates(np.zeros(0, int), none * 0.0, none, none))
    assert not options.open.any()
    assert options.spread(options.value, 0.0, 0).shape == (2, 0)
