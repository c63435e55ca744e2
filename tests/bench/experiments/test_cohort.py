"""The benchmark of whole populations, on a small part of Adult."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from macex.bench.cells import MODELS, fitted
from macex.bench.experiments import cohort
from macex.datasets import load
from macex.explainer import Explainer


@pytest.fixture(scope="module")
def cell():
    pytest.importorskip("xgboost")
    adult = load("adult")
    few = np.arange(0, len(adult.frame), 60)
    small = replace(adult, frame=adult.frame.iloc[few], label=adult.label[few])
    return fitted(small, "XGBoost", MODELS["XGBoost"])


def test_a_plan_is_nearly_as_good_as_the_best_of_all_pairs(cell, monkeypatch):
    monkeypatch.setattr(cohort, "SAMPLE", 60)
    for line in cohort.plans(Explainer(cell.model, cell.train), cell):
        assert line["plan"] >= line["best of all pairs"] - 1
        assert line["plan"] >= line["default plan"] > line["AReS"]


@pytest.mark.slow
def test_bias_and_robustness_are_measured(cell):
    explainer = Explainer(cell.model, cell.train)
    flips, robust = cohort.biases(explainer, cell), cohort.robustness(explainer, cell, 12)
    assert [line["column"] for line in flips] == ["gender", "race"]
    assert [line["accepted if"] for line in robust] == [
        "valid (default)",
        "robust=0.9",
        "also= five refits",
        "both",
    ]


def test_the_best_cover_is_no_less_than_a_greedy_one():
    draw = np.random.default_rng(0)
    reached = draw.random((30, 40)) < 0.2
    covered = np.zeros(40, bool)
    for _ in range(3):
        covered |= reached[(reached & ~covered).sum(axis=1).argmax()]
    assert cohort.most_covered(reached, 3) >= covered.sum()
