"""The example runs from start to end."""

from __future__ import annotations

import os
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
