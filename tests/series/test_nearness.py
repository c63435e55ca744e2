"""Which cases are near, and how usual a case is among others."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.cases import read_cases
from macex.series.nearness import NearCases, learn_sketch, nearest, warped
from macex.series.texture import usual_of
from series.machines import explainer, made_cases

TRAIN = made_cases(30)
ALL = np.ones(6, bool)


def drawn(cases, points=16):
    return learn_sketch(read_cases(cases, "channels_first"), points)


def test_a_case_is_nearest_to_itself():
    sketch, cases = drawn(TRAIN)
    for metric in ("euclidean", "dtw"):
        choice = NearCases(k=3, metric=metric)
        for place in (0, 7, 29):
            near = nearest(cases, sketch(TRAIN[place]), np.arange(30), ALL, choice, 3)
            assert near[0] == place
            assert len(set(near.tolist())) == 3


def test_units_of_a_channel_do_not_matter():
    scaled = TRAIN.astype(float) * np.array([1, 10, 0.1, 1000, 1, 1])[:, None] + 5
    for place in (0, 4):
        orders = []
        for cases in (TRAIN.astype(float), scaled):
            sketch, few = drawn(cases)
            choice = NearCases(k=30)
            orders.append(
                nearest(few, sketch(cases[place]), np.arange(30), ALL, choice, 30).tolist()
            )
        assert orders[0] == orders[1]


def test_channels_that_may_not_change_do_not_count():
    sketch, cases = drawn(TRAIN)
    odd = TRAIN[0].copy()
    odd[4] = TRAIN[2, 4]  # like a raised case in the one channel that is left out
    match = ALL.copy()
    match[4] = False
    assert nearest(cases, sketch(odd), np.arange(30), match, NearCases(), 1)[0] == 0


def test_gaps_and_infinities_leave_distances_finite():
    cases = TRAIN.astype(float)
    cases[3, 1, :] = np.nan
    cases[4, 2, 7] = np.inf
    sketch, few = drawn(cases)
    assert np.isfinite(few).all()
    assert np.isfinite(sketch.mean).all()
    assert np.isfinite(sketch.steps(cases[3], cases[4])).all()


def test_warping_forgives_a_shift():
    wave = np.sin(np.linspace(0, 6, 16))
    late = np.roll(wave, 2)
    straight = ((wave - late) ** 2).sum()
    assert warped(late[None, None], wave[None])[0, 0] < straight / 2


def test_warping_may_choose_the_neighbours():
    found = explainer(candidates=mx.NearCases(metric="dtw")).explain(made_cases(3, seed=5))
    assert all(item.status == "found" for item in found)


def test_a_usual_case_is_plausible_and_an_odd_one_is_not():
    sketch, cases = drawn(TRAIN)
    usual = usual_of(cases, np.arange(0, 30, 3))
    own, far = sketch(TRAIN[0]), sketch(TRAIN[0] + 50)
    changed = np.zeros((2, len(own)), bool)
    changed[1] = True
    near, odd = usual.shares(own, np.stack([own, far]), changed)
    assert near > 0.5
    assert odd == 0


def test_fewer_than_six_cases_say_nothing():
    sketch, cases = drawn(TRAIN)
    own = sketch(TRAIN[0])
    shares = usual_of(cases, np.arange(5)).shares(own, own[None], np.zeros((1, len(own)), bool))
    assert np.isnan(shares).all()


def test_a_wrong_option_is_named():
    with pytest.raises(mx.OptionError, match="NearCases"):
        NearCases(k=0)
    with pytest.raises(mx.OptionError, match="'euclidean' or 'dtw'"):
        NearCases(metric="manhattan")
