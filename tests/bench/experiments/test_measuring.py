"""What tasks measure, on a made cell with a linear model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bench.made import MadeCells
from macex.bench import methods
from macex.bench.cells import MODELS, BenchCells
from macex.bench.experiments import ablations, answers, examples, growth, importance, times
from macex.bench.experiments.engine import cost, quality
from macex.bench.experiments.examples import nearest_row
from macex.bench.plan import BenchPlan
from macex.bench.tasks import BenchTask
from macex.bench.workshop import Workshop
from macex.errors import DataError


class Stumbling:
    """Gives a row of the other class, and raises on what it does not like."""

    def __init__(self, model, data, seed):
        self.model, self.data = model, data
        self.bad = None

    def explain(self, rows, n=1):
        if self.bad is None:
            self.bad = rows.index[1]
        if self.bad in rows.index:
            raise RuntimeError("not this one")
        decided = self.model.predict(self.data)
        own = self.model.predict(rows)
        return [self.data[decided != label].head(n) for label in own]


@pytest.fixture
def stumbling(monkeypatch):
    monkeypatch.setattr(methods, "_registered", {})
    methods.register("stumbling", Stumbling)


def test_answers_are_judged_and_timed(workshop):
    outcome = answers.measure(BenchTask("answers", "loans", "MLP", "default", stop=8), workshop)
    assert [record["found"] for record in outcome.records] == [1] * 8
    assert all(record["own"] for record in outcome.records)
    assert outcome.cost["queries"] == 8
    assert 0 < outcome.cost["model_cpu"] <= outcome.cost["cpu"]
    assert outcome.cost["calls"] > 0
    assert outcome.cost["setup"] > 0


class Elsewhere:
    """A method that works in another process, and says what that took."""

    def __init__(self, model, data, seed):
        self.model, self.data, self.spent = model, data, (0.0, 0.0)

    def explain(self, rows, n=1):
        sum(range(10**6))  # what its door does here is not its own
        own, decided = self.model.predict(rows), self.model.predict(self.data)
        self.spent = (self.spent[0] + 7.0, self.spent[1] + 5.0)
        return [self.data[decided != label].head(n) for label in own]


def test_who_works_in_another_process_is_timed_in_there_and_pays_for_the_model(
    workshop, monkeypatch
):
    monkeypatch.setattr(methods, "_registered", {})
    methods.register("elsewhere", Elsewhere)
    cost = answers.measure(BenchTask("answers", "loans", "MLP", "elsewhere", stop=4), workshop).cost
    assert cost["cpu"] == pytest.approx(5.0 + cost["model_cpu"])
    assert cost["seconds"] == pytest.approx(7.0 + cost["model_seconds"])
    assert cost["calls"] == 2


def test_a_method_that_holds_a_process_is_closed_when_the_next_is_built(workshop, monkeypatch):
    closed = []

    class Held(Elsewhere):
        def close(self):
            closed.append(self)

    monkeypatch.setattr(methods, "_registered", {})
    methods.register("elsewhere", Held)
    first = workshop.built(BenchTask("answers", "loans", "MLP", "elsewhere", stop=4)).explainer
    workshop.built(BenchTask("answers", "loans", "MLP", "default", stop=4))
    workshop.built(BenchTask("alone", "loans", "MLP", "default", stop=4))
    assert closed == [first]


def test_blocks_are_parts_of_the_whole(workshop):
    whole = answers.measure(BenchTask("answers", "loans", "MLP", "default", stop=8), workshop)
    part = answers.measure(
        BenchTask("answers", "loans", "MLP", "default", start=5, stop=8), workshop
    )
    assert part.records == whole.records[5:]


def test_a_method_that_crashes_on_one_query_keeps_the_others(workshop, stumbling):
    outcome = answers.measure(BenchTask("answers", "loans", "MLP", "stumbling", stop=5), workshop)
    errors = [record.get("error") for record in outcome.records]
    assert errors == [None, "RuntimeError: not this one", None, None, None]
    assert [record["found"] for record in outcome.records] == [1, 0, 1, 1, 1]


def test_time_alone_is_taken_whatever_raises(workshop, stumbling):
    outcome = times.measure(BenchTask("alone", "loans", "MLP", "stumbling", stop=3), workshop)
    assert outcome.cost["queries"] == 3
    assert outcome.cost["seconds"] > 0


def test_a_method_that_answers_what_cannot_be_read_is_reported(workshop, monkeypatch):
    class Odd:
        def explain(self, rows, n=1):
            return "nothing"

    monkeypatch.setattr(methods, "_registered", {})
    methods.register("odd", lambda model, data, seed: Odd())
    outcome = answers.measure(BenchTask("answers", "loans", "MLP", "odd", stop=2), workshop)
    assert all("explain() returned str" in record["error"] for record in outcome.records)


def test_a_variant_answers_by_itself(workshop):
    task = BenchTask("ablation", "loans", "MLP", "w = 2 columns (8)", stop=3)
    outcome = ablations.measure(task, workshop)
    assert [record["found"] for record in outcome.records] == [1, 1, 1]
    assert max(one["sparsity"] for r in outcome.records for one in r["counterfactuals"]) <= 2


@pytest.mark.parametrize("name", ablations.VARIANTS)
def test_every_variant_can_be_built(name, cells):
    cell = cells.get("loans", "MLP")
    options = {**methods.REINFORCE, **ablations.VARIANTS[name]}
    assert methods.ours(options)(cell.model, cell.train.head(30), 0).columns == list(cell.train)


@pytest.mark.parametrize("point", ["queries=7", "rows=300", "columns=6", "categories=9"])
def test_growth_is_measured_at_every_kind_of_point(point, workshop, monkeypatch):
    monkeypatch.setattr(growth, "BASES", {})
    monkeypatch.setattr(growth, "Shape", lambda: SMALL)
    record = growth.measure(BenchTask("growth", point=point), workshop).records[0]
    assert all(value > 0 for value in record.values())
    assert set(record) == set(growth.HEADINGS)


def test_growth_knows_many_classes(workshop, monkeypatch):
    monkeypatch.setattr(growth, "Shape", lambda: SMALL)
    record = growth.measure(BenchTask("growth", point="classes=4"), workshop).records[0]
    assert record["calls"] > 0


SMALL = growth.Shape(queries=3, rows=400, columns=5, categories=4, classes=2)


def test_the_nearest_optimum_is_never_farther(workshop):
    task = BenchTask("nearest optimum", "loans", "MLP", "nearest", stop=4)
    for record in quality.measure(task, workshop).records:
        assert record["least"] <= record["reached"] + 1e-9


def test_cost_divides_cpu_between_model_and_engine(workshop):
    outcome = cost.measure(BenchTask("cost", "loans", "MLP", "default", stop=10), workshop)
    assert 0 < outcome.cost["model_cpu"] < outcome.cost["cpu"]


def test_a_printed_row_is_found_or_the_nearest_one():
    frame = pd.DataFrame({"age": [28, 30], "job": ["a", "b"]})
    row, differing = nearest_row(frame, {"age": 30, "job": "b"})
    assert list(row.index) == [1]
    assert differing == []
    assert nearest_row(frame, {"age": 31, "job": "b"})[1] == ["age"]
    with pytest.raises(DataError, match="height"):
        nearest_row(frame, {"height": 3})


def test_printed_rows_are_explained_without_fine_tuning(cells):
    adult = BenchCells(None, cells.models)
    outcome = examples.measure(BenchTask("examples", "adult", "MLP", point="4"), Workshop(adult))
    assert [record["differing"] for record in outcome.records] == [[], []]
    for record in outcome.records:
        assert len(record["changes"]) == 3
        assert len(record["actions"]) == 4


def test_importance_is_that_of_columns_not_of_their_parts():
    pytest.importorskip("xgboost")
    trees = Workshop(MadeCells())
    trees.cells.models = MODELS
    outcome = importance.measure(BenchTask("importance", "loans", "XGBoost", stop=40), trees)
    sizes = outcome.records[0]["importance"]
    assert set(sizes) == {"income", "debt", "home", "job"}
    assert min(sizes, key=sizes.get) == "job"
    assert max(sizes, key=sizes.get) == "income"


def test_a_plan_gives_slow_methods_their_sample():
    plan = BenchPlan((), ["loans"], ["MLP"], ["default", "CERTIFAI"], sizes={"loans": 250})
    tasks = plan.answers(["MLP", "XGBoost"], plan.chosen())
    assert [(task.method, task.start, task.stop) for task in tasks] == [
        ("default", 0, 100),
        ("default", 100, 200),
        ("default", 200, 250),
        ("CERTIFAI", 0, 100),
    ]
    assert np.all([task.model == "MLP" for task in tasks])
