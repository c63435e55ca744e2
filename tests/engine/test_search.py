"""Steps one and two: searches, and what is kept for the last resort."""

from __future__ import annotations

import numpy as np
import pandas as pd

import macex as mx

WIDTH = 30
TRAIN = pd.DataFrame(np.random.default_rng(0).normal(size=(400, WIDTH))).add_prefix("x")
TRAIN.iloc[:80] += 1.0
OPTIONS = {"classes": ("no", "yes"), "structure": "ignore", "plausibility": "distance"}


def many_count(rows):
    """Every column counts, and no pair of them is enough."""
    return 1 / (1 + np.exp(-(rows.to_numpy(float).sum(axis=1) - 20)))


REFUSED = TRAIN[many_count(TRAIN) < 1e-6].head(8)


def all_or_nothing(rows):
    """The same decisions, but nothing shows on the way to them."""
    return np.where(many_count(rows) > 0.5, 0.9, 0.1)


def test_rows_are_kept_for_the_last_resort_where_the_caller_limits_them():
    found = mx.Explainer(all_or_nothing, TRAIN, **OPTIONS).explain(REFUSED, max_rows=100)
    assert len(found) == len(REFUSED) > 0
    for item in found:
        assert item.method == "nearest row"
        assert item.cost.rows <= 100
        assert len(item[0].changes) > 2
        assert not item[0].minimal


def test_few_rows_lead_to_few_changes():
    """The single changes on offer are 25 times as many as the rows that may be asked about."""
    model = mx.Explainer(many_count, TRAIN, **OPTIONS)
    most = {rows: model.explain(REFUSED, max_rows=rows) for rows in (40, 100, 500)}
    changes = {rows: [len(item[0].changes) for item in found] for rows, found in most.items()}
    assert max(changes[40]) < WIDTH
    assert np.all(np.array(changes[100]) <= 2 + np.array(changes[500]))
    for rows, found in most.items():
        assert all(item.cost.rows <= rows for item in found)


def test_rows_are_shared_out_among_the_levels_where_the_caller_limits_them():
    """The single changes on offer alone cost more; half of the rows are left for what is deeper."""
    found = mx.Explainer(many_count, TRAIN, **OPTIONS).explain(REFUSED, max_rows=500)
    for item in found:
        assert item.method == "exhaustive"
        assert item.cost.rows <= 500
        assert 2 < len(item[0].changes) < 20


def test_nothing_is_kept_without_a_last_resort():
    alone = mx.Explainer(all_or_nothing, TRAIN, fallback=False, **OPTIONS)
    for item in alone.explain(REFUSED, max_rows=100):
        assert not item
        assert item.cost.rows >= 95
