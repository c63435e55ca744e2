"""No answer is an answer: a status, a reason that names what binds, and the nearest miss."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import by_merit, chance, loans

ROWS = loans()[chance(loans()) < 0.3].head(4)


def test_nothing_may_change(method):
    wish = mx.Constraints(fixed=list(loans().columns))
    for explanation in by_merit(method).explain(ROWS, constraints=wish):
        assert (explanation.status, explanation.minimal_over) == ("none", "all values")
        assert "fixed 'age'" in explanation.reason
        assert explanation.counterfactuals == ()
        assert explanation.actions == ()


def test_an_unreachable_goal_has_a_reason_and_a_miss(method):
    found = by_merit(method).explain(ROWS, want=mx.at_least(1.0))
    for explanation in found:
        assert explanation.status in ("none", "not_found", "budget")
        assert "at least 1" in explanation.reason
        assert explanation.miss.score == pytest.approx(chance(explanation.miss.row)[0], abs=2e-6)
        assert explanation.miss.score > explanation.score
        assert not explanation.minimal


def test_the_miss_keeps_the_constraints(method):
    wish = mx.Constraints(only=["age", "owner"], increase=["age"], max_changes=1)
    for explanation in by_merit(method).explain(ROWS, want=mx.at_least(0.999), constraints=wish):
        changed = {change.column for change in explanation.miss.changes}
        assert changed <= {"age", "owner"}
        assert len(changed) <= 1
        assert explanation.miss.row["age"].iloc[0] >= explanation.query["age"].iloc[0]
        assert chance(explanation.miss.row)[0] < 0.999


def test_exhaustive_search_certifies_that_nothing_helps():
    wish = mx.Constraints(only=["marital", "owner"])
    for explanation in by_merit("exhaustive").explain(
        ROWS, want=mx.at_least(0.999), constraints=wish
    ):
        assert (explanation.status, explanation.minimal_over) == ("none", "seen values")
        assert "only 'marital', 'owner'" in explanation.reason


def test_diagnosis_names_each_constraint_that_stands_in_the_way(method):
    data = pd.DataFrame({"a": [0, 1, 2, 3] * 15, "b": [0, 1, 2] * 20, "c": [0, 1, 2, 3, 4] * 12})
    asked = mx.Explainer(lambda r: (r["a"] + 2 * r["b"]).to_numpy(float), data, method=method)
    row = pd.DataFrame({"a": [0], "b": [0], "c": [0]})
    wish = mx.Constraints(fixed=["a", "c"], ranges={"b": (0, 1)})
    found = asked.explain(row, want=mx.at_least(3), constraints=wish, diagnose=True)[0]
    assert found.status != "found"
    assert set(found.diagnosis) == {"fixed 'a'", "ranges of 'b'"}
    assert all(text in found.reason for text in found.diagnosis)


def test_diagnosis_says_when_no_single_constraint_helps(method):
    data = pd.DataFrame({"a": [0, 1, 2, 3] * 15, "b": [0, 1, 2] * 20})
    asked = mx.Explainer(lambda r: (r["a"] + r["b"]).to_numpy(float), data, method=method)
    row = pd.DataFrame({"a": [0], "b": [0]})
    wish = mx.Constraints(fixed=["a"], ranges={"b": (0, 1)})
    found = asked.explain(row, want=mx.at_least(5), constraints=wish, diagnose=True)[0]
    assert found.diagnosis == ()
    assert "No single constraint" in found.reason


def test_diagnosis_of_strict_bounds(method):
    data = pd.DataFrame({"a": [0, 1, 2, 3] * 15, "b": [0, 1, 2] * 20})
    asked = mx.Explainer(lambda r: (r["a"] + r["b"]).to_numpy(float), data, method=method)
    row = pd.DataFrame({"a": [3], "b": [0]})
    wish = mx.Constraints(strict=True, fixed=["a"], ranges={"a": (0, 2)})
    found = asked.explain(row, want=mx.at_least(4), constraints=wish, diagnose=True)[0]
    assert found.status != "found"
    assert "ranges of 'a'" in found.diagnosis
    assert any("strict" in text for text in found.diagnosis)


def test_diagnosis_leaves_answers_alone(method):
    plain = by_merit(method).explain(ROWS)
    assert by_merit(method).explain(ROWS, diagnose=True).to_json(canonical=True) == plain.to_json(
        canonical=True
    )


def test_a_search_alone_may_fail_and_the_others_come_to_help():
    needle = 37

    def score(rows: pd.DataFrame) -> np.ndarray:
        return np.where((rows["a"] == needle) & (rows["b"] == needle), 0.9, 0.1)

    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 60, (300, 4)), columns=list("abcd"))
    data.loc[0, ["a", "b"]] = needle
    row = pd.DataFrame({"a": [1], "b": [2], "c": [3], "d": [4]})
    for search in ("exhaustive", "reinforce", "gradientless"):
        asked = mx.Explainer(score, data, method=search, classes=("no", "yes"))
        found = asked.explain(row)[0]
        assert found.status == "found"
        assert found.counterfactuals[0].sparsity == 2
        assert found.method in ("exhaustive", "reinforce", "gradientless", "nearest row")
        alone = mx.Explainer(score, data, method=search, classes=("no", "yes"), fallback=False)
        assert alone.explain(row)[0].method == search


def test_one_class_only_in_training_is_an_answer_not_an_error(method):
    data = loans().head(60)
    asked = mx.Explainer(lambda rows: np.zeros(len(rows)), data, method=method, classes=("n", "y"))
    for explanation in asked.explain(data.head(3)):
        assert explanation.status in ("none", "not_found", "budget")
        assert explanation.reason
