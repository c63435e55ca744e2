"""What is stored of realness says the same when it is read, and holds no training row."""

from __future__ import annotations

import numpy as np

from macex.schema import Schema
from macex.stages.distance import learn_scales
from macex.stages.plausibility.measure import learn_realness
from macex.stages.plausibility.storage import arrays_of, realness_of
from stages.plausibility.shop import shop


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
