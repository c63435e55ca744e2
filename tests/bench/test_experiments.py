"""Every experiment runs on a small configuration and prints its tables."""

from __future__ import annotations

from sklearn.tree import DecisionTreeClassifier

from macex.bench import cardinality, cost, quality, searches, thresholds
from macex.bench.tables import Report, Table
from macex.explainer import Explainer


def tables(report):
    return [part for part in report.parts if isinstance(part, Table)]


def test_quality_prints_four_tables_with_a_line_per_cell(breast):
    report = Report()
    claims = quality.run(breast, report, queries=4)
    assert [len(table.lines) for table in tables(report)] == [1, 1, 1, 1]
    held = {claim.sentence: claim.held for claim in claims}
    assert held["validity is 1.00"] is True
    assert held["changes above the optimum on record"] is None


def test_searches_prints_each_search_and_each_reading(breast):
    report = Report()
    assert searches.run(breast, report, queries=3, seeds=1) == []
    alone, readings = tables(report)
    assert [line[1] for line in alone.lines] == [*searches.SEARCHES] * 2
    assert [line[0] for line in readings.lines] == ["breast / linear", "mean"]


def test_cost_divides_cpu_between_model_and_engine(adult):
    spent = cost.spend(adult.get("adult", "linear"), batch=20)
    assert 0 < spent.model_cpu < spent.cpu
    assert spent.engine_cpu + spent.model_cpu == spent.cpu
    assert spent.rows > 20
    assert spent.calls > 1


def test_cost_prints_a_batch_and_single_queries(adult):
    report = Report()
    claims = cost.run(adult, report, batch=5, singles=3)
    many, one = tables(report)
    assert many.lines[0][0] == "adult / linear"
    assert [line[0] for line in one.lines] == ["median", "nine in ten"]
    assert len(claims) == 3


def test_cost_goes_on_where_there_is_no_adult_cell(breast):
    report = Report()
    assert len(cost.run(breast, report, batch=5, singles=2)) == 1


def test_cardinality_prints_ratios_and_curves():
    report = Report()
    claims = cardinality.run(
        report, rows=400, queries=3, few_and_many=(5, 50), widths=(5, 8), lengths=(300,)
    )
    few_and_many, wide, long = tables(report)
    assert [line[0] for line in few_and_many.lines] == ["5", "50", "ratio"]
    assert [line[0] for line in wide.lines] == ["5", "8"]
    assert [line[0] for line in long.lines] == ["300"]
    assert len(claims) == 4


def test_thresholds_counts_what_is_proved(breast):
    cell = breast.get("breast", "linear")
    label = cell.dataset.label[cell.dataset.split()[0]]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(cell.train, label)
    explainer = Explainer(tree, cell.train, candidates="thresholds")
    found = thresholds.measure(explainer, cell.queries(6), singles=2)
    assert found.proved == 1
    assert found.changes >= 1


def test_thresholds_goes_on_where_there_is_no_adult_cell(breast):
    assert thresholds.run(breast, Report(), queries=2) == []
