"""Tables of hundreds of columns: columns are tested in groups before they are tried one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.stages.relevance import telling

CLASSES = ("no", "yes")


def numbers(width: int, rows: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(draw.integers(0, 60, (rows, width))).add_prefix("x")


def flags(width: int, rows: int = 300, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame((draw.random((rows, width)) < 0.3).astype(int)).add_prefix("x")


def logistic(merit):
    return 1 / (1 + np.exp(-np.asarray(merit, float)))


def few_count(rows):
    """Two columns count."""
    return logistic((rows["x3"] + rows["x150"] - 75.5) / 5)


def explainer(model, data: pd.DataFrame, **options) -> mx.Explainer:
    options |= {"structure": "ignore", "plausibility": "distance"}
    return mx.Explainer(model, data, classes=CLASSES, **options)


def sizes(found) -> list[int]:
    return [len(item.counterfactuals[0].changes) for item in found]


def best(model, row: pd.DataFrame, data: pd.DataFrame, columns: list[str]) -> int:
    """The fewest of two columns that must change, by brute force over seen values."""
    for column in columns:
        tried = pd.concat([row] * data[column].nunique(), ignore_index=True)
        if (model(tried.assign(**{column: np.unique(data[column])})) > 0.5).any():
            return 1
    return 2


def test_the_rows_of_a_query_do_not_grow_with_the_width():
    costs = []
    for width in (300, 600):
        data = numbers(width)
        needy = data[few_count(data) < 0.5].head(6)
        found = explainer(few_count, data).explain(needy, want="yes")
        assert sizes(found) == [best(few_count, r, data, ["x3", "x150"]) for r in lines(needy)]
        costs.append(np.mean([item.cost.rows for item in found]))
    assert max(costs) < 700
    assert costs[1] < 1.2 * costs[0]


def lines(rows: pd.DataFrame) -> list[pd.DataFrame]:
    return [rows.iloc[[at]] for at in range(len(rows))]


def test_a_column_that_tells_nothing_by_itself_is_found_in_its_group():
    """The score turns by whether two columns are alike, so neither tells of it in training."""
    data = flags(2300, rows=500)
    data["x7"], data["x2000"] = np.random.default_rng(5).integers(0, 2, (2, 500))

    def model(rows):
        return np.where(rows["x7"] == rows["x2000"], 0.9, 0.1)

    needy = data[model(data) < 0.5].head(5)
    found = explainer(model, data).explain(needy, want="yes")
    assert sizes(found) == [1] * 5
    assert all(item.cost.rows < 900 for item in found)


def test_columns_that_count_only_together_are_found():
    data = flags(2300)

    def model(rows):
        return np.where((rows[["x11", "x2100"]] == 1).all(axis=1), 0.9, 0.1)

    needy = data[(data[["x11", "x2100"]] == 0).all(axis=1)].head(5)
    found = explainer(model, data).explain(needy, want="yes")
    assert sizes(found) == [2] * 5


def test_every_column_may_count():
    weight = np.random.default_rng(1).normal(0, 1, 300)

    def model(rows):
        return logistic((rows.to_numpy() - 29.5) @ weight / 60 - 2)

    data = numbers(300)
    needy = data[model(data) < 0.5].head(8)
    found = explainer(model, data).explain(needy, want="yes")
    order = np.sort(np.maximum(weight * (59 - needy), -weight * needy), axis=1)[:, ::-1]
    gap = -(needy.to_numpy() - 29.5) @ weight + 120
    least = (np.cumsum(order, axis=1) < gap[:, None]).sum(axis=1) + 1
    assert sum(sizes(found)) <= least.sum() + 1
    assert min(np.array(sizes(found)) - least) >= 0


def test_answers_are_those_of_each_row_alone():
    data = numbers(260)
    asked = explainer(few_count, data)
    rows = pd.concat([data.head(5), data.tail(3)])
    together = asked.explain(rows)
    assert [item.to_json(canonical=True) for item in together] == [
        asked.explain(row)[0].to_json(canonical=True) for row in lines(rows)
    ]


def test_constraints_hold_where_columns_are_screened():
    data = numbers(300)
    needy = data[few_count(data) < 0.5].head(6)
    rules = mx.Constraints(fixed=["x3"], ranges={"x150": (0, 58)}, rules=["x150 >= old(x150)"])
    for item in explainer(few_count, data).explain(needy, want="yes", constraints=rules):
        for answer in item.counterfactuals:
            assert {change.column for change in answer.changes} == {"x150"}
            assert answer.row["x150"].iloc[0] <= 58


def test_a_caller_s_budget_holds():
    data = numbers(300)
    needy = data[few_count(data) < 0.5].head(4)
    found = explainer(few_count, data).explain(needy, want="yes", max_rows=900)
    assert max(item.cost.rows for item in found) <= 900


def test_a_narrow_table_is_offered_whole():
    data = numbers(60)

    def model(rows):
        return logistic((rows["x3"] + rows["x50"] - 75.5) / 5)

    found = explainer(model, data).explain(data.head(3))
    assert min(item.cost.rows for item in found) > 400


@pytest.mark.parametrize("scores", [np.zeros((40, 2)), np.zeros((0, 2)), np.ones((1, 1))])
def test_scores_that_are_all_alike_are_told_by_nothing(scores):
    values = np.arange(3 * len(scores)).reshape(-1, 3) % 4
    assert telling(values, scores).tolist() == [0.0] * 3


def test_a_column_of_many_values_tells_no_more_than_chance():
    draw = np.random.default_rng(0)
    scores = draw.random((500, 1))
    values = np.column_stack([draw.integers(0, 250, 500), scores[:, 0] > 0.5])
    told = telling(values, scores)
    assert told[0] < 0.2 < told[1]
