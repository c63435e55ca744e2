"""The answer for a row does not depend on which rows share its batch, their order, or chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks.loans import by_merit, explainer, loans, model


def answers(explanations: mx.Explanations) -> list[str]:
    return [e.to_json(canonical=True) for e in explanations]


def one_by_one(asked: mx.Explainer, rows: pd.DataFrame, **call) -> list[str]:
    return [answers(asked.explain(rows.iloc[[i]], **call))[0] for i in range(len(rows))]


@pytest.mark.parametrize("name", ["tree", "network", "tiers", "margin"])
def test_a_batch_is_as_many_batches_of_one(method, name):
    rows = loans().head(5)
    asked = explainer(name, method)
    assert answers(asked.explain(rows, n=2)) == one_by_one(asked, rows, n=2)


@settings(max_examples=4)
@given(order=st.lists(st.integers(0, 11), min_size=1, max_size=16))
def test_order_and_repeats_change_nothing(method, order):
    asked, rows = explainer("network", method), loans().head(12)
    whole = answers(asked.explain(rows))
    assert answers(asked.explain(rows.iloc[order])) == [whole[i] for i in order]


def test_constraints_per_row_bind_their_own_row_alone(method):
    rows = loans().head(6)
    wishes = [
        None,
        mx.Constraints(fixed=["income"]),
        mx.Constraints(allowed={"marital": ["married"]}, max_changes=2),
        mx.Constraints(ranges={"age": (30, 50)}, rules=["amount <= 10"]),
        mx.Constraints(groups=[("grade", "owner")]),
        mx.Constraints(strict=True, ranges={"amount": (0.5, 9)}),
    ]
    asked = explainer("network", method)
    alone = [
        answers(asked.explain(rows.iloc[[i]], constraints=wish))[0] for i, wish in enumerate(wishes)
    ]
    assert answers(asked.explain(rows, constraints=wishes)) == alone


@pytest.mark.parametrize("prefer", ["fewest", "nearest", "surest"])
def test_a_rule_of_one_row_does_not_widen_the_search_of_another(prefer):
    rows = loans().head(8)
    wishes = [mx.Constraints(rules=["amount <= 10"]), mx.Constraints(fixed=["income"])] * 4
    asked = by_merit("exhaustive", prefer=prefer)
    alone = [
        answers(asked.explain(rows.iloc[[i]], n=3, constraints=wish))[0]
        for i, wish in enumerate(wishes)
    ]
    together = asked.explain(rows, n=3, constraints=wishes)
    assert answers(together) == alone
    costs = [
        asked.explain(rows.iloc[[i]], n=3, constraints=w)[0].cost.rows for i, w in enumerate(wishes)
    ]
    assert [one.cost.rows for one in together] == costs


def test_goals_per_row_are_their_own_rows_alone(method):
    rows = loans().head(6)
    goals = [
        None,
        "granted",
        mx.at_least(0.8, label="granted"),
        mx.rise_by(0.2, label="granted"),
        "refused",
        mx.between(0.4, 0.45, label="granted"),
    ]
    asked = explainer("network", method)
    alone = [answers(asked.explain(rows.iloc[[i]], want=[goal]))[0] for i, goal in enumerate(goals)]
    assert answers(asked.explain(rows, want=goals)) == alone


def wide(columns: int = 24) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 60, (150, columns))
    return pd.DataFrame(cells, columns=[f"c{i:02}" for i in range(columns)])


def total(rows: pd.DataFrame) -> np.ndarray:
    steps = np.sin(np.arange(rows.shape[1]) + 1)
    return 1 / (1 + np.exp(-(rows.to_numpy(float) - 30) @ steps / 20))


def test_a_neighbour_with_other_columns_to_change_changes_nothing(method):
    data = wide()
    asked = mx.Explainer(total, data, method=method, classes=("no", "yes"))
    few = [mx.Constraints(only=[f"c{i:02}", f"c{i + 5:02}", f"c{i + 9:02}"]) for i in range(8)]
    wishes = [few[i] if i % 4 == 3 else None for i in range(8)]
    together = answers(asked.explain(data.head(8), constraints=wishes))
    alone = [
        answers(asked.explain(data.iloc[[i]], constraints=wish))[0] for i, wish in enumerate(wishes)
    ]
    assert together == alone


@pytest.mark.parametrize("value", [45, 999])
def test_values_allowed_to_one_row_are_not_offered_to_another(method, value):
    data = wide(3)
    asked = mx.Explainer(
        lambda rows: rows["c00"].to_numpy(float) - rows["c01"].to_numpy(float) / 7,
        data,
        schema={"c00": mx.Continuous(low=0, high=1000)},
        method=method,
    )
    wishes = [mx.Constraints(allowed={"c00": [value]}), mx.Constraints(fixed=["c02"])]
    call = {"want": mx.at_least(52.5), "n": 2}
    together = answers(asked.explain(data.head(2), constraints=wishes, **call))
    alone = [
        answers(asked.explain(data.iloc[[i]], constraints=wish, **call))[0]
        for i, wish in enumerate(wishes)
    ]
    assert together == alone


def test_chunks_change_nothing(method, monkeypatch):
    asked, rows = explainer("network", method), loans().head(5)
    whole = asked.explain(rows, n=2).to_json(canonical=True)
    monkeypatch.setattr("macex.models.asker.CHUNK_ROWS", 23)
    assert asked.explain(rows, n=2).to_json(canonical=True) == whole


def test_blocks_change_nothing(method, monkeypatch):
    asked, rows = explainer("network", method), loans().head(5)
    whole = asked.explain(rows, n=2).to_json(canonical=True)
    monkeypatch.setattr("macex.engine.batch.MOST_QUERIES", 2)
    assert asked.explain(rows, n=2).to_json(canonical=True) == whole


def test_a_small_budget_is_each_rows_own(method):
    asked, rows = by_merit(method), loans().head(5)
    for most in (3, 120):
        together = answers(asked.explain(rows, max_rows=most))
        assert together == one_by_one(asked, rows, max_rows=most)


def test_earlier_questions_change_no_later_answer(method):
    rows = loans().head(6)
    fresh = mx.Explainer(model("logistic"), loans(), method=method)
    expected = answers(fresh.explain(rows, n=2))
    used = mx.Explainer(model("logistic"), loans(), method=method)
    used.explain(rows, margin=0.6)
    used.explain(rows, want="granted", n=3, constraints=mx.Constraints(fixed=["income"]))
    assert answers(used.explain(rows, n=2)) == expected
