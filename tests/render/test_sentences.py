"""Answers in plain language."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from explanation.made import counterfactual, explanation
from macex import Constraints, Explainer
from macex.ask.goals import at_least
from macex.explanation import Action
from macex.render.names import Name


def test_one_change_is_one_condition():
    found = explanation(counterfactual(1, hours_per_week=45), query=1)
    condition = "If hours per week were 45 instead of 40"
    decision = "the model would have decided >50K (score 0.46 → 0.53)."
    assert found.sentences() == [f"{condition}, {decision}"]


def test_changes_are_joined_and_columns_called_by_their_names():
    found = explanation(counterfactual(edu="PhD", age=30, rate=0.75), names={"edu": "the degree"})
    assert found.sentences()[0].startswith(
        "If the degree were PhD instead of HS, age were 30 instead of 25 "
        "and rate were 0.75 instead of 0.5, "
    )


def test_a_score_is_told_from_what_is_needed():
    model = Explainer(
        lambda rows: rows["x"] / 1000,
        pd.DataFrame({"x": range(0, 1000, 100)}),
        classes=("no", "yes"),
    )
    found = model.explain({"x": 300}, constraints=Constraints(ranges={"x": (None, 501)}))[0]
    assert found.counterfactuals[0].score > 0.5
    assert "0.50)" not in found.sentences()[0]


def test_a_missing_value_is_called_missing():
    found = explanation(counterfactual(2, rate=0.5), query=2)
    assert found.sentences()[0].startswith("If rate were 0.5 instead of missing, ")


def test_a_goal_on_the_score_speaks_of_the_score():
    found = explanation(
        replace(counterfactual(1, hours_per_week=45), score=0.71), query=1, goal=at_least(0.7)
    )
    assert found.sentences() == [
        "If hours per week were 45 instead of 40, the score would have been 0.71 (now 0.46)."
    ]


def test_already_there_needs_no_condition():
    there = explanation(counterfactual(), label=">50K", score=0.8)
    assert there.sentences() == ["The model already decides >50K (score 0.80)."]
    there = explanation(counterfactual(), score=0.8, goal=at_least(0.7))
    assert there.sentences() == ["The score is already there: 0.80."]


def test_no_answer_is_its_reason():
    assert explanation().sentences() == ["no single change reaches the goal"]
    assert len(explanation(reason=None).sentences()) == 1


def test_a_sentence_for_each_counterfactual_in_their_order():
    found = explanation(counterfactual(age=38), counterfactual(edu="PhD"))
    assert ["age" in s for s in found.sentences()] == [True, False]


def test_units_and_formats_are_those_of_the_names():
    names = {"rate": Name("interest", format="{:.1f} %"), "age": Name("age", unit="years")}
    found = explanation(counterfactual(rate=0.75, age=30), names=names)
    assert found.sentences()[0].startswith(
        "If interest were 0.8 % instead of 0.5 % and age were 30 years instead of 25 years, "
    )


def test_a_format_that_hides_the_change_gives_way():
    found = explanation(counterfactual(rate=0.53), names={"rate": Name("rate", format="{:.1f}")})
    assert found.sentences()[0].startswith("If rate were 0.53 instead of 0.5, ")


def test_german_is_a_file():
    found = explanation(counterfactual(1, hours_per_week=45, rate=1.5), query=1)
    changes = "hours per week 45 statt 40 und rate 1,5 statt 1,25"
    decision = "hätte das Modell >50K entschieden (Wert 0,46 → 0,53)."
    assert found.sentences("de") == [f"Wäre {changes}, {decision}"]
    miss = counterfactual(hours_per_week=60)
    said = explanation(miss=miss, diagnosis=("fixed 'age'",)).sentences("de")[0]
    assert said.startswith("Jede erlaubte Kombination wurde versucht")
    assert "fixed 'age'" in said
    assert "0,53" in said


def test_a_table_of_codes_adds_the_main_reasons():
    reasons = (Action("edu", "PhD", 0.5, flips=False), Action("age", 40, 0.4, flips=False))
    found = explanation(counterfactual(age=38), reasons=reasons)
    said = found.sentences(codes={"age": ("R7", "Age"), "edu": ("R2", "Education")})
    assert said[-1] == "Main reasons: R2 Education; R7 Age."
    assert len(found.sentences(codes={"rate": "R1"})) == 1
