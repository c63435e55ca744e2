"""Answers that would be believed: every preference is measured, and shown beside others."""

from __future__ import annotations

from macex.bench.cells import BenchCells
from macex.bench.experiments.believable import (
    COLUMNS,
    KIND,
    OPTIMUM,
    PREFERRED,
    claims,
    measure,
    show,
    tasks,
)
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask
from macex.bench.workshop import Workshop


def test_a_made_up_table_is_measured_and_shown(tmp_path):
    plan = BenchPlan(("believable",), (), ("XGBoost",), ("MACE-RL",), queries=3)
    every = tasks(plan)
    assert {task.method for task in every} == {*PREFERRED, OPTIMUM, "MACE-RL"}
    chosen = [
        BenchTask(KIND, "patients", "XGBoost", name, stop=3)
        for name in ("balanced", OPTIMUM, "MACE-RL")
    ]
    results = Results(tmp_path / "out")
    results.start({})
    for task in chosen:
        outcome = measure(task, Workshop(BenchCells()))
        assert outcome.error is None
        assert any(outcome.records)
        assert all(0 <= record["held"] <= 1 for record in outcome.records if record)
        results.add(outcome)
    findings = Findings(plan, chosen, results)
    tables = [block for block in show(findings).blocks if not isinstance(block, str)]
    assert [line[0] for line in tables[0].lines] == ["balanced", OPTIMUM, "MACE-RL"]
    figures = {line[0]: dict(zip(COLUMNS, line[1:], strict=True)) for line in tables[0].lines}
    assert float(figures["balanced"]["broken"]) == 0
    assert float(figures[OPTIMUM]["over optimum"]) == 1
    assert float(figures["balanced"]["over optimum"]) >= 1
    assert len(claims(findings)) == 2
