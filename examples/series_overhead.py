"""What the search costs a row, for series and for tables: `python examples/series_overhead.py`.

The model reads three channels, or columns, and costs next to nothing. A case has 10 time points;
the row of the table has their means. Seconds are of the CPU, so that other programs do not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import macex as mx

CASES, POINTS, ASKED = 200, 10, 8


def explainers(channels: int) -> dict[str, Callable[[int], Any]]:
    """What explains a case, and the row of its means."""
    cases = np.random.default_rng(0).normal(size=(CASES, channels, POINTS))
    decisive = [channels // 7, channels // 2, channels - 5]
    for channel in decisive:
        cases[1::2, channel] += 1.2
    table = pd.DataFrame(cases.mean(axis=2), columns=[f"c{at}" for at in range(channels)])

    def chance(level: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(8 * (0.6 - level)))

    classes = ("low", "high")
    of_cases = mx.SeriesExplainer(
        lambda some: chance(some[:, decisive].mean(axis=(1, 2))), cases, classes=classes
    )
    of_rows = mx.Explainer(
        lambda some: chance(np.asarray(some)[:, decisive].mean(axis=1)), table, classes=classes
    )
    return {
        "series": lambda at: of_cases.explain(cases[at : at + 1])[0],
        "table": lambda at: of_rows.explain(table.iloc[[at]])[0],
    }


def per_row(explain: Callable[[int], Any]) -> tuple[float, float]:
    """Microseconds of the CPU a row, and rows a question, one question at a time."""
    explain(0)  # what is learnt on the first question is not counted
    began = time.process_time()
    rows = sum(explain(at).cost.rows for at in range(0, 2 * ASKED, 2))
    return 1e6 * (time.process_time() - began) / rows, rows / ASKED


if __name__ == "__main__":
    for channels in map(int, sys.argv[1:] or ("50", "500", "2000")):
        for name, explain in explainers(channels).items():
            spent, rows = per_row(explain)
            print(f"{channels:5} {name:6} {spent:7.1f} us a row, {rows:7,.0f} rows a question")
