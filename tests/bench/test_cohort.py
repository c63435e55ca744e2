"""The benchmark of whole populations, on a small part of Adult."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from macex.bench import cohort
from macex.bench.cells import MODELS, fitted
from macex.bench.tables import Report
from macex.datasets import load
from macex.explainer import Explainer


@pytest.fixture(scope="module")
def cell():
    pytest.importorskip("xgboost")
    adult = load("adult")
    few = np.arange(0, len(adult.frame), 60)
    small = replace(adult, frame=adult.frame.iloc[few], label=adult.label[few])
    return fitted(small, "XGBoost", MODELS["XGBoost"])


def test_a_plan_is_as_good_as_the_best_of_all_pairs(cell, monkeypatch):
    monkeypatch.setattr(cohort, "SAMPLE", 60)
    report = Report()
    cohort.plans(Explainer(cell.model, cell.train), cell, report)
    for line in report.parts[0].lines:
        assert line[-1] == line[-2]


@pytest.mark.slow
def test_bias_and_robustness_are_printed(cell):
    report = Report()
    cohort.biases(cell, report)
    cohort.robustness(Explainer(cell.model, cell.train), cell, report, 12)
    flips, _, robust = report.parts
    assert [line[0] for line in flips.lines] == ["gender", "race"]
    assert [line[0] for line in robust.lines] == [
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
