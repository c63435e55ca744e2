"""How far rows are from training rows, beside the distance that answers are ranked by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.bench.outliers import Outliers
from macex.schema import Schema
from macex.stages.distance import learn_scales


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_nearest_training_row_is_as_far_as_the_distance_says(gaps):
    random = np.random.default_rng(0)
    numbers = random.normal(5, 2, (200, 2))
    numbers[random.random(numbers.shape) < gaps] = np.nan
    frame = pd.DataFrame(numbers, columns=["a", "b"]).assign(c=random.choice(list("xyz"), 200))
    schema = Schema.infer(frame)
    codes = schema.read(frame).codes
    scales = learn_scales(schema, codes)
    rows = codes[random.integers(200, size=(30, 3)), [0, 1, 2]]
    found = Outliers(None, codes, codes[:, 0], scales).nearest(rows)  # no cell is asked
    pairs = np.repeat(rows, len(codes), axis=0), np.tile(codes, (len(rows), 1))
    assert found == pytest.approx(scales.total(*pairs).reshape(30, -1).min(axis=1))
