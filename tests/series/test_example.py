"""The examples run from start to end."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_names_the_sensors_that_decide():
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "series.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sensor 8 " in done.stdout.split("jam")[1].split("drift")[0]


def test_what_a_row_costs_is_measured_of_both_engines():
    overhead = runpy.run_path(str(ROOT / "examples" / "series_overhead.py"))
    found = {name: overhead["per_row"](one) for name, one in overhead["explainers"](30).items()}
    assert list(found) == ["series", "table"]
    assert all(spent > 0 and rows > 30 for spent, rows in found.values())
