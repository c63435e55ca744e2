"""Explainers and rows that pages show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")

from macex import Explainer

CITIES = [f"city {number:03d}" for number in range(200)]
DATA = pd.DataFrame(
    {
        "hours": range(20, 220),
        "rate": np.linspace(0, 1, 200).round(3),
        "job": ["cook", "nurse"] * 100,
        "city": CITIES,
        "since": pd.date_range("2020-01-01", periods=200).where(np.arange(200) % 9 > 0),
    }
)


def scored(rows):
    return 1 / (1 + np.exp((100.5 - rows["hours"]) / 10))


@pytest.fixture(scope="session")
def explainer():
    return Explainer(scored, DATA, classes=("no", "yes"))
