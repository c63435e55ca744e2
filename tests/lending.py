"""Loans by the row, who gets one, and a model that has learnt it: for tests that need files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def loans(count: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(20, 120, count),
            "debt": np.round(draw.uniform(0, 60, count), 1),
            "age": draw.integers(18, 80, count),
            "job": draw.choice(["none", "part-time", "full-time"], count),
        }
    )


def outcomes(rows: pd.DataFrame) -> np.ndarray:
    merit = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time") - 4
    return np.where(merit > 0, "granted", "refused")


def lender(rows: pd.DataFrame) -> Any:
    """A pipeline fitted to the outcomes of some loans."""
    columns = make_column_transformer(
        (StandardScaler(), ["income", "debt", "age"]),
        (OneHotEncoder(handle_unknown="ignore"), ["job"]),
    )
    return make_pipeline(columns, LogisticRegression()).fit(rows, outcomes(rows))
