"""Table 7 on a small made set."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.cells import BenchCells
from macex.bench.experiments import paper_claims, series
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset
from series.machines import made_cases

PLAN = BenchPlan(("7",), (), (), (), queries=2, series={"natops": 6})


@pytest.fixture(autouse=True)
def made(monkeypatch):
    monkeypatch.setattr(series, "TREES", 10)
    labels = np.array(["calm", "bump", "raised"] * 20)
    cases = np.concatenate([made_cases(), made_cases(12, seed=1)])
    names = tuple(f"s{place}" for place in range(6))
    data = SeriesDataset("natops", cases, np.append(labels, labels[:12]), names, 60, "made")
    monkeypatch.setattr(series, "load_series", lambda name, folder: data)


@pytest.fixture
def findings():
    results, tasks = Results(), series.tasks(PLAN)
    for task in tasks:
        results.add(series.measure(task, Workshop(BenchCells(None))))
    return Findings(PLAN, tasks, results)


def test_every_method_answers_every_goal_and_the_table_ends_with_means(findings):
    table = series.show(findings).blocks[3]
    methods = ["Greedy", "Greedy, row by row", "MACE-GLD", "MACE-RL", "default"]
    assert [line[0] for line in table.lines[:-5]] == [name for name in methods for _ in range(2)]
    assert [line[:3] for line in table.lines[-5:]] == [(name, "all", "1.00") for name in methods]
    assert all(float(line[3]) >= 1 for line in table.lines)


def test_validity_is_one_claim_for_all_methods(findings):
    (claim,) = series.claims(findings)
    assert claim.held
    assert claim.number == "5 of 5 cells"


def test_greedy_as_published_is_asked_less_on_wide_sets():
    plan = BenchPlan(("7",), (), (), (), series={"natops": 24, "wide": 563})
    asked = {(task.dataset, task.method): task.stop for task in series.tasks(plan)}
    assert asked["natops", series.PUBLISHED] == asked["natops", series.GREEDY] == 3
    assert asked["wide", series.PUBLISHED] == 1
    assert asked["wide", series.GREEDY] == 3


def test_methods_are_timed_against_each_other_on_the_same_queries_and_goals():
    """The published Greedy answers one query of one goal; MACE-RL's slow others do not count."""
    plan = BenchPlan(("7",), (), (), (), series={"wide": 563})
    published = BenchTask("series", "wide", "forest", series.PUBLISHED, stop=1)
    ours = BenchTask("series", "wide", "forest", "MACE-RL", stop=2)
    results = Results()
    results.add(TaskOutcome(published, [{"goal": "a", "each": [30.0]}]))
    slow = [{"goal": "a", "each": [2.0, 50.0]}, {"goal": "b", "each": [70.0, 90.0]}]
    results.add(TaskOutcome(ours, slow))
    found = Findings(plan, [published, ours], results)
    assert series.faster(found, "wide", "MACE-RL", series.PUBLISHED) == (15.0, 1)
    claims = {claim.sentence: claim for claim in paper_claims.series(found)}
    (row_by_row,) = [claim for words, claim in claims.items() if "row by row" in words]
    (batched,) = [claim for words, claim in claims.items() if "batches" in words]
    assert row_by_row.held
    assert batched.held is None


def test_without_files_the_section_says_so():
    plan = BenchPlan(("7",), (), (), ())
    section = series.show(Findings(plan, series.tasks(plan), Results()))
    assert "were not run" in section.blocks[0]
