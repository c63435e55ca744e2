"""Steps one and two: searches, and what is kept for the last resort."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

WIDTH = 30
TRAIN = pd.DataFrame(np.random.default_rng(0).normal(size=(400, WIDTH))).add_prefix("x")
TRAIN.iloc[:80] += 1.0
OPTIONS = {"classes": ("no", "yes"), "structure": "ignore", "plausibility": "distance"}


def many_count(rows):
    """Every column counts, and no pair of them is enough."""
    return 1 / (1 + np.exp(-(rows.to_numpy(float).sum(axis=1) - 20)))


REFUSED = TRAIN[many_count(TRAIN) < 1e-6].head(8)


@pytest.mark.parametrize("limit", [100, 500])
def test_rows_are_kept_for_the_last_resort_where_the_caller_limits_them(limit):
    found = mx.Explainer(many_count, TRAIN, **OPTIONS).explain(REFUSED, max_rows=limit)
    assert len(found) == len(REFUSED) > 0
    for item in found:
        assert item.method == "nearest row"
        assert item.cost.rows <= limit
        assert len(item[0].changes) > 2
        assert not item[0].minimal


def test_nothing_is_kept_without_a_last_resort():
    alone = mx.Explainer(many_count, TRAIN, fallback=False, **OPTIONS)
    for item in alone.explain(REFUSED, max_rows=300):
        assert not item
        assert item.cost.rows >= 290
