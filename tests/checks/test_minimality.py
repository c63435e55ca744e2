"""`minimal=True` and `"none"` are certificates: trying everything confirms them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks import puzzles
from checks.oracle import Oracle

CLASSES = ("no", "yes")
WHOLE = {"method": mx.Exhaustive(max_rows=100_000), "candidates": "domain"}


def refused(table: puzzles.Table, count: int) -> pd.DataFrame:
    data = puzzles.data(table.seed)
    return data[~table.says_yes(data)].head(count)


def oracle_of(table: puzzles.Table, row: pd.DataFrame, **parts) -> Oracle:
    return Oracle(row, parts.pop("options", puzzles.VALUES), table.says_yes, **parts)


def check_claims(explanation: mx.Explanation, oracle: Oracle, most: int | None = None) -> None:
    """Whatever the explanation claims over seen values is so."""
    fewest = oracle.fewest(most)
    if explanation.status == "none" and explanation.minimal_over in ("seen values", "all values"):
        assert fewest is None
    for counterfactual in explanation.counterfactuals:
        proved = explanation.minimal_over in ("seen values", "all values")
        if counterfactual.minimal and (proved or counterfactual.sparsity == 1):
            assert fewest is None or fewest >= counterfactual.sparsity
    if explanation.minimal:
        assert explanation.counterfactuals[0].minimal


@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.01, 0.03, 0.1]))
def test_claims_are_confirmed_by_trying_everything(method, seed, share):
    table = puzzles.Table(seed, share)
    asked = mx.Explainer(table, puzzles.data(seed), method=method, classes=CLASSES)
    rows = refused(table, 4)
    for n in (1, 3):
        found = asked.explain(rows, n=n, want="yes")
        for place, explanation in enumerate(found):
            check_claims(explanation, oracle_of(table, rows.iloc[[place]]))


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.01, 0.03, 0.1]))
def test_the_whole_domain_gives_the_optimum_itself(seed, share):
    table = puzzles.Table(seed, share)
    asked = mx.Explainer(table, puzzles.data(seed), classes=CLASSES, **WHOLE)
    rows = refused(table, 4)
    for place, explanation in enumerate(asked.explain(rows, want="yes")):
        fewest = oracle_of(table, rows.iloc[[place]]).fewest()
        if fewest is None:
            assert (explanation.status, explanation.minimal_over) == ("none", "seen values")
            assert not explanation.counterfactuals
        else:
            assert explanation.counterfactuals[0].sparsity == fewest
            assert explanation.minimal


def below_eight(rows: pd.DataFrame) -> np.ndarray:
    return (rows["level"] < 8).to_numpy() | (rows["colour"] == "red").to_numpy()


def rule_of(rows: pd.DataFrame) -> np.ndarray:
    return (rows["ratio"] * 10 >= rows["level"] - 3).to_numpy()


WISHES = {
    "fixed": ({"fixed": ["colour"]}, {"options": {**puzzles.VALUES, "colour": []}}),
    "allowed": (
        {"allowed": {"size": ["L"], "colour": ["red", "blue"]}},
        {"options": {**puzzles.VALUES, "size": ["L"], "colour": ["red", "blue"]}},
    ),
    "range": ({"ranges": {"level": (3, 4)}}, {"options": {**puzzles.VALUES, "level": [3, 4]}}),
    "text rule": ({"rules": ["ratio * 10 >= level - 3"]}, {"lawful": rule_of}),
    "two rules": (
        {"rules": ["ratio * 10 >= level - 3", "level < 8 or colour == 'red'"]},
        {"lawful": lambda rows: rule_of(rows) & below_eight(rows)},
    ),
    "function rule": ({"rules": [below_eight]}, {"lawful": below_eight}),
    "max_changes": ({"max_changes": 2}, {}),
    "group": ({"groups": [("colour", "size")]}, {"groups": (("colour", "size"),)}),
    "group and fixed": (
        {"groups": [("colour", "level")], "fixed": ["colour"]},
        {"groups": (("colour", "level"),), "options": {**puzzles.VALUES, "colour": []}},
    ),
}


@pytest.mark.parametrize("whole", [False, True], ids=["default", "domain"])
@pytest.mark.parametrize("name", WISHES)
def test_claims_hold_under_constraints(name, whole):
    wish, parts = WISHES[name]
    for seed in range(2):
        table, rows = puzzles.Table(seed, 0.03), refused(puzzles.Table(seed, 0.03), 5)
        data = puzzles.data(seed)
        asked = mx.Explainer(table, data, classes=CLASSES, **(WHOLE if whole else {}))
        found = asked.explain(rows, want="yes", constraints=mx.Constraints(**wish))
        for place, explanation in enumerate(found):
            oracle = oracle_of(table, rows.iloc[[place]], seen=data, **dict(parts))
            most = wish.get("max_changes")
            check_claims(explanation, oracle, most)
            if whole:
                fewest = oracle.fewest(most)
                least = [c.sparsity for c in explanation.counterfactuals[:1]]
                assert least == ([] if fewest is None else [fewest])
                assert (explanation.status == "none") == (fewest is None)


def test_a_blank_is_a_seen_value(method):
    data = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0] * 10, "b": [1, 2, 3, 4, 5] * 8})
    rows = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 1]})

    def score(rows: pd.DataFrame) -> np.ndarray:
        high = (rows["a"] > 3) & (rows["b"] > 3)
        return np.where(rows["a"].isna() | high, 0.9, 0.1)

    wish = mx.Constraints(may_blank=["a"])
    for candidates in ("both", "domain"):
        asked = mx.Explainer(score, data, method=method, classes=CLASSES, candidates=candidates)
        for explanation in asked.explain(rows, want="yes", constraints=wish):
            changes = explanation.counterfactuals[0].sparsity
            assert changes == 1 or (method != "exhaustive" and not explanation.minimal)


def test_more_values_than_are_completed_are_not_claimed():
    count = 3000
    data = pd.DataFrame({"code": np.arange(count), "flag": np.arange(count) % 2, "z": 0})
    rare = 1777

    def score(rows: pd.DataFrame) -> np.ndarray:
        lucky = (rows["code"] == rare) | ((rows["code"] > 2900) & (rows["flag"] == 1))
        return np.where(lucky, 0.9, 0.1)

    explanation = mx.Explainer(score, data, classes=CLASSES).explain(data.iloc[[4]])[0]
    best = explanation.counterfactuals[0]
    assert best.sparsity == 1 or explanation.minimal_over != "seen values"


def test_an_answer_with_more_changes_than_another_is_not_minimal():
    """Fine-tuning finds a single change between the seen values, after pairs were proved needed."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"a": rng.choice([0.0, 4.0], 60), "b": rng.choice([0.0, 1.0], 60), "fine": 0.5}
    )
    data.loc[0, "fine"] = 0.1

    def score(rows: pd.DataFrame) -> np.ndarray:
        return (rows["a"] - 0.3 * rows["b"]).to_numpy()

    asked = mx.Explainer(score, data, candidates="domain", schema={"a": mx.Continuous(step=0.1)})
    row = pd.DataFrame({"a": [0.0], "b": [0.0], "fine": [0.5]})
    found = asked.explain(row, want=mx.between(3.0, 3.8), n=3)[0]
    least = min(answer.sparsity for answer in found.counterfactuals)
    assert least == 1
    assert max(answer.sparsity for answer in found.counterfactuals) > least
    assert all(a.sparsity == least for a in found.counterfactuals if a.minimal)
