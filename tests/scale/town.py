"""Loans and who grants them, for rows by the thousand and workers in other processes.

Models are made inside functions, so that they travel whole to processes that have no tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

import macex as mx
from lending import loans


def grants():
    """A model that is a plain function."""

    def granted(rows):
        points = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time") - 4
        return 1 / (1 + np.exp(-points))

    return granted


def deadly_bank(mark: Path, income: int) -> mx.Explainer:
    """An explainer whose process dies, once, when its model is asked about this income."""
    granted = grants()

    def deadly(rows):
        if (rows["income"] == income).any() and not mark.exists():
            mark.touch()
            os._exit(1)
        return granted(rows)

    mark.touch()
    explainer = bank(deadly)
    mark.unlink()
    return explainer


def bank(model=None) -> mx.Explainer:
    return mx.Explainer(model or grants(), loans(500, seed=1), classes=("refused", "granted"))


def applicants(count: int, seed: int = 2) -> pd.DataFrame:
    """Rows with a key, not in its order."""
    keys = np.random.default_rng(seed).permutation(count)
    return loans(count, seed=seed).assign(key=keys)


def expected(explainer: mx.Explainer, rows: pd.DataFrame, n: int = 1) -> pd.DataFrame:
    """What one process says, with the key of each row."""
    table = explainer.explain(rows[explainer.columns], n=n).to_frame()
    return table.assign(key=rows["key"].to_numpy()[table["cf.row"]]).drop(columns="cf.row")


def ordered(table: pd.DataFrame) -> list[tuple[object, ...]]:
    """The lines as plain values by key and rank, whatever the types of the columns."""
    names = sorted(table.columns)
    kept = table[names].sort_values(["key", "cf.rank"]).astype(object)
    return list(kept.where(kept.notna(), None).itertuples(index=False, name=None))
