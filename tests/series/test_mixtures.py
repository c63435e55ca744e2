"""Samples are mixed as their codes say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from macex.series.cases import read_cases
from macex.series.constraints import SeriesConstraints
from macex.series.limits import limits_of
from macex.series.mixtures import Mixture, Patches, differs, stretched
from series.machines import made_cases

TRAIN, OWN = made_cases(9), made_cases(2, seed=1)
DONORS = np.array([[4, 7], [1, 8]])
WIDTH, LENGTH = 6, 40


def mixture(limits=(None, None)):
    train = read_cases(TRAIN, "channels_first")
    return Mixture(read_cases(OWN, "channels_first", train), train, DONORS, list(limits))


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
    tables = np.repeat([1.0, start, start + size], WIDTH)
    (sample,) = mixture().samples(np.append(codes, tables)[None].astype(float), np.array([query]))
    (whole,) = mixture().samples(np.array([codes], float), np.array([query]))
    inside = slice(start, start + size)
    assert np.array_equal(sample[:, inside], whole[:, inside])
    outside = np.delete(np.arange(LENGTH), np.arange(LENGTH)[inside])
    assert np.array_equal(sample[:, outside], OWN[query][:, outside])


def test_a_blend_lies_between():
    tables = np.concatenate([np.ones(6), np.full(6, 0.25), np.zeros(6), np.full(6, 40)])
    (sample,) = mixture().samples(tables[None], np.array([0]))
    assert np.allclose(sample, OWN[0] + 0.25 * (TRAIN[4] - OWN[0]), atol=1e-6)


def test_a_patch_takes_two_stretches():
    both = np.ones((1, WIDTH)), np.full((1, WIDTH, 2), [2, 30]), np.full((1, WIDTH, 2), [5, 33])
    full = Patches.written(*both, both[0])
    (sample,) = mixture().samples(full, np.array([0]))
    taken = np.r_[2:5, 30:33]
    assert np.array_equal(sample[:, taken], TRAIN[4][:, taken])
    rest = np.delete(np.arange(LENGTH), taken)
    assert np.array_equal(sample[:, rest], OWN[0][:, rest])


@given(width=st.integers(1, 3), count=st.integers(1, 4), noisy=st.booleans())
def test_patches_are_read_as_they_were_written(width, count, noisy):
    rng = np.random.default_rng(width)
    code, blend = rng.integers(0, 3, (2, 5, width)).astype(float)
    start, stop = rng.integers(0, 9, (2, 5, width, count))
    full = Patches.written(code, start, stop, blend)
    turn = np.arange(5.0)
    read = Patches.read(np.column_stack([full, turn]) if noisy else full, width)
    found = read.code, read.start, read.stop, read.blend
    assert all(map(np.array_equal, found, (code, start, stop, blend)))
    assert np.array_equal(read.noise, turn) if noisy else read.noise is None


@given(noisy=st.booleans())
def test_room_for_more_stretches_changes_no_key(noisy):
    rng = np.random.default_rng(1)
    code, blend = rng.integers(0, 3, (2, 7, WIDTH)).astype(float)
    ends = rng.integers(0, 9, (2, 7, WIDTH, 3))
    ends[:, :5, :, 1:] = 0
    tables = [
        Patches.written(code, *(table[:, :, :most] for table in ends), blend) for most in (1, 3)
    ]
    noise = [np.arange(7.0)] if noisy else []
    few, many = (Patches.keys(np.column_stack([table, *noise]), WIDTH) for table in tables)
    assert np.array_equal(few == many, np.arange(7) < 5)
    assert len(np.unique(many)) == 7


def test_frozen_times_stay():
    wish = SeriesConstraints(fixed_times={"c": [(5, 30)]})
    limits = limits_of(wish, list("abcdef"), LENGTH, OWN.dtype)
    mask = limits.frozen
    assert mask.sum() == mask[2, 5:30].sum() == 25
    both = mixture((limits, None)).samples(np.ones((2, WIDTH)), np.array([0, 1]))
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
