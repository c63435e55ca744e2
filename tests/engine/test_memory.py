"""What a call holds at once is bounded, whatever the number of rows and whatever is asked."""

from __future__ import annotations

import runpy
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.engine.batch import ROWS_A_QUERY

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "memory.py"))


@pytest.mark.parametrize("setting", ["6 answers, a goal for each row, a rule"])
def test_memory_does_not_grow_with_the_rows(setting, monkeypatch):
    """A block holds what its queries take: two blocks of 64 take as much as four."""
    asked = EXAMPLE["SETTINGS"][setting]
    monkeypatch.setattr("macex.engine.batch.MOST_CELLS", 64 * 5 * ROWS_A_QUERY * asked["n"])
    peaks = [EXAMPLE["peak_mb"](rows, **asked) for rows in (8, 128, 256)]  # the first imports
    assert peaks[2] < 1.5 * peaks[1]
    assert peaks[2] < 300


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
