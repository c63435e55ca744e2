"""Constraints on what is done, and on what comes out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

RNG = np.random.default_rng(1)
N = 600
AGE = RNG.integers(20, 65, N)
SCHOOL = RNG.integers(8, 20, N)
INCOME = (1.5 * SCHOOL + 0.2 * AGE + RNG.normal(0, 2, N)).round(1)
X = pd.DataFrame(
    {
        "age": AGE,
        "school": SCHOOL,
        "income": INCOME,
        "savings": (0.3 * INCOME + RNG.normal(0, 1, N)).round(2),
        "spare": RNG.normal(0, 1, N).round(1),
    }
)
CAUSES = mx.Causes(
    {"income": ["age", "school"], "savings": ["income"]},
    {"income": "1.5 * school + 0.2 * age + u", "savings": "0.3 * income + u"},
)


def model(rows):
    return 1 / (1 + np.exp(14 - 0.2 * rows["income"] - 0.8 * rows["savings"]))


def explained(rows: int = 30, causes=CAUSES, **options):
    explainer = mx.Explainer(
        model, X, classes=("no", "yes"), causes=causes, plausibility="distance"
    )
    refused = X[model(X) < 0.5].head(rows)
    return explainer.explain(refused, want="yes", **options)


def changed(found) -> set[str]:
    return {c.column for e in found for answer in e.counterfactuals for c in answer.changes}


def followed(found) -> set[str]:
    return {c.column for e in found for answer in e.counterfactuals for c in answer.consequences}


def test_only_and_protected_bind_what_is_done_and_let_the_rest_follow():
    found = explained(constraints={"only": ["school"]})
    assert changed(found) == {"school"}
    assert followed(found) == {"income", "savings"}
    found = explained(constraints={"protected": ["income", "savings", "age"]})
    assert changed(found) == {"school"}
    assert followed(found) == {"income", "savings"}


def test_a_fixed_column_does_not_follow_either():
    found = explained(constraints={"fixed": ["savings", "age"]})
    assert changed(found) <= {"spare"}
    assert not followed(found)
    assert {e.status for e in found} <= {"none", "not_found"}


def test_a_range_binds_what_is_set_and_a_rule_what_comes_out():
    ranged = explained(constraints={"only": ["school"], "ranges": {"income": (0, 20)}})
    assert any(
        e.counterfactuals and e.counterfactuals[0].row["income"].iloc[0] > 20 for e in ranged
    )
    ruled = explained(constraints={"only": ["school"], "rules": ["income <= old(income) + 6"]})
    for explanation in ruled:
        for answer in explanation.counterfactuals:
            own = explanation.query["income"].iloc[0]
            assert answer.row["income"].iloc[0] <= own + 6


def test_a_column_that_is_set_no_longer_follows():
    found = explained(constraints={"only": ["school", "savings"]}, n=3)
    both = [
        answer
        for e in found
        for answer in e.counterfactuals
        if {c.column for c in answer.changes} == {"school", "savings"}
    ]
    for answer in both:
        assert {c.column for c in answer.consequences} == {"income"}


def test_weights_and_distance_are_those_of_what_is_done():
    (plain,), (heavy,) = (
        explained(1, constraints={"only": ["income"], "weights": weights})
        for weights in ({}, {"school": 50, "savings": 50})
    )
    assert plain.counterfactuals[0].distance == heavy.counterfactuals[0].distance


def test_derived_columns_follow_what_follows():
    rows = X.assign(share=(X["savings"] / X["income"]).round(4))
    explainer = mx.Explainer(
        lambda r: 1 / (1 + np.exp(9 - 0.3 * r["income"] - r["share"])),
        rows,
        classes=("no", "yes"),
        causes=CAUSES,
        constraints={"derived": {"share": "savings / income"}, "only": ["school"]},
    )
    answers = [e.counterfactuals[0] for e in explainer.explain(rows.head(30)) if e.counterfactuals]
    assert any(answer.changes for answer in answers)
    for answer in answers:
        if answer.changes:
            row = answer.row.iloc[0]
            assert row["share"] == pytest.approx(row["savings"] / row["income"])


def test_causes_come_before_relations_that_were_found():
    rows = X.assign(net=(0.8 * X["income"]).round(6))
    stated = mx.Causes(mechanisms={"net": "0.8 * income + 0 * age + u", "income": "school + u"})

    def scored(frame):
        return 1 / (1 + np.exp(24 - frame["net"]))

    explainer = mx.Explainer(scored, rows, classes=("no", "yes"), causes=stated, structure="keep")
    assert any({"net", "income"} <= set(r.columns) for r in explainer.structure)
    found = explainer.explain(rows[scored(rows) < 0.5].head(5), want="yes")
    notes = {note for e in found for note in e.notes}
    assert any("causes say what net becomes" in note for note in notes)
    own = mx.Explainer(scored, rows, classes=("no", "yes"), causes=stated, structure="ignore")
    told = own.explain(rows[scored(rows) < 0.5].head(5), want="yes")
    assert [e.counterfactuals[0].changes for e in told] == [
        e.counterfactuals[0].changes for e in found
    ]


def test_a_model_of_trees_with_thresholds_still_proves():
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, model(X) > 0.5)
    explainer = mx.Explainer(tree, X, candidates="thresholds", causes=CAUSES)
    for explanation in explainer.explain(X[~tree.predict(X)].head(10), want=True):
        assert explanation.status == "found"
        assert bool(tree.predict(explanation.counterfactuals[0].row)[0])
