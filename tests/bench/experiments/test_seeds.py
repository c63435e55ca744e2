"""The summary over seeds: the same rows for every method, and what loses is said."""

from __future__ import annotations

import pytest

from bench.found import record
from macex.bench.experiments import seeds
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportTable
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome

CELL = ("loans", "MLP")


def run(answers, count=2):
    """The same records of each method for every seed."""
    results, tasks = Results(), []
    for seed in range(count):
        for name, records in answers.items():
            tasks.append(BenchTask("answers", *CELL, name, seed, stop=len(records)))
            results.add(TaskOutcome(tasks[-1], records))
    plan = BenchPlan(
        ("seeds",), ["loans"], ["MLP"], list(answers), seeds=count, sizes={"loans": 500}
    )
    return Findings(plan, tasks, results)


def tables(found):
    return [block for block in seeds.show(found).blocks if isinstance(block, ReportTable)]


def test_means_are_over_the_queries_that_every_method_solved():
    hard = record(("a", "b", "c"))
    found = run({"default": [record(("a",)), hard], "Greedy": [record(("a",)), record()]})
    assert seeds.means(found, "sparsity", CELL, 0) == {"default": 1.0, "Greedy": 1.0}


def test_a_longer_run_counts_no_further_than_a_hundred():
    """The first seed's run may be over the whole test part for one method and not for another."""
    many = [record(("a",))] * 100 + [record(("a", "b"))] * 100
    found = run({"default": many, "Greedy": many})
    assert seeds.means(found, "sparsity", CELL, 0)["default"] == 1.0


def test_a_measure_in_which_another_method_leads_is_reported_as_lost():
    near, far = record(("a", "b"), proximity=-0.1), record(("a",), proximity=-0.5)
    for one, distance in ((near, 0.1), (far, 0.5)):
        one["counterfactuals"][0]["distance"] = distance
    found = run({"CERTIFAI": [near], "default": [far], "nearest": [far]})
    leaders = {line[0]: line[1:] for line in tables(found)[1].lines}
    assert leaders["distance"] == ("0.100 CERTIFAI", "0.500", "0.500", "2 of 2", "2 of 2")
    assert leaders["changed columns"][-2:] == ("0 of 2", "0 of 2")
    claims = {claim.sentence: claim for claim in seeds.claims(found)}
    lost = claims["nearest: the best distance over 2 seeds, mean of cells"]
    assert lost.held is False
    assert lost.number.startswith("0.500; best: 0.100 CERTIFAI")
    assert claims["default: the best changed columns over 2 seeds, mean of cells"].held


@pytest.mark.parametrize("name", ["DiCE random", "OmniXAI MACE-RL"])
def test_methods_that_are_asked_less_are_left_out(name):
    plan = BenchPlan(("seeds",), ["loans"], ["MLP"], [name, "NICE"], seeds=2, sizes={"loans": 500})
    assert {task.method for task in seeds.tasks(plan)} == {"NICE"}
