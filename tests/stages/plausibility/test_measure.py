"""Realness sees what goes together, is calibrated, and does not depend on company or order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from macex.schema import Array, Schema
from macex.stages.distance import Scales, learn_scales
from macex.stages.plausibility.distance import reference
from macex.stages.plausibility.measure import (
    Compared,
    Realness,
    arrays_of,
    learn_realness,
    realness_of,
)
from stages.plausibility.shop import shop


def world(data: pd.DataFrame) -> tuple[Schema, Array, Scales]:
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    return schema, codes, learn_scales(schema, codes)


def learned(codes: Array, scales: Scales) -> Realness:
    return learn_realness(codes, scales.discrete, scales.by_name)


def with_other_cells(codes: Array, source: Array, cells: int) -> Array:
    """Rows with so many cells, each another than before, from random training rows."""
    draw = np.random.default_rng(5)
    rows = codes.copy()
    for row in rows:
        for place in draw.permutation(codes.shape[1])[:cells]:
            values = source[:, place]
            row[place] = draw.choice(values[values != row[place]])
    return rows


def area(share, real: Array, other: Array) -> float:
    truth = np.repeat([1, 0], [len(real), len(other)])
    return float(roc_auc_score(truth, np.concatenate([share(real), share(other)])))


@pytest.mark.parametrize(("cells", "least"), [(1, 0.85), (2, 0.95)])
def test_it_tells_real_rows_from_swapped_ones_better_than_distance(cells, least):
    schema, codes, scales = world(shop(1500))
    fresh = schema.read(shop(400, seed=1)).codes
    other = with_other_cells(fresh, codes, cells)
    mine = area(learned(codes, scales), fresh, other)
    assert mine > least
    assert mine > area(reference(scales, codes).share, fresh, other) + 0.05


def test_a_share_of_training_rows_is_what_it_says_for_fresh_rows():
    schema, codes, scales = world(shop(1500))
    realness = learned(codes, scales)
    rows = np.arange(len(codes))
    compared = Compared(realness, np.sort(realness.of_training(rows, codes)))
    shares = compared.share(schema.read(shop(2000, seed=1)).codes)
    for level in (0.05, 0.25, 0.5):
        assert abs((shares < level).mean() - level) < 0.04


def test_it_is_the_same_alone_in_a_batch_and_when_learnt_again():
    _, codes, scales = world(shop(300))
    realness, again = learned(codes, scales), learned(codes, scales)
    together = realness(codes)
    assert together.tolist() == again(codes).tolist()
    assert together[:40].tolist() == [realness(row[None])[0] for row in codes[:40]]


def test_the_order_of_columns_does_not_matter():
    data = shop(300)
    other = data[data.columns[::-1]]
    one, two = (learned(*world(frame)[1:])(world(frame)[1]) for frame in (data, other))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_few_rows_are_enough(count):
    _, codes, scales = world(shop(count))
    realness = learned(codes, scales)
    assert np.isfinite(realness(codes)).all()
    compared = Compared(realness, np.sort(realness.of_training(np.arange(count), codes)))
    assert np.isnan(compared.share(codes)).all() == (count < 6)


def test_constant_and_empty_columns_say_nothing():
    data = pd.DataFrame({"a": [1.0] * 30, "b": ["x"] * 30, "c": [np.nan] * 30})
    _, codes, scales = world(data)
    assert set(learned(codes, scales)(codes)) == {0.0}


def test_columns_of_many_categories_and_many_columns_are_bounded():
    draw = np.random.default_rng(0)
    wide = pd.DataFrame(draw.normal(size=(200, 300)), columns=[f"x{i}" for i in range(300)])
    wide["id"] = [f"name {i}" for i in range(200)]
    _, codes, scales = world(wide)
    assert np.isfinite(learned(codes, scales)(codes[:5])).all()


def test_what_was_stored_says_the_same():
    schema = Schema.infer(shop(300))
    codes = schema.read(shop(300)).codes
    scales = learn_scales(schema, codes)
    realness = learn_realness(codes, scales.discrete, scales.by_name)
    arrays = arrays_of(realness)
    assert all(array.dtype != object for array in arrays.values())
    again = realness_of(arrays)
    fresh = schema.read(shop(100, seed=1)).codes
    assert again(fresh).tolist() == realness(fresh).tolist()
    assert not len(again.rows)
    assert not any(array.shape[:1] == (len(codes),) for array in arrays.values())


def test_a_table_of_categories_alone_is_stored_too():
    data = shop(200)[["line", "backup"]]
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    realness = learn_realness(codes, np.ones(2, bool), np.arange(2))
    assert realness_of(arrays_of(realness))(codes).tolist() == realness(codes).tolist()
