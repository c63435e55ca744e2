"""Fine-tuning leaves what is needed of each channel, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.segments import Draft, Segments

LENGTH = 60


def draft(units, rows=1):
    code = np.ones((rows, units), int)
    return Draft(np.arange(rows), code, code * 0, code * LENGTH, code * 1.0)


def needing(needs):
    """A goal that is reached where every unit covers its need (start, stop, blend)."""

    def ask(trial):
        low, high, least = (np.array(part) for part in zip(*needs, strict=True))
        ok = (trial.start <= low) & (trial.stop >= high) & (trial.blend >= least)
        return ok.all(axis=1), ok.sum(axis=1).astype(float)

    return ask


@pytest.mark.parametrize("need", [(0, 60, 1.0), (17, 23, 0.5), (59, 60, 0.25), (0, 1, 1.0)])
def test_one_unit_is_cut_to_its_need(need):
    made = Segments()(needing([need]), draft(1))
    assert (made.start[0, 0], made.stop[0, 0]) == need[:2]
    assert need[2] <= made.blend[0, 0] <= need[2] + 1 / 64


def test_several_units_are_cut_to_their_needs():
    needs = [(5, 9, 0.5), (30, 31, 0.125), (0, 60, 1.0), (40, 55, 0.75)]
    made = Segments(rounds=20)(needing(needs), draft(4, rows=2))
    assert made.start.tolist() == [[5, 30, 0, 40]] * 2
    assert made.stop.tolist() == [[9, 31, 60, 55]] * 2


def test_savings_that_hold_alone_but_not_together_are_not_all_taken():
    def ask(trial):  # half of one channel may go, not half of both
        total = (trial.stop - trial.start).sum(axis=1)
        return total >= 1.5 * LENGTH, total.astype(float)

    made = Segments(blend=1)(ask, draft(2))
    assert (made.stop - made.start).sum() == 1.5 * LENGTH


def test_what_is_not_taken_is_left_alone():
    empty = draft(2)
    empty.code[0, 1] = 0
    made = Segments()(needing([(3, 8, 1.0), (0, 0, 0.0)]), empty)
    assert made.stop[0, 1] == LENGTH


def test_without_blending_values_are_taken_as_they_are():
    assert Segments(blend=1)(needing([(3, 8, 0.1)]), draft(1)).blend[0, 0] == 1


def test_a_wrong_option_is_named():
    with pytest.raises(mx.OptionError, match="rounds"):
        Segments(rounds=0)
