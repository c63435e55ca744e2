"""Table 7 on a small made set."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.cells import Cells
from macex.bench.experiments import series
from macex.bench.findings import Findings
from macex.bench.plan import Plan
from macex.bench.results import Results
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset
from series.machines import made_cases

PLAN = Plan(("7",), (), (), (), queries=2, series={"natops": 6})


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
        results.add(series.measure(task, Workshop(Cells(None))))
    return Findings(PLAN, tasks, results)


def test_every_method_answers_every_goal_and_the_table_ends_with_means(findings):
    table = series.show(findings).blocks[2]
    methods = ["Greedy", "Greedy, row by row", "MACE-GLD", "MACE-RL", "default"]
    assert [line[0] for line in table.lines[:-5]] == [name for name in methods for _ in range(2)]
    assert [line[:3] for line in table.lines[-5:]] == [(name, "all", "1.00") for name in methods]
    assert all(float(line[3]) >= 1 for line in table.lines)


def test_validity_is_a_claim_of_every_method(findings):
    assert [claim.held for claim in series.claims(findings)] == [True] * 5


def test_without_files_the_section_says_so():
    plan = Plan(("7",), (), (), ())
    section = series.show(Findings(plan, series.tasks(plan), Results()))
    assert "were not run" in section.blocks[0]
