"""Tiny models whose best answer is known in closed form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

CLASSES = ("no", "yes")
BONUS = {"a": 0.0, "b": 1.0, "c": 3.0}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "hours": rng.integers(20, 61, 300),
            "rate": np.round(rng.uniform(1, 9, 300), 1),
            "kind": rng.choice(list("abc"), 300, p=[0.6, 0.3, 0.1]),
        }
    )


def logistic(rows: pd.DataFrame) -> np.ndarray:
    """hours / 4 + rate + bonus must pass 19.45."""
    bonus = rows["kind"].map(BONUS).to_numpy(float)
    total = rows["hours"].to_numpy(float) / 4 + rows["rate"].to_numpy(float) + bonus
    return 1 / (1 + np.exp(19.45 - total))


def nearest(data: pd.DataFrame, row: pd.Series) -> tuple[int, float]:
    """The fewest changes, and the least distance of an answer with that many, by hand."""
    scale = {"hours": data["hours"].median(), "rate": data["rate"].median()}
    hours, rates = np.arange(20, 61), np.arange(10, 91) / 10
    rates = rates[(rates >= data["rate"].min()) & (rates <= data["rate"].max())]
    grid = pd.DataFrame(
        [(h, r, k) for h in hours for r in rates for k in "abc"], columns=list(data.columns)
    )
    grid = grid[logistic(grid) > 0.5]
    changed = np.column_stack([grid[c] != row[c] for c in data.columns]).sum(axis=1)
    steps = sum(np.abs(grid[c] - row[c]) / scale[c] for c in scale) + (grid["kind"] != row["kind"])
    return int(changed.min()), float(steps[changed == changed.min()].min())


ROWS = pd.DataFrame(
    {
        "hours": [40, 38, 25, 55, 22],
        "rate": [5.0, 8.2, 2.0, 2.5, 1.5],
        "kind": ["a", "a", "b", "c", "a"],
    }
)


@pytest.mark.parametrize("candidates", ["both", "domain"])
def test_the_default_finds_the_fewest_changes_and_says_so(candidates):
    asked = mx.Explainer(logistic, people(), classes=CLASSES, candidates=candidates)
    for place, explanation in enumerate(asked.explain(ROWS, want="yes")):
        assert explanation.counterfactuals[0].sparsity == nearest(people(), ROWS.iloc[place])[0]
        assert explanation.minimal


@pytest.mark.parametrize(("candidates", "slack"), [("both", 1.1), ("domain", 1.0)])
def test_the_nearest_answer_is_near_the_optimum(candidates, slack):
    asked = mx.Explainer(
        logistic, people(), classes=CLASSES, candidates=candidates, prefer="nearest"
    )
    far = [
        explanation.counterfactuals[0].distance / nearest(people(), ROWS.iloc[place])[1]
        for place, explanation in enumerate(asked.explain(ROWS, want="yes"))
    ]
    assert np.mean(far) <= slack + 1e-6, far


def test_a_single_number_is_moved_no_farther_than_needed():
    asked = mx.Explainer(logistic, people(), classes=CLASSES, prefer="fewest")
    row = pd.DataFrame({"hours": [40], "rate": [5.0], "kind": ["b"]})
    expected = {"hours": 54, "rate": 8.5}
    for column, after in expected.items():
        wish = mx.Constraints(only=[column])
        (change,) = asked.explain(row, constraints=wish)[0].counterfactuals[0].changes
        assert change[:3] == (column, row[column].iloc[0], after)


def test_every_search_comes_within_reach_of_the_optimum(method):
    asked = mx.Explainer(logistic, people(), method=method, classes=CLASSES)
    excess = []
    for place, explanation in enumerate(asked.explain(ROWS, want="yes")):
        fewest, _ = nearest(people(), ROWS.iloc[place])
        excess.append(explanation.counterfactuals[0].sparsity - fewest)
    assert min(excess) >= 0
    assert np.mean(excess) <= (0 if method == "exhaustive" else 0.5)


@pytest.mark.parametrize("weight", [0.2, 1.0, 5.0])
def test_weights_decide_between_two_ways(weight):
    asked = mx.Explainer(logistic, people(), classes=CLASSES, prefer="nearest")
    row = pd.DataFrame({"hours": [40], "rate": [8.0], "kind": ["b"]})
    wish = mx.Constraints(weights={"hours": weight}, fixed=["kind"])
    best = asked.explain(row, constraints=wish)[0].counterfactuals[0]
    scale = people()[["hours", "rate"]].median()
    ways = {"hours": weight * 2 / scale["hours"], "rate": 0.5 / scale["rate"]}
    assert [c.column for c in best.changes] == [min(ways, key=ways.get)]
    assert best.distance == pytest.approx(min(ways.values()), abs=1e-9)
