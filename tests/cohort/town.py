"""A small town of applicants, and a bank that can be counted."""

from __future__ import annotations

import numpy as np
import pandas as pd

import macex as mx

NO, YES = "refused", "granted"


def town(count: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(20, 120, count),
            "debt": draw.integers(0, 60, count),
            "age": draw.integers(18, 80, count),
            "job": draw.choice(["none", "part-time", "full-time"], count),
            "gender": draw.choice(["female", "male"], count),
        }
    )


def merit(rows: pd.DataFrame) -> np.ndarray:
    points = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time")
    return (points + 1.0 * (rows["gender"] == "male") - 6).to_numpy(float)


class Bank:
    """Grants by merit; men have a bonus. Counts its calls and rows."""

    def __init__(self) -> None:
        self.calls, self.rows = 0, 0

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.calls += 1
        self.rows += len(rows)
        return 1 / (1 + np.exp(-merit(rows)))


def explainer(bank=None, **options) -> mx.Explainer:
    return mx.Explainer(bank or Bank(), town(), classes=(NO, YES), **options)


def refused(count: int = 400, seed: int = 1) -> pd.DataFrame:
    rows = town(count, seed)
    return rows[merit(rows) < 0]
