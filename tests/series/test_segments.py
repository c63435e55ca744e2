"""Fine-tuning leaves what is needed of each channel, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.drafts import MOST, Draft, laid_out
from macex.series.segments import Segments

LENGTH = 60


def draft(units, rows=1):
    code = np.ones((rows, units), int)
    start, stop = np.zeros((2, rows, units, MOST), int)
    stop[:, :, 0] = LENGTH
    return Draft(np.arange(rows), code, start, stop, code * 1.0)


def covered(trial):
    """Which time points each unit of each example takes, (n, U, time)."""
    time = np.arange(LENGTH)
    return ((time >= trial.start[..., None]) & (time < trial.stop[..., None])).any(axis=2)


def needing(needs):
    """A goal that is reached where every unit covers its need (start, stop, blend)."""

    def ask(trial):
        taken = covered(trial)
        ok = [
            taken[:, unit, low:high].all(axis=1) & (trial.blend[:, unit] >= least)
            for unit, (low, high, least) in enumerate(needs)
        ]
        return np.all(ok, axis=0), np.sum(ok, axis=0).astype(float)

    return ask


def runs(made, row=0):
    """The stretches of every unit of an example."""
    return [laid_out(a, b) for a, b in zip(made.start[row], made.stop[row], strict=True)]


def far_apart(trial):
    """A goal that two short stretches of the first unit reach together."""
    taken = covered(trial)[:, 0]
    ok = taken[:, 4:8].all(axis=1) & taken[:, 49:54].all(axis=1)
    return ok, -trial.size[:, 0].astype(float)


def test_what_lies_between_two_needs_is_not_taken():
    assert runs(Segments(rounds=20)(far_apart, draft(1))) == [[(4, 8), (49, 54)]]


def test_a_channel_has_no_more_stretches_than_it_may():
    one = Segments(stretches=1)(far_apart, draft(1))
    assert runs(one) == [[(4, 54)]]

    def many(trial):  # every eighth time point is needed
        taken = covered(trial)[:, 0]
        return taken[:, ::8].all(axis=1), -trial.size[:, 0].astype(float)

    assert len(runs(Segments(stretches=3)(many, draft(1)))[0]) <= 3


@pytest.mark.parametrize("need", [(0, 60, 1.0), (17, 23, 0.5), (59, 60, 0.25), (0, 1, 1.0)])
def test_one_unit_is_cut_to_its_need(need):
    ask, tune = needing([need]), Segments(stable=0)
    made = tune.blended(ask, tune(ask, draft(1)))
    assert runs(made) == [[need[:2]]]
    assert need[2] <= made.blend[0, 0] <= need[2] + 1 / 64


def test_several_units_are_cut_to_their_needs():
    needs = [(5, 9, 0.5), (30, 31, 0.125), (0, 60, 1.0), (40, 55, 0.75)]
    made = Segments(rounds=20, stable=0)(needing(needs), draft(4, rows=2))
    assert runs(made) == runs(made, 1) == [[(5, 9)], [(30, 31)], [(0, 60)], [(40, 55)]]


def test_savings_that_hold_alone_but_not_together_are_not_all_taken():
    def ask(trial):  # half of one channel may go, not half of both
        total = trial.size.sum(axis=1)
        return total >= 1.5 * LENGTH, total.astype(float)

    made = Segments(blend=1)(ask, draft(2))
    assert made.size.sum() == 1.5 * LENGTH


def test_what_is_not_taken_is_left_alone():
    empty = draft(2)
    empty.code[0, 1] = 0
    made = Segments()(needing([(3, 8, 1.0), (0, 0, 0.0)]), empty)
    assert made.stop[0, 1, 0] == LENGTH


def test_without_blending_values_are_taken_as_they_are():
    for tune in (Segments(blend=1, stable=0), Segments()):
        assert tune(needing([(3, 8, 0.1)]), draft(1)).blend[0, 0] == 1


def test_a_wrong_option_is_named():
    with pytest.raises(mx.OptionError, match="rounds"):
        Segments(rounds=0)
    with pytest.raises(mx.OptionError, match=r"stretches=.* 1 to 4, not 5"):
        Segments(stretches=5)
