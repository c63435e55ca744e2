"""Memory does not grow with the number of rows."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lending import loans

SCRIPT = """
import json, resource, sys
import numpy as np, pandas as pd, macex as mx

def granted(rows):
    points = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time") - 4
    return 1 / (1 + np.exp(-points))

data = pd.read_csv(sys.argv[1], nrows=500)
explainer = mx.Explainer(granted, data, classes=("refused", "granted"))
done = mx.explain_file(explainer, sys.argv[1], sys.argv[2], chunk=1000)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"rows": done.rows, "megabytes": peak}))
"""


@pytest.mark.slow
def test_eight_times_the_rows_take_no_more_memory(tmp_path):
    peaks = []
    for count in (2000, 16_000):
        rows = tmp_path / f"{count}.csv"
        loans(count, seed=9).to_csv(rows, index=False)
        line = [sys.executable, "-c", SCRIPT, rows, tmp_path / f"{count}.out.jsonl"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert told["rows"] == count
        peaks.append(told["megabytes"])
    assert peaks[1] < peaks[0] + 40
