"""Cells that are quick to fit: the embedded data, and a linear model."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from macex.bench.cells import Cells, pipeline


def linear(dataset):
    return pipeline(dataset, StandardScaler(), LogisticRegression(max_iter=300))


@pytest.fixture(scope="session")
def breast():
    return Cells(names=("breast",), models={"linear": linear})


@pytest.fixture(scope="session")
def adult():
    return Cells(names=("adult",), models={"linear": linear})
