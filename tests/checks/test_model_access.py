"""The model is asked in few, large calls: one a round for all queries, each row once."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import by_merit, chance, found_rows, loans, merit

CLASSES = ("refused", "granted")


class Counting:
    """A model that remembers how it was called."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.repeats = 0

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.sizes.append(len(rows))
        self.repeats += int(rows.duplicated().sum())
        return chance(rows)


def counted(method: str, **options) -> tuple[Counting, mx.Explainer]:
    model = Counting()
    asked = mx.Explainer(model, loans(), method=method, classes=CLASSES, **options)
    model.sizes.clear()
    model.repeats = 0
    return model, asked


def test_calls_do_not_grow_with_the_number_of_rows(method):
    model, asked = counted(method)
    calls = []
    for count in (1, 20, 120):
        asked.explain(loans().head(count))
        calls.append(len(model.sizes))
        model.sizes.clear()
    assert calls[2] <= calls[1] + 12
    assert calls[2] <= 80  # 60 of them are the rounds of gradientless descent
    again = pd.concat([loans().head(120)] * 2)
    asked.explain(again)
    assert len(model.sizes) == calls[2]


def test_a_single_query_takes_few_calls():
    model, asked = counted("exhaustive")
    for place in range(10):
        asked.explain(loans().iloc[[place]])
    assert len(model.sizes) <= 8 * 10
    assert sum(model.sizes) <= 900 * 10


def test_equal_rows_are_scored_once_within_a_call(method):
    model, asked = counted(method)
    asked.explain(pd.concat([loans().head(6)] * 3), n=2)
    assert model.sizes
    assert model.repeats == 0


def test_the_cost_of_a_single_query_is_what_the_model_saw(method):
    model, asked = counted(method)
    for place in range(4):
        model.sizes.clear()
        cost = asked.explain(loans().iloc[[place]], n=2)[0].cost
        assert cost.calls == len(model.sizes)
        assert cost.rows >= sum(model.sizes)
        assert cost.seconds >= 0


class Careful(Counting):
    """A model whose decision is its own: it grants from 0.8."""

    classes_ = CLASSES

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        yes = self(rows)
        return np.column_stack([1 - yes, yes])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return np.where(self(rows) >= 0.8, *reversed(CLASSES))


def test_both_questions_to_a_model_that_decides_for_itself_are_counted(method):
    model = Careful()
    asked = mx.Explainer(model, loans(), method=method)
    for place in range(3):
        model.sizes.clear()
        assert asked.explain(loans().iloc[[place]])[0].cost.calls == len(model.sizes)


@pytest.mark.parametrize("most", [1, 3, 20, 150])
def test_a_row_budget_is_kept(method, most):
    model, asked = counted(method)
    rows = loans().head(6)
    for n in (1, 3):
        model.sizes.clear()
        found = asked.explain(rows, n=n, max_rows=most)
        assert max(e.cost.rows for e in found) <= most
        assert sum(model.sizes) <= most * len(rows)
        assert {e.status for e in found} <= {"found", "budget"}


def test_more_rows_never_lose_an_answer(method):
    rows = loans().head(12)
    found = [
        {
            i
            for i, e in enumerate(by_merit(method).explain(rows, max_rows=most))
            if e.status == "found"
        }
        for most in (20, 200, 2000)
    ]
    assert len(found[0]) <= len(found[2])
    assert len(found[2]) == 12


class Slow:
    """A model whose rows take time, on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, per_row: float) -> None:
        self.now, self.per_row, self.rows = 0.0, per_row, 0
        for clock in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, clock, lambda: self.now)

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.now += len(rows) * self.per_row
        self.rows += len(rows)
        return merit(rows)


@pytest.mark.parametrize("limit", [0.001, 2.0, 20.0])
def test_a_deadline_is_kept(method, monkeypatch, limit):
    model = Slow(monkeypatch, 0.01)
    asked = mx.Explainer(model, loans(), method=method)
    model.per_row, model.rows, began = 0.01, 0, model.now
    rows = loans().head(20)
    found = asked.explain(rows, want=mx.at_least(2.0), timeout_s=limit)
    assert {e.status for e in found} <= {"found", "budget"}
    assert all(merit(c.row)[0] >= 2.0 for _, c in found_rows(found))
    for explanation in found:
        assert explanation.status == "found" or "time" in explanation.reason
    # its own row, the last check with intervals, and a chunk begun before the end come on top;
    # the first chunk may hold 1000 rows, since nothing is known of the model's speed
    assert model.now - began <= limit + 0.01 * (len(rows) + 1000) + 0.01 * 30 * len(rows) + 0.5


def test_without_a_deadline_time_changes_nothing(method, monkeypatch):
    model = Slow(monkeypatch, 0.0)
    asked = mx.Explainer(model, loans(), method=method)
    quick = asked.explain(loans().head(4), want=mx.at_least(2.0)).to_json(canonical=True)
    model.per_row = 5.0
    slow = asked.explain(loans().head(4), want=mx.at_least(2.0)).to_json(canonical=True)
    assert quick == slow
