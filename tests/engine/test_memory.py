"""What a call holds at once is bounded, whatever the number of rows and whatever is asked."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "memory.py"))


@pytest.mark.parametrize("setting", ["6 answers, a goal for each row, a rule"])
def test_memory_does_not_grow_with_the_rows(setting):
    """Rules make rows of all pairs of changes: 125,000 a query, which are looked at in parts."""
    peaks = [EXAMPLE["peak_mb"](rows, **EXAMPLE["SETTINGS"][setting]) for rows in (8, 32)]
    assert peaks[1] < 1.5 * peaks[0]
    assert peaks[1] < 300
