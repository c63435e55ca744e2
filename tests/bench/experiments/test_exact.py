"""Exact answers beside programs that solve for the same forest."""

from __future__ import annotations

import pytest

from bench.made import MadeCells
from macex.bench.cells import MODELS
from macex.bench.experiments import exact
from macex.bench.findings import Findings
from macex.bench.forests import OCEAN, TREECF, BenchForest
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.errors import OptionError

SMALL = "20 trees of depth 3"
PLAN = BenchPlan(("exact",), ["adult"], ["XGBoost"], (), sizes={"adult": 500})


@pytest.fixture(scope="module")
def trees():
    pytest.importorskip("xgboost")
    workshop = Workshop(MadeCells())
    workshop.cells.models = MODELS
    return workshop


def task(method, stop=4):
    return BenchTask("exact", "loans", "XGBoost", method, stop=stop, point=SMALL)


def test_a_row_of_inputs_is_read_as_a_row_of_the_frame(trees):
    forest = BenchForest(exact._cell(task("OCEAN"), trees))
    query = forest.cell.queries(1)
    inputs = forest.inputs(query)[0]
    assert forest.row(query, inputs).equals(query)
    by_name = {column.name: column for column in forest.columns}
    home, income = by_name["home"], by_name["income"]
    inputs[home.inputs] = [1.0, 0.0]
    inputs[income.inputs] += 2.3
    row = forest.row(query, inputs)
    assert row["home"].iloc[0] == "own"
    assert row["income"].iloc[0] == query["income"].iloc[0] + 3  # on its grid, beyond the split
    assert row["debt"].equals(query["debt"])
    assert (row.dtypes == query.dtypes).all()


def test_ours_are_judged_and_proved(trees):
    for record in exact.measure(task("macex"), trees).records:
        assert record["proved"]
        assert record["sparsity"] >= 1
        assert record["cpu"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "theirs", "metric"),
    [("macex", "OCEAN", "sparsity"), ("macex nearest", "treecf", "distance")],
)
def test_a_program_that_solves_for_the_forest_agrees(trees, ours, theirs, metric):
    try:
        (OCEAN if theirs == "OCEAN" else TREECF).python()
    except OptionError as error:
        pytest.skip(str(error))
    own, other = (exact.measure(task(name, 8), trees).records for name in (ours, theirs))
    assert all(record["proved"] for record in other)
    reached = [record[metric] for record in own]
    assert reached == pytest.approx([record[metric] for record in other], abs=1e-6)


def found(ours, theirs):
    tasks, results = [], Results()
    for name, values in (("macex", ours), ("OCEAN", theirs)):
        tasks.append(BenchTask("exact", "adult", "XGBoost", name, stop=len(values), point=SMALL))
        records = [
            {"proved": value is not None, "cpu": 2.0, "clock": 2.0, "why": ""}
            | ({} if value is None else {"sparsity": value})
            for value in values
        ]
        results.add(TaskOutcome(tasks[-1], records, {"setup": 0.1}))
    return Findings(PLAN, tasks, results)


def test_an_answer_worse_than_a_proved_optimum_is_reported():
    fewest, *_ = exact.claims(found([1, 2, 2], [1, 1, 2]))
    assert fewest.held is False
    assert "+0.33" in fewest.number
    fewest, *_ = exact.claims(found([1, 1, 2], [1, 1, None]))
    assert fewest.held


def test_means_are_over_what_both_answered():
    table = exact.show(found([1, 3, 5], [1, None, 5])).blocks[1]
    assert [line[5] for line in table.lines] == ["3.00", "3.00"]
    assert [line[3] for line in table.lines] == ["1.00", "0.67"]


def test_ocean_is_asked_less_about_the_large_forest():
    asked = {(t.method, t.point): t.stop for t in exact.tasks(PLAN)}
    assert asked["OCEAN", exact.LARGE] == exact.FEW
    assert asked["treecf", exact.LARGE] == exact.QUERIES
