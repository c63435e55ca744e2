"""The bench of many rows measures what it says, at any size."""

from __future__ import annotations

import pandas as pd
import pytest

from bench.made import MadeCells, made
from macex.bench.experiments.scale import night, pace, table
from macex.bench.experiments.scale.crowd import crowd, write_crowd
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.explainer import Explainer
from macex.scale.files import explain_file


@pytest.fixture
def workshop():
    return Workshop(MadeCells(names=("adult",)))


def test_a_crowd_is_as_large_as_asked_and_like_its_dataset():
    dataset = made("loans")
    frames = list(crowd(dataset, 250, size=100))
    assert [len(frame) for frame in frames] == [100, 100, 50]
    joined = pd.concat(frames)
    assert joined.dtypes.to_dict() == dataset.frame.dtypes.to_dict()
    assert joined["income"].between(10, 90).all()
    pd.testing.assert_frame_equal(next(crowd(dataset, 100, size=100)), frames[0])


def test_sizes_are_options():
    plan = BenchPlan((), ["adult"], ["XGBoost"], (), queries=500, sizes={"adult": 48}, rows=5000)
    sizes = {(task.point, task.stop) for task in table.tasks(plan)}
    assert {("one process", 500), ("long run", 5000), ("file", 5000)} <= sizes


def test_a_long_run_is_compared_with_fresh_ones_all_along(workshop, monkeypatch):
    monkeypatch.setattr(pace, "CHUNK", 8)
    monkeypatch.setattr(pace, "SIZES", (16, 40))
    monkeypatch.setattr(pace, "PROBES", 4)
    asked, cpu_ms = [], pace._cpu_ms
    monkeypatch.setattr(pace, "_cpu_ms", lambda *one: asked.append(one) or cpu_ms(*one))
    task = BenchTask("scale", "adult", "MLP", "default", stop=68, point=table.FLAT)
    records = pace.flat(task, workshop).records
    assert [record["rows"] for record in records] == [16, 40, 68]
    assert all(record["cpu_ms"] > 0 and record["fresh_ms"] > 0 for record in records)
    long = max((id(one) for one, _ in asked), key=[id(one) for one, _ in asked].count)
    turns = [asked[at : at + 4] for at in range(0, len(asked), 4)]
    assert len(turns) == 2 + 3 + 2  # of 9 chunks: all up to 40 rows, every second and the last
    for turn in turns:
        assert [id(one) == long for one, _ in turn] == [True, False, False, True]
        assert turn[1][0] is turn[2][0]
        assert len({id(frame) for _, frame in turn}) == 1


@pytest.mark.parametrize("point", [table.ONE, table.WORKERS, table.FLAT])
def test_paces_are_measured(workshop, point, monkeypatch):
    monkeypatch.setattr(pace, "PAIRS", 1)
    outcome = table.measure(
        BenchTask("scale", "adult", "MLP", "default", stop=64, point=point), workshop
    )
    numbers = [*outcome.cost.values(), *(v for r in outcome.records for v in r.values())]
    assert numbers
    assert all(number > 0 for number in numbers)


def test_the_quickest_frame_and_the_usual_one_are_told_apart(workshop, monkeypatch):
    monkeypatch.setattr(pace, "crowd", lambda dataset, count: crowd(dataset, count, size=20))
    task = BenchTask("scale", "adult", "MLP", "default", stop=100, point=table.ONE)
    cost = table.measure(task, workshop).cost
    assert cost["queries"] == 100
    assert cost["quickest"] >= cost["usual"] > 0
    assert cost["one_thread"] >= cost["queries"] / cost["seconds"]


def test_the_parts_of_another_model_are_not_the_same_bytes(workshop, tmp_path):
    pytest.importorskip("pyarrow")
    cell = workshop.cells.get("adult", "MLP")
    explainer = Explainer(cell.model, cell.train)
    write_crowd(cell.dataset, 60, tmp_path / "rows.parquet")
    explain_file(explainer, tmp_path / "rows.parquet", tmp_path / "out", index="number")
    assert night._same(explainer, tmp_path / "rows.parquet", tmp_path / "out")
    other = Explainer(lambda rows: cell.model.predict_proba(rows)[:, ::-1], cell.train)
    assert not night._same(other, tmp_path / "rows.parquet", tmp_path / "out")


def test_memory_of_a_process_is_seen():
    import os

    assert night.memory(os.getpid()) > 10


def test_tables_and_claims_say_what_was_measured(tmp_path):
    cost = dict.fromkeys(("queries", "seconds", "cpu", "model_cpu", "alone_cpu"), 1.0) | {
        "queries": 900.0,
        "quickest": 850.0,
        "usual": 700.0,
        "one_thread": 800.0,
    }
    points = {
        table.ONE: TaskOutcome(BenchTask("scale", "adult", "XGBoost", point=table.ONE), [], cost),
        table.WORKERS: TaskOutcome(
            BenchTask("scale", "adult", "XGBoost", stop=9, point=table.WORKERS),
            [
                {"jobs1": 100.0, "jobs2": 150.0},
                {"jobs1": 100.0, "jobs2": 190.0},
                {"jobs1": 200.0, "jobs2": 320.0},
            ],
        ),
        table.FLAT: TaskOutcome(
            BenchTask("scale", "adult", "XGBoost", stop=10_000, point=table.FLAT),
            [
                {"rows": 1_000, "cpu_ms": 1.2, "fresh_ms": 1.0},
                {"rows": 10_000, "cpu_ms": 1.0, "fresh_ms": 1.0},
            ],
        ),
        table.NIGHT: TaskOutcome(
            BenchTask("scale", "adult", "XGBoost", stop=1_000_000, point=table.NIGHT),
            [{"seconds": 2000.0, "peak_mb": 900.0, "same": True}],
        ),
    }
    results = Results(tmp_path)
    results.start({})
    for outcome in points.values():
        results.add(outcome)
    plan = BenchPlan((), ["adult"], ["XGBoost"], ())
    findings = Findings(plan, [outcome.task for outcome in points.values()], results)
    held = {claim.sentence: claim.held for claim in table.claims(findings)}
    assert held["XGBoost: Adult rows a second, quickest frame of 4,096"] is True
    flat = (
        "cost of a row in a run of 10,000, where it is highest, against a fresh run of a thousand"
    )
    assert held[flat] is False
    assert held["XGBoost: two processes against one, median of pairs of runs"] is False
    gains = table.show(findings).blocks[1]
    assert gains.lines[0][2:] == ("100.00", "190.00", "1.60")
    assert held["1,000,000 rows file to file, killed twice: the same bytes"] is True
    assert len(table.show(findings).blocks) == 4


def test_steady_pace_leaves_the_start_out(workshop):
    cell = workshop.cells.get("adult", "MLP")
    frames = list(crowd(cell.dataset, 40, size=4))
    assert pace.steady(Explainer(cell.model, cell.train), frames, 1) > 0
