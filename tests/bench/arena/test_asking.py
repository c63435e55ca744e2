"""Strangers' methods: what they cost is counted at the model, and they end when they must."""

from __future__ import annotations

import pytest

from macex.bench.arena import asking
from macex.bench.arena.cells import ArenaCells
from macex.bench.arena.layout import ArenaTask
from macex.bench.arena.referee import ArenaReferee
from macex.bench.arena.runner import measure

STRANGERS = '''
import os
import time
from dataclasses import replace

from macex.baselines import NearestTrainingRow


class Rows:
    """The first training row of the other class."""

    def __init__(self, model, data, seed):
        self.model, self.data = model, data
        self.decisions = model.predict(data)

    def explain(self, rows, n=1):
        own = self.model.predict(rows)
        return [self.data[self.decisions != label].head(n) for label in own]


class Wasteful(Rows):
    def explain(self, rows, n=1):
        self.model.predict(self.data)
        return super().explain(rows, n)


class Narrow(Rows):
    def explain(self, rows, n=1):
        return [one.drop(columns="net") for one in super().explain(rows, n)]


class Wide(Rows):
    def explain(self, rows, n=1):
        return [one.assign(more=1) for one in super().explain(rows, n)]


class Blank(Rows):
    def explain(self, rows, n=1):
        return [one.assign(net=float("nan")) for one in super().explain(rows, n)]


class Broken(Rows):
    def explain(self, rows, n=1):
        raise ValueError("not today")


class Sleeping(Rows):
    def explain(self, rows, n=1):
        time.sleep(60)


class Words(Rows):
    def explain(self, rows, n=1):
        return ["nothing"] * len(rows)


class Mistyped(Rows):
    def explain(self, rows, n=1):
        return [rows.iloc[[at]].assign(net="much") for at in range(len(rows))]


class Dying(Rows):
    def explain(self, rows, n=1):
        os._exit(3)


class Derived(NearestTrainingRow):
    name = "derived"

    def __init__(self, model, data, seed):
        super().__init__(model, data, random_state=seed)


class Liar(Derived):
    def explain(self, rows, **options):
        found = super().explain(rows, **options)
        found._items = tuple(map(_free, found))
        return found


def _free(one):
    return replace(one, cost=one.cost._replace(rows=0, calls=0))
'''


@pytest.fixture(scope="module")
def referee():
    return ArenaReferee(ArenaCells().get("totals", "logistic", 0))


@pytest.fixture
def told(referee, tmp_path):
    (tmp_path / "mine.py").write_text(STRANGERS)

    def lines(name, budget=50):
        task = ArenaTask("totals", "logistic", 0, name, budget, 0, 1, 2)
        return measure(task, referee, f"{tmp_path / 'mine.py'}:{name}")

    return lines


def test_rows_are_counted_at_the_model(told):
    lines = told("Rows")
    assert [line["valid"] for line in lines] == [True, True]
    assert [line["rows"] for line in lines] == [1, 1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Wasteful", "OverBudgetError: the model answers 100 rows here, and was asked about 1,200"),
        ("Narrow", "the columns of the training rows: lacking are ['net'], too many are []"),
        ("Wide", "too many are ['more']"),
        ("Broken", "ValueError: not today"),
        ("Words", "explain() returned 'nothing' for a row: a frame"),
        ("Mistyped", "values in column 'net' that are no float64"),
        ("Dying", "its process died with the exit code 3"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told_on_every_query(told, name, said):
    lines = told(name)
    assert len(lines) == 2
    assert all(said in line["error"] and not line["valid"] for line in lines)


def test_a_value_left_out_is_no_answer_where_every_training_row_has_one(told):
    assert [line["valid"] for line in told("Blank")] == [False, False]


def test_a_stranger_that_hangs_is_ended(told, monkeypatch):
    monkeypatch.setattr(asking, "BUILDING", 0.0)
    monkeypatch.setattr("macex.bench.arena.runner.TIME_A_QUERY", 2.0)
    (error,) = {line["error"] for line in told("Sleeping")}
    assert error == "TimeoutError: stopped after 4 seconds"


def test_what_a_baseline_of_a_stranger_says_of_its_cost_is_held_against_the_model(told):
    assert all(line["valid"] and 1 <= line["rows"] <= 50 for line in told("Derived"))
    assert all(line["valid"] and line["rows"] >= 1 for line in told("Liar"))
