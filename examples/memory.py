"""What a call of explain adds to a process, by the number of rows: `python examples/memory.py`.

Peaks are those of tracemalloc, which sees the arrays of NumPy. Answers are not counted.
"""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pandas as pd

import macex as mx

RULES = mx.Constraints(rules=["a <= b + 100"], max_changes=2)
SETTINGS = {
    "one answer": {"n": 1},
    "6 answers, a goal for each row": {"n": 6},
    "6 answers, a goal for each row, a rule": {"n": 6, "constraints": RULES},
}


def table(rows: int, seed: int = 0) -> pd.DataFrame:
    """Numbers without ties, so that every column has as many values as there are rows."""
    values = np.random.default_rng(seed).normal(size=(rows, 5))
    return pd.DataFrame(values, columns=list("abcde"))


def chance(rows: pd.DataFrame) -> np.ndarray:
    """A score that several columns can raise."""
    z = rows.to_numpy()
    return 1 / (1 + np.exp(-np.tanh(z[:, 0]) - z[:, 1] / 2 - np.sin(2 * z[:, 4])))


def peak_mb(rows: int, **call: object) -> float:
    """The most memory, in MB, that a call with `rows` rows of a 200 x 5 table holds at once."""
    explainer = mx.Explainer(chance, table(200))
    explainer.explain(table(1), want=mx.at_least(0.5))  # what is imported only now is not counted
    queries = table(rows, seed=1)
    goals = [mx.at_least(min(0.99, score + 0.2)) for score in chance(queries)]
    tracemalloc.start()
    explainer.explain(queries, want=goals, **call)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


if __name__ == "__main__":
    counts = [int(text) for text in sys.argv[1:]] or [10, 50, 200]
    print(f"{'MB at most, by rows':<40}" + "".join(f"{count:>8}" for count in counts))
    for name, call in SETTINGS.items():
        peaks = "".join(f"{peak_mb(count, **call):>8.0f}" for count in counts)
        print(f"{name:<40}{peaks}", flush=True)
