"""`python -m macex.bench.fitting ROWS`: what it takes to fit an explainer, in a process of its own.

The most memory that a process ever held is a fact of the whole process, so it is measured in one
that does nothing else: a made-up table, a cheap model, an explainer, and a hundred rows explained.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from macex.bench import synthetic
from macex.explainer import Explainer

GIBIBYTE = 2**30
ASKED = 100


def fitted_apart(rows: int) -> dict[str, float]:
    """What `fitted` says, of a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "macex.bench.fitting", str(rows)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"fitting {rows:,} rows failed: {done.stderr.strip()[-500:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def fitted(rows: int) -> dict[str, float]:
    """What it took: CPU seconds to fit, CPU milliseconds to explain a row, GiB held."""
    train = synthetic.table(rows)
    made = peak()
    began = time.process_time()
    explainer = Explainer(synthetic.model, train, classes=("no", "yes"))
    took = time.process_time() - began
    asked = train.iloc[:: max(1, rows // ASKED)].head(ASKED)
    explainer.explain(asked)
    began = time.process_time()
    explainer.explain(asked)
    return {
        "fit": took,
        "explain": 1000 * (time.process_time() - began) / len(asked),
        "recall": explainer.neighbors_recall or 1.0,
        "table": made,
        "memory": peak(),
    }


def peak() -> float:
    """The most memory that this process has held, in GiB.

    Linux counts for `getrusage` what the parent held when it started the process, too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(held.split()[1]) * 1024 / GIBIBYTE
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / GIBIBYTE


if __name__ == "__main__":
    print(json.dumps(fitted(int(sys.argv[1]))))
