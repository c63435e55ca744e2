"""Every kind of model is measured alone and in a batch, with and without a twin."""

from __future__ import annotations

import pytest

from macex.bench.cells import BenchCells
from macex.bench.experiments import kinds, thresholds
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.workshop import Workshop

PLAN = BenchPlan(("kinds",), ("adult",), ("XGBoost",), (), queries=2, sizes={"adult": 9000})


def table_of(experiment, tasks, tmp_path):
    """The first table that an experiment shows of some tasks."""
    results = Results(tmp_path / "results.jsonl")
    workshop = Workshop(BenchCells(None))
    for task in tasks:
        results.add(experiment.measure(task, workshop))
    return experiment.show(Findings(PLAN, tasks, results)).blocks[0]


def test_a_kind_has_a_line_and_one_without_a_twin_has_dashes(monkeypatch, tmp_path):
    pytest.importorskip("skl2onnx")
    monkeypatch.setattr(kinds, "TRAINED", 300)
    tasks = [t for t in kinds.tasks(PLAN) if t.point in ("function", "logistic, pipeline")]
    table = table_of(kinds, tasks, tmp_path)
    assert [line[0] for line in table.lines] == ["function", "logistic, pipeline"]
    assert table.lines[0][3:] == ("-", "-")
    assert all(float(value) > 0 for value in table.lines[1][1:])


def test_exact_answers_are_all_proved(tmp_path):
    pytest.importorskip("xgboost")
    tasks = [t for t in thresholds.tasks(PLAN) if t.point == "own categories"]
    table = table_of(thresholds, tasks, tmp_path)
    assert [line[1] for line in table.lines] == ["both", "thresholds"]
    assert float(table.lines[1][-1]) == 1
