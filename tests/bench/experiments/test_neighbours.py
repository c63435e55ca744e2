"""The benchmark of very many training rows, with fewer of them."""

from __future__ import annotations

import pytest

from macex.bench.experiments import neighbours
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome

pytest.importorskip("faiss")

MILLION = BenchTask("neighbours", dataset="neighbours", method="ivf", point="rows=1000000")
MANY = BenchTask("fitting", dataset="fitting", point="rows=10000000")


def found(*outcomes: TaskOutcome) -> Findings:
    results = Results()
    for outcome in outcomes:
        results.add(outcome)
    tasks = [outcome.task for outcome in outcomes]
    return Findings(BenchPlan(("neighbours",), [], [], []), tasks, results)


def test_an_index_is_measured_against_comparing_all_rows(monkeypatch):
    monkeypatch.setattr(neighbours, "BATCH", 50)
    monkeypatch.setattr(neighbours, "JUDGED", 20)
    task = BenchTask("neighbours", method="ivf", point="rows=6000")
    outcome = neighbours.measure(task, None)
    assert set(outcome.records[0]) == set(neighbours.HEADINGS)
    assert outcome.records[0]["recall"] >= 0.99
    assert "6,000" in neighbours.show(found(outcome)).blocks[0].lines[0]


def test_memory_is_that_of_a_process_of_its_own():
    record = neighbours.fitted_apart(2000)
    assert 0.05 < record["table"] <= record["memory"] < 4
    assert record["recall"] == 1


def test_claims_are_held_against_what_was_measured():
    good = dict.fromkeys(neighbours.HEADINGS, 0.995)
    held = neighbours.claims(
        found(TaskOutcome(MILLION, [good]), TaskOutcome(MANY, [{"memory": 9.0, "fit": 1.0}]))
    )
    assert [claim.held for claim in held] == [True, True, True, True, False]
    assert neighbours.claims(found()) == []


def test_every_size_is_a_task_of_its_own():
    every = neighbours.tasks(BenchPlan(("neighbours",), [], [], []))
    assert MILLION in every
    assert MANY in every
    assert len(set(every)) == len(every)
