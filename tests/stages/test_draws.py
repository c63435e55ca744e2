"""Draws are uniform, independent, and a function of what they are for alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.stages import draws as drawing
from macex.stages.draws import Draws, column_keys, row_keys

NAMES = ["age", "debt", "edu"]
CODES = np.array([[i, i % 7, i / 8] for i in range(40)], dtype=float)


def made(codes=CODES, names=NAMES, seed=0) -> Draws:
    return Draws(row_keys(seed, names, codes), column_keys(names))


def correlation(one, other) -> float:
    return abs(float(np.corrcoef(one.reshape(-1), other.reshape(-1))[0, 1]))


def test_numbers_fill_the_unit_interval_evenly():
    numbers = made().uniform("s", 0, 500)
    assert numbers.shape == (40, 500, 3)
    assert 0 < numbers.min() < numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    expected = numbers.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 44  # 99.9 % of chi-squared, 19 degrees
    assert len(np.unique(numbers)) == numbers.size


def test_queries_columns_and_counters_are_independent():
    numbers = made().uniform("s", 0, 500)
    bound = 4 / np.sqrt(20_000)
    assert correlation(numbers[:-1], numbers[1:]) < bound
    assert correlation(numbers[:, :-1], numbers[:, 1:]) < bound
    assert correlation(numbers[:, :, 0], numbers[:, :, 1]) < bound


@pytest.mark.parametrize(
    "other",
    [made(seed=1).uniform("s", 0, 500), made().uniform("t", 0, 500), made(CODES + 1e-9)],
    ids=["seed", "stream", "content"],
)
def test_another_seed_stream_or_row_gives_other_numbers(other):
    numbers = made().uniform("s", 0, 500)
    other = other.uniform("s", 0, 500) if isinstance(other, Draws) else other
    assert not (numbers == other).any()
    assert correlation(numbers, other) < 4 / np.sqrt(numbers.size)


@given(
    rows=st.lists(st.integers(0, 39), min_size=1, max_size=6),
    columns=st.permutations(range(3)),
    start=st.integers(0, 20),
)
def test_no_number_depends_on_the_batch_the_columns_order_or_the_piece(rows, columns, start):
    whole = made().uniform("s", 0, 30)
    part = made(CODES[rows][:, columns], [NAMES[c] for c in columns])
    assert np.array_equal(
        part.uniform("s", start, 10), whole[rows, start : start + 10][..., columns]
    )


def test_values_that_change_places_make_another_row():
    keys = row_keys(0, ["a", "b"], np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert keys[0] != keys[1]
    assert row_keys(0, ["a"], np.array([[0.0]])) == row_keys(0, ["a"], np.array([[-0.0]]))


def test_normal_numbers_have_mean_0_and_deviation_1():
    numbers = made().normal("s", 0, 500)
    assert abs(numbers.mean()) < 4 / np.sqrt(numbers.size)
    assert abs(numbers.std() - 1) < 0.02
    assert abs((np.abs(numbers) < 1).mean() - 0.6827) < 0.01
    assert abs((np.abs(numbers) > 3).mean() - 0.0027) < 0.001


def test_examples_draw_by_their_query_and_their_own_content():
    drawn, at = made(), np.array([3, 3, 5])
    codes = np.array([[1.0, 0, 0], [2.0, 0, 0], [1.0, 0, 0]])
    numbers = drawn.of(at, codes).uniform("s", 0, 4)
    assert len(np.unique(numbers)) == numbers.size
    assert np.array_equal(drawn.of(at[1:], codes[1:]).uniform("s", 0, 4), numbers[1:])


@pytest.mark.parametrize("bits", [0, 2**64 - 1])
def test_no_hash_gives_0_or_1(monkeypatch, bits):
    monkeypatch.setattr(drawing, "_mix", lambda keys: np.full_like(keys, bits))
    drawn = Draws(np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    assert 0 < drawn.uniform("s", 0, 1)[0, 0, 0] < 1
    assert np.isfinite(drawn.normal("s", 0, 1)).all()
