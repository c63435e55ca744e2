"""Plausibility is what its definition says, by looking at every pair of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.schema import MISSING, UNKNOWN, Schema
from macex.stages.distance import Scales, learn_scales
from macex.stages.plausibility import distance as plausibility
from macex.stages.plausibility.distance import reference


def world(seed: int, count: int = 60) -> tuple[Scales, np.ndarray]:
    """Rows with categories and numbers, some of them missing, some rows equal."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "x": np.where(rng.random(count) < 0.2, np.nan, rng.integers(0, 50, count) / 2),
            "c": rng.choice(list("abc"), count),
            "y": rng.integers(1, 9, count),
            "d": rng.choice(["u", "v", None], count),
        }
    )
    data.iloc[1] = data.iloc[0]
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    return learn_scales(schema, codes), codes


def by_definition(scales: Scales, goal: np.ndarray, row: np.ndarray, even: float) -> float:
    """The share of distinct goal rows no nearer to their five nearest than the row to its.

    Distances are even where they differ by less than `even`.
    """
    goal = np.unique(goal, axis=0)

    def gaps(one: np.ndarray, others: np.ndarray) -> float:
        distance = scales.total(np.broadcast_to(one, others.shape), others)
        return float(np.sort(distance)[:5].mean())

    mine = gaps(row, goal)
    usual = [gaps(one, np.delete(goal, i, axis=0)) for i, one in enumerate(goal)]
    return float(np.mean([mean >= mine - even for mean in usual]))


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), count=st.integers(7, 40))
def test_plausibility_is_its_definition(seed, count):
    scales, codes = world(seed)
    made = reference(scales, codes[:count])
    rng = np.random.default_rng(seed)
    rows = codes[20:].copy()
    rows[::3, 0] = rng.normal(20, 30, len(rows[::3]))
    rows[::4, 1] = UNKNOWN
    if len(np.unique(codes[:count], axis=0)) <= 5:
        return
    least, most = (  # distances are of 32 bits, so near 1e-6 they may be even or not
        np.array([by_definition(scales, codes[:count], row, even) for row in rows])
        for even in (8e-7, 1.2e-6)
    )
    share = made.share(rows)
    assert (least - 1e-9 <= share).all()
    assert (share <= most + 1e-9).all()


def test_a_row_from_the_middle_is_typical_and_one_from_afar_is_not():
    data = pd.DataFrame({"x": [*range(1, 60), 200], "y": [1, 2] * 30})
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    made = reference(learn_scales(schema, codes), codes)
    middle, edge, beyond = made.share(np.array([[30.0, 1], [200, 1], [400, 1]]))
    assert middle > 0.9
    assert edge == pytest.approx(1 / 60)  # itself
    assert beyond == 0


def test_under_six_distinct_goal_rows_nothing_is_said():
    scales, codes = world(0)
    five = np.unique(codes, axis=0)[:5]
    assert np.isnan(reference(scales, np.repeat(five, 4, axis=0)).share(codes)).all()
    six = np.unique(codes, axis=0)[:6]
    assert not np.isnan(reference(scales, six).share(codes)).any()
    assert np.isnan(reference(scales, codes[:0]).share(codes)).all()


def test_no_rows_have_no_plausibility():
    scales, codes = world(0)
    assert reference(scales, codes).share(codes[:0]).shape == (0,)


def test_blocks_change_nothing(monkeypatch):
    scales, codes = world(1)
    made = reference(scales, codes)
    whole = made.share(codes)
    monkeypatch.setattr(plausibility, "BLOCK", 1)
    assert np.array_equal(made.share(codes), whole)


def test_many_goal_rows_are_thinned_evenly():
    data = pd.DataFrame({"x": np.arange(5000.0), "y": [1.0, 2.0] * 2500})
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    made = reference(learn_scales(schema, codes), codes, most=100)
    assert len(made.codes) == len(made.usual) == 100
    assert made.codes[[0, -1], 0].tolist() == [0, 4999]
    assert np.ptp(np.diff(made.codes[:, 0])) <= 2


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e9])
def test_the_size_of_numbers_does_not_matter_even_beside_missing_ones(size):
    """A concentration of 1e-10 is a number like any other."""
    rng = np.random.default_rng(0)
    numbers = rng.uniform(1, 9, 30)
    shares = []
    for unit in (1.0, size):
        column = np.where(np.arange(30) % 5 == 0, np.nan, numbers * unit)
        data = pd.DataFrame({"x": column, "c": list("abc") * 10})
        schema = Schema.infer(data)
        codes = schema.read(data).codes
        asked = np.concatenate([codes, [[MISSING, 1.0]]])
        shares.append(reference(learn_scales(schema, codes), codes).share(asked).tolist())
    assert shares[1] == pytest.approx(shares[0])
