"""Cells that are quick to fit and easy to reason about: a made table, and a linear model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from macex.bench.cells import BenchCells, pipeline
from macex.datasets import Dataset


def made(name="loans", rows=240):
    """Loans: granted where income, with a bonus for owners, exceeds debt."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": random.integers(10, 90, rows),
            "debt": random.normal(40, 12, rows).round(1),
            "home": random.choice(["own", "rent"], rows),
            "job": random.choice(["a", "b", "c"], rows),
        }
    )
    label = (frame["income"] + 15 * (frame["home"] == "own") > frame["debt"] + 8).to_numpy(int)
    labels = ("refused", "granted")
    return Dataset(name, frame, label, labels, ("home", "job"), ("income", "debt"), "made up")


def linear(dataset):
    return pipeline(dataset, StandardScaler(), LogisticRegression(max_iter=300))


class MadeCells(BenchCells):
    """Cells of made datasets, with a linear model in the place of both of the paper's."""

    def __init__(self, names=("loans",), models=("XGBoost", "MLP")):
        super().__init__(None, dict.fromkeys(models, linear))
        self._datasets = {name: made(name) for name in names}
