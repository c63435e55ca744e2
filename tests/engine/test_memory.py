"""What a call holds at once is bounded, whatever the number of rows and whatever is asked."""

from __future__ import annotations

import runpy
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import macex as mx

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "memory.py"))


@pytest.mark.parametrize("setting", ["6 answers, a goal for each row, a rule"])
def test_memory_does_not_grow_with_the_rows(setting):
    """Rules make rows of all pairs of changes: 125,000 a query, which are looked at in parts."""
    peaks = [EXAMPLE["peak_mb"](rows, **EXAMPLE["SETTINGS"][setting]) for rows in (8, 32)]
    assert peaks[1] < 1.5 * peaks[0]
    assert peaks[1] < 300


def test_rows_that_a_wide_query_cannot_pay_for_are_not_made():
    """600 columns offer 7,000 rows a query: 138 MB as codes, of which 100 rows are asked about."""
    draw = np.random.default_rng(0)
    rows = pd.DataFrame(draw.normal(size=(300, 600)), columns=[f"c{at}" for at in range(600)])

    def granted(frame):
        return 1 / (1 + np.exp(3 - frame["c0"]))

    search = mx.Exhaustive(max_rows=100)
    plain = {"structure": "ignore", "prefer": "fewest", "plausibility": "distance"}
    explainer = mx.Explainer(
        granted, rows, classes=("no", "yes"), method=search, fallback=False, **plain
    )
    explainer.explain(rows.head(4))
    tracemalloc.start()
    try:
        explainer.explain(rows.head(4))
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    assert peak < 120
