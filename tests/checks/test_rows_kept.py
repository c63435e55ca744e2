"""Constraints on whole rows hold: groups, rules and derived columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import by_merit, changed_columns, found_rows, loans, same_cell

ROWS = loans().head(6)
GROUP = ("grade", "marital")


def explained(method: str, wish: mx.Constraints) -> mx.Explanations:
    return by_merit(method).explain(ROWS, want=mx.rise_by(0.15), n=2, constraints=wish)


def test_a_group_moves_to_a_combination_seen_in_training_and_counts_once(method):
    seen = set(zip(loans()["grade"], loans()["marital"], strict=True))
    moved = 0
    for explanation, counterfactual in found_rows(
        explained(method, mx.Constraints(groups=[GROUP], fixed=["income", "amount"]))
    ):
        changed = changed_columns(explanation.query, counterfactual.row)
        assert {c.column for c in counterfactual.changes} == changed
        assert counterfactual.sparsity == len(changed - {*GROUP}) + bool(changed & {*GROUP})
        if changed & {*GROUP}:
            moved += 1
            row = counterfactual.row.iloc[0]
            assert (row["grade"], row["marital"]) in seen
    assert moved


def test_a_group_counts_once_against_max_changes(method):
    data = pd.DataFrame({"a": [0, 1, 2, 3] * 10, "b": [0, 10, 20, 30] * 10, "c": [0, 1] * 20})
    asked = mx.Explainer(lambda rows: (rows["a"] + rows["b"]).to_numpy(float), data, method=method)
    wish = mx.Constraints(groups=[("a", "b")], max_changes=1)
    found = asked.explain(data.head(1), want=mx.at_least(33), constraints=wish)[0]
    assert found.counterfactuals[0].row.iloc[0].tolist() == [3, 30, 0]
    assert found.counterfactuals[0].sparsity == 1


def test_a_fixed_column_stays_within_its_group(method):
    wish = mx.Constraints(groups=[GROUP], fixed=["marital"])
    for explanation, counterfactual in found_rows(explained(method, wish)):
        assert "marital" not in changed_columns(explanation.query, counterfactual.row)


RULES = {
    "amount <= 2 * age / 10": lambda old, new: new["amount"] <= 2 * new["age"] / 10,
    "if marital != old(marital) then age >= old(age) + 2": lambda old, new: (
        new["marital"] == old["marital"] or new["age"] >= old["age"] + 2
    ),
    "grade <= 'C' or owner": lambda old, new: new["grade"] <= "C" or bool(new["owner"]),
    "since >= '2020-03-01'": lambda old, new: new["since"] >= pd.Timestamp("2020-03-01"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_holds_for_every_answer(method, rule):
    answers = found_rows(explained(method, mx.Constraints(rules=[rule])))
    assert answers
    for explanation, counterfactual in answers:
        assert RULES[rule](explanation.query.iloc[0], counterfactual.row.iloc[0])


def test_all_rules_hold_together(method):
    for explanation, counterfactual in found_rows(
        explained(method, mx.Constraints(rules=list(RULES)))
    ):
        for holds in RULES.values():
            assert holds(explanation.query.iloc[0], counterfactual.row.iloc[0])


def test_a_rule_may_be_a_function_of_frames(method):
    def affordable(rows: pd.DataFrame) -> pd.Series:
        return rows["amount"] <= 2 * rows["income"].fillna(9)

    answers = found_rows(explained(method, mx.Constraints(rules=[affordable])))
    assert answers
    assert all(affordable(counterfactual.row).all() for _, counterfactual in answers)


def test_the_models_rows_never_break_a_rule_in_a_result_of_many_changes(method):
    rules = [f"{a} <= {b} + 3" for a, b in ("ab", "bc", "cd", "de")]
    rng = np.random.default_rng(5)
    data = pd.DataFrame(np.sort(rng.integers(0, 12, (80, 5)), axis=1), columns=list("abcde"))
    asked = mx.Explainer(lambda rows: rows.sum(axis=1).to_numpy(float), data, method=method)
    found = asked.explain(data.head(6), want=mx.rise_by(9), constraints={"rules": rules})
    assert [e.status for e in found] == ["found"] * 6
    for _, counterfactual in found_rows(found):
        row = counterfactual.row.iloc[0]
        assert all(row[a] <= row[b] + 3 for a, b in ("ab", "bc", "cd", "de"))


def debts() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    debt, income = rng.integers(1, 30, 150), rng.integers(10, 60, 150)
    return pd.DataFrame(
        {
            "debt": debt,
            "income": income,
            "ratio": np.round(debt / income, 2),
            "heavy": np.where(debt / income > 0.5, "yes", "no"),
            "other": rng.integers(0, 5, 150),
        }
    )


def burden(rows: pd.DataFrame) -> np.ndarray:
    heavy = (rows["heavy"] == "yes").to_numpy(float)
    return rows["ratio"].to_numpy(float) + heavy + rows["other"].to_numpy(float) / 50


FORMULAS = {"ratio": "debt / income", "heavy": "if debt / income > 0.5 then 'yes' else 'no'"}


def test_a_derived_column_follows_its_inputs_and_is_no_change(method):
    wish = mx.Constraints(derived=FORMULAS)
    rows = debts()[burden(debts()) > 1].head(8)
    asked = mx.Explainer(burden, debts(), method=method)
    found = asked.explain(rows, want=mx.at_most(0.45), constraints=wish)
    assert [e.status for e in found] == ["found"] * len(rows)
    for explanation, counterfactual in found_rows(found):
        old, new = explanation.query.iloc[0], counterfactual.row.iloc[0]
        named = {change.column for change in counterfactual.changes}
        assert named <= {"debt", "income", "other"}
        assert counterfactual.sparsity == len(named)
        assert named & {"debt", "income"}
        assert new["ratio"] == new["debt"] / new["income"]
        assert new["heavy"] == ("yes" if new["debt"] / new["income"] > 0.5 else "no")
        assert all(same_cell(old[c], new[c]) for c in ("debt", "income", "other") if c not in named)


def test_a_derived_column_is_rounded_only_where_its_formula_says_so(method):
    rows = debts()[burden(debts()) > 1].head(8)
    asked = mx.Explainer(burden, debts(), method=method)
    wish = mx.Constraints(derived=FORMULAS | {"ratio": "round(debt / income, 2)"})
    answers = found_rows(asked.explain(rows, want=mx.at_most(0.45), constraints=wish))
    assert answers
    for _, counterfactual in answers:
        new = counterfactual.row.iloc[0]
        assert new["ratio"] == np.round(new["debt"] / new["income"], 2)


def test_what_is_granted_is_granted_at_the_true_ratio(method):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"debt": rng.integers(1, 60, 300), "income": rng.integers(20, 90, 300)})
    data["dti"] = np.round(data["debt"] / data["income"], 1)

    def granted(rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["dti"] < 0.32, 0.9, 0.1)

    asked = mx.Explainer(granted, data, classes=("no", "yes"), method=method)
    refused = data[data["dti"] > 0.5].head(10)
    wish = mx.Constraints(derived={"dti": "debt / income"})
    answers = found_rows(asked.explain(refused, want="yes", constraints=wish))
    assert answers
    for _, counterfactual in answers:
        true = counterfactual.row.assign(dti=lambda r: r["debt"] / r["income"])
        assert granted(true) == counterfactual.score


def test_a_derived_column_stays_when_no_input_changed(method):
    rows = debts().head(6).assign(ratio=0.4)  # not what the formula says
    wish = mx.Constraints(derived=FORMULAS, only=["other"])
    asked = mx.Explainer(burden, debts(), method=method)
    for explanation, counterfactual in found_rows(
        asked.explain(rows, want=mx.rise_by(-0.01), constraints=wish)
    ):
        assert changed_columns(explanation.query, counterfactual.row) <= {"other"}
        assert counterfactual.row["ratio"].iloc[0] == 0.4


def test_weights_move_the_nearest_answer_but_not_the_count(method):
    data = pd.DataFrame({"a": [0, 2, 4, 6] * 10, "b": [0, 2, 4, 6] * 10}).sample(
        40, random_state=0, replace=False
    )
    data["b"] = data["b"].to_numpy()[::-1]
    asked = mx.Explainer(
        lambda rows: np.maximum(rows["a"], rows["b"]).to_numpy(float), data, method=method
    )
    row = pd.DataFrame({"a": [0], "b": [0]})
    for cheap, dear in (("a", "b"), ("b", "a")):
        wish = mx.Constraints(weights={dear: 50.0})
        found = asked.explain(row, want=mx.at_least(4), constraints=wish)[0]
        assert [c.column for c in found.counterfactuals[0].changes] == [cheap]
        assert found.counterfactuals[0].sparsity == 1
