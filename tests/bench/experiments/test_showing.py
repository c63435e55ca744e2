"""What tables show of findings that are known beforehand."""

from __future__ import annotations

import pytest

from bench.found import findings, record
from macex.bench.experiments import diverse, importance, one, seeds, series
from macex.bench.experiments.registry import EXPERIMENTS
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportTable
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.writing import document

ONE, TWO = record(("a",)), record(("a", "b"))


def tables(section):
    return {
        block.title.split(":")[0]: block
        for block in section.blocks
        if isinstance(block, ReportTable)
    }


def test_tables_show_paper_measured_and_ratio():
    found = findings({"MACE-RL": [ONE, TWO], "default": [ONE, ONE]}, dataset="adult")
    shown = tables(one.show(found, "MLP"))
    assert shown["Sparsity"].lines == [
        ("MACE-RL", "1.52 / 1.50 / 0.99"),
        ("default", "- / 1.00 / -"),
    ]


def test_the_default_is_compared_pair_by_pair():
    found = findings({"MACE-RL": [TWO] * 4, "default": [ONE] * 4, "nearest": [ONE] * 4})
    shown = tables(one.show(found, "MLP"))
    compared = shown["Sparsity, default minus method on queries both solved; lower is sparser"]
    assert compared.lines == [
        ("MACE-RL", "-1.00 [-1.00, -1.00]"),
        ("nearest", "+0.00 [+0.00, +0.00] tied"),
    ]


def test_cells_are_split_by_direction():
    rich, poor = record(("a",), label=1), record(("a", "b"), label=0)
    shown = tables(one.show(findings({"default": [rich, poor, poor]}), "MLP"))
    assert shown["By direction"].lines == [
        ("default", "to", "2.00 / -2.00 (2)"),
        ("default", "from", "1.00 / -1.00 (1)"),
    ]


def test_diversity_stands_beside_the_papers():
    three = record(("a",), ("b",), ("c",), diversity=0.9)
    shown = tables(diverse.show(findings({"MACE-RL": [three]}, dataset="adult", n=3)))
    beside = shown["Diversity over columns changed by either of two"]
    assert beside.lines == [("MACE-RL", "0.79 / 0.90 / 1.14")]


def test_importance_is_ranked_against_changes():
    answers = BenchTask("answers", "adult", "XGBoost", "MACE-RL", stop=3)
    values = BenchTask("importance", "adult", "XGBoost")
    results = Results()
    results.add(TaskOutcome(answers, [record(("age",)), record(("age", "job")), record(("age",))]))
    results.add(TaskOutcome(values, [{"importance": {"age": 2.0, "job": 1.0, "race": 0.1}}]))
    plan = BenchPlan((), ["adult"], ["XGBoost"], ["MACE-RL"], sizes={"adult": 3})
    found = Findings(plan, [answers, values], results)
    assert importance.changes(found, "adult", "MACE-RL") == pytest.approx({"age": 1, "job": 1 / 3})
    assert importance.correlation(found, "adult", "MACE-RL") == pytest.approx(1)


def test_series_are_said_not_to_have_been_run():
    text, table = series.show(findings({})).blocks
    assert "not run" in text
    assert table.lines[-1][0] == "MACE-RL"


def test_one_seed_is_no_summary():
    assert "One seed" in seeds.show(findings({"default": [ONE]})).blocks[0]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_found_is_shown_as_such(name):
    found = findings({}, tables=(name,))
    sections = document(found, [{"cores": 2, "processor": "x"}], "macex bench").sections
    assert len(sections) >= 2


def test_what_went_wrong_is_told_once_for_all_its_places():
    found = findings(dict.fromkeys(("Greedy", "CERTIFAI", "default", "nearest"), "no such file"))
    last = document(found, [], "macex bench").sections[-1]
    assert last.title == "What was not measured"
    assert [line[1] for line in last.blocks[0].lines] == ["not run: no such file"]
    assert "1 more" in last.blocks[0].lines[0][0]
