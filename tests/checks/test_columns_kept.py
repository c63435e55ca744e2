"""Constraints on single columns hold: on the explainer, per call, per row, and merged."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks.loans import by_merit, chance, changed_columns, found_rows, loans

COLUMNS = list(loans().columns)
ROWS = loans().head(6)
GOAL = mx.rise_by(0.15)


def explained(method: str, wish: mx.Constraints) -> mx.Explanations:
    return by_merit(method).explain(ROWS, want=GOAL, n=2, constraints=wish)


def pairs(found):
    """(query, row) as mappings of cells, for every counterfactual."""
    answers = found_rows(found)
    assert answers, "the law would be empty"
    return [(e.query.iloc[0], c.row.iloc[0]) for e, c in answers]


def test_fixed_columns_stay(method):
    wish = mx.Constraints(fixed=["income", "grade"])
    for explanation, counterfactual in found_rows(explained(method, wish)):
        assert not changed_columns(explanation.query, counterfactual.row) & {"income", "grade"}
        assert not {a.column for a in explanation.actions} & {"income", "grade"}


def test_only_some_columns_move(method):
    wish = mx.Constraints(only=["amount", "owner", "since"])
    for explanation, counterfactual in found_rows(explained(method, wish)):
        assert changed_columns(explanation.query, counterfactual.row) <= {*wish.only}


def test_protected_columns_stay_and_are_no_actions(method):
    wish = mx.Constraints(protected=["marital", "income"])
    found = explained(method, wish)
    for explanation, counterfactual in found_rows(found):
        assert not changed_columns(explanation.query, counterfactual.row) & {"marital", "income"}
        assert not {a.column for a in explanation.actions} & {"marital", "income"}
    assert any(a.column == "income" for e in found for a in e.reasons)


def test_a_range_binds_what_is_set(method):
    wish = mx.Constraints(
        ranges={"amount": (3, 6), "age": (None, 45), "since": ("2020-06-01", None)}
    )
    for old, new in pairs(explained(method, wish)):
        assert new["amount"] == old["amount"] or 3 <= new["amount"] <= 6
        assert new["age"] == old["age"] or new["age"] <= 45
        assert new["since"] == old["since"] or str(new["since"].date()) >= "2020-06-01"


def test_an_ordered_category_has_a_range_too(method):
    wish = mx.Constraints(only=["grade", "amount"], ranges={"grade": ("B", "C")})
    for old, new in pairs(explained(method, wish)):
        assert new["grade"] == old["grade"] or new["grade"] in "BC"


def test_one_way_columns_move_one_way(method):
    wish = mx.Constraints(increase=["age", "since", "grade"], decrease=["amount", "income"])
    for old, new in pairs(explained(method, wish)):
        assert new["age"] >= old["age"]
        assert new["since"] >= old["since"]
        assert new["grade"] >= old["grade"]
        assert new["amount"] <= old["amount"]
        assert math.isnan(old["income"]) or new["income"] <= old["income"]


def test_only_allowed_values_are_set(method):
    wish = mx.Constraints(
        only=["marital", "grade", "amount"],
        allowed={
            "marital": {"single": ["married"], "married": ["divorced"]},
            "grade": ["B", "A"],
            "amount": [1.0, 2.5, 7.7],
        },
    )
    for old, new in pairs(explained(method, wish)):
        step = (old["marital"], new["marital"])
        assert step[0] == step[1] or step in {("single", "married"), ("married", "divorced")}
        assert new["grade"] == old["grade"] or new["grade"] in "AB"
        assert new["amount"] == old["amount"] or new["amount"] in (1.0, 2.5, 7.7)


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_no_more_columns_change_than_allowed(method, most):
    found = explained(method, mx.Constraints(max_changes=most))
    for explanation, counterfactual in found_rows(found):
        assert len(changed_columns(explanation.query, counterfactual.row)) <= most
    if most == 0:
        assert {e.status for e in found} == {"none"}


def test_without_may_blank_nothing_is_blanked(method):
    for old, new in pairs(explained(method, mx.Constraints(only=["income", "amount"]))):
        assert math.isnan(old["income"]) or not math.isnan(new["income"])


@pytest.mark.parametrize("candidates", ["both", "domain", "neighbors"])
def test_a_column_that_may_be_blank_can_be_blanked(method, candidates):
    def score(rows):
        return rows["income"].isna().to_numpy(float) + rows["age"].to_numpy(float) / 1000

    asked = mx.Explainer(score, loans(), method=method, candidates=candidates)
    rows = loans().dropna().head(4)
    wish = mx.Constraints(may_blank=["income"], only=["income", "age", "grade"])
    for explanation in asked.explain(rows, want=mx.at_least(0.9), constraints=wish):
        assert explanation.status == "found"
        (change,) = explanation.counterfactuals[0].changes
        assert change.column == "income"
        assert change.after is None
        assert explanation.counterfactuals[0].row["income"].isna().all()
    kept = mx.Constraints(only=["income", "age", "grade"])
    found = asked.explain(rows, want=mx.at_least(0.9), constraints=kept)
    assert "found" not in {e.status for e in found}


@pytest.mark.parametrize("candidates", ["both", "domain"])
def test_strict_bounds_bind_present_values_too(method, candidates):
    wish = mx.Constraints(
        strict=True,
        ranges={"amount": (2, 6), "age": (25, None)},
        allowed={"marital": ["married", "single"]},
    )
    asked = mx.Explainer(chance, loans(), method=method, candidates=candidates)
    found = asked.explain(loans().head(8), want=mx.at_least(0.4), constraints=wish)
    assert sum(e.status == "found" for e in found) >= 6
    for _, new in pairs(found):
        assert 2 <= new["amount"] <= 6
        assert new["age"] >= 25
        assert new["marital"] in ("married", "single")


def test_a_category_never_seen_is_outside_strict_bounds(method):
    rows = loans().head(6).assign(marital="widowed")
    wish = mx.Constraints(strict=True, allowed={"marital": ["married", "single"]})
    asked = mx.Explainer(chance, loans(), method=method)
    found = asked.explain(rows, want=mx.at_least(0.4), constraints=wish)
    assert sum(e.status == "found" for e in found) >= 4
    assert all(new["marital"] in ("married", "single") for _, new in pairs(found))


def test_a_rare_value_that_is_allowed_may_stay_under_strict_bounds():
    data = pd.DataFrame({"kind": ["rare"] * 2 + ["usual"] * 38, "level": range(40)})
    asked = mx.Explainer(lambda rows: rows["level"] / 40, data, classes=("no", "yes"))
    wish = mx.Constraints(strict=True, min_support=5, allowed={"kind": ["rare", "usual"]})
    row = pd.DataFrame({"kind": ["rare"], "level": [35]})
    (answer,) = asked.explain(row, want="yes", constraints=wish)[0].counterfactuals
    assert answer.changes == ()


def test_strictness_can_be_the_only_reason_to_change(method):
    row = loans()[(chance(loans()) > 0.9) & (loans()["amount"] > 3)].head(1)
    wish = mx.Constraints(strict=True, ranges={"amount": (0.5, 2.5)})
    asked = mx.Explainer(chance, loans(), method=method)
    found = asked.explain(row, want=mx.at_least(0.6), constraints=wish)[0]
    assert found.status == "found"
    (change,) = found.counterfactuals[0].changes
    assert change.column == "amount"
    assert change.after <= 2.5


@settings(max_examples=5)
@given(
    own=st.sets(st.sampled_from(COLUMNS), max_size=3),
    call=st.sets(st.sampled_from(COLUMNS), max_size=3),
    least=st.integers(20, 40),
    most=st.integers(41, 60),
)
def test_what_either_forbids_is_forbidden(method, own, call, least, most):
    asked = mx.Explainer(
        chance,
        loans(),
        method=method,
        classes=("refused", "granted"),
        constraints={"fixed": sorted(own), "ranges": {"age": (least, None)}, "max_changes": 3},
    )
    wish = mx.Constraints(fixed=sorted(call), ranges={"age": (None, most)}, max_changes=2)
    for explanation, counterfactual in found_rows(asked.explain(ROWS.head(3), constraints=wish)):
        changed = changed_columns(explanation.query, counterfactual.row)
        assert not changed & (own | call)
        assert len(changed) <= 2
        assert "age" not in changed or least <= counterfactual.row["age"].iloc[0] <= most
