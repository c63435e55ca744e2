"""Samples are mixed as their codes say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from macex.series.cases import read_cases
from macex.series.mixing import Mixture, differs, stretched
from series.machines import made_cases

TRAIN, OWN = made_cases(9), made_cases(2, seed=1)
DONORS = np.array([[4, 7], [1, 8]])
WIDTH, LENGTH = 6, 40


def mixture(frozen=(None, None)):
    train = read_cases(TRAIN, "channels_first")
    return Mixture(read_cases(OWN, "channels_first", train), train, DONORS, list(frozen))


codes = st.lists(st.sampled_from([0, 1, 2]), min_size=WIDTH, max_size=WIDTH)


@given(codes=codes, query=st.sampled_from([0, 1]))
def test_a_code_takes_the_channel_of_that_neighbour(codes, query):
    (sample,) = mixture().samples(np.array([codes], float), np.array([query]))
    for channel, code in enumerate(codes):
        source = OWN[query] if code == 0 else TRAIN[DONORS[query, code - 1]]
        assert np.array_equal(sample[channel], source[channel])


@given(
    codes=codes, start=st.integers(0, 39), size=st.integers(1, 40), query=st.sampled_from([0, 1])
)
def test_a_patch_takes_a_stretch(codes, start, size, query):
    tables = np.repeat([start, start + size, 1.0], WIDTH)
    (sample,) = mixture().samples(np.append(codes, tables)[None].astype(float), np.array([query]))
    (whole,) = mixture().samples(np.array([codes], float), np.array([query]))
    inside = slice(start, start + size)
    assert np.array_equal(sample[:, inside], whole[:, inside])
    outside = np.delete(np.arange(LENGTH), np.arange(LENGTH)[inside])
    assert np.array_equal(sample[:, outside], OWN[query][:, outside])


def test_a_blend_lies_between():
    tables = np.concatenate([np.ones(6), np.zeros(6), np.full(6, 40), np.full(6, 0.25)])
    (sample,) = mixture().samples(tables[None], np.array([0]))
    assert np.allclose(sample, OWN[0] + 0.25 * (TRAIN[4] - OWN[0]), atol=1e-6)


def test_frozen_times_stay():
    mask = np.zeros((WIDTH, LENGTH), bool)
    mask[2, 5:30] = True
    both = mixture((mask, None)).samples(np.ones((2, WIDTH)), np.array([0, 1]))
    assert np.array_equal(both[0][mask], OWN[0][mask])
    assert np.array_equal(both[0][~mask], TRAIN[4][~mask])
    assert np.array_equal(both[1], TRAIN[1])


def test_lists_are_mixed_like_arrays():
    train = read_cases(list(TRAIN), "channels_first")
    listed = Mixture(read_cases(list(OWN), "channels_first", train), train, DONORS, [None, None])
    wanted, at = np.array([[0, 1, 2, 0, 2, 1], [1, 1, 0, 0, 2, 2]], float), np.array([0, 1])
    assert np.array_equal(np.stack(listed.samples(wanted, at)), mixture().samples(wanted, at))


def test_a_channel_keeps_its_ends_when_stretched():
    channel = np.array([3.0, 1.0, 2.0])
    assert stretched(channel, 7)[[0, -1]].tolist() == [3.0, 2.0]
    assert stretched(channel, 3) is channel


def test_a_gap_equals_a_gap():
    one, other = np.array([np.nan, 1.0, np.nan]), np.array([np.nan, 1.0, 2.0])
    assert differs(one, other).tolist() == [False, False, True]
