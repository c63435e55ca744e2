"""Results on a terminal."""

from __future__ import annotations

from explanation.made import batch, counterfactual, explanation
from macex.ask.goals import at_least
from macex.render.text import batch_text, paper_table


def test_an_explanation_is_a_decision_a_goal_and_a_line_for_each_answer():
    known = ">50K 0.53  minimal over seen values, plausibility 0.62"
    assert repr(batch()[0]).splitlines() == [
        "<=50K, score 0.46; wanted: any other decision",
        f"  1.  hours_per_week 40 → 45      {known}",
        f"  2.  edu BSc → PhD, age 38 → 39  {known}",
    ]


def test_no_answer_says_why_and_what_came_nearest():
    assert repr(batch()[1]).splitlines() == [
        "<=50K, score 0.46; wanted: any other decision",
        "  no answer (none): no single change reaches the goal",
        "  nearest miss: hours_per_week 20 → 60   >50K 0.53",
    ]


def test_a_row_that_is_already_there_needs_no_change():
    assert "no change needed" in repr(batch()[2])


def test_a_model_without_classes_shows_scores_alone():
    found = explanation(counterfactual(age=38), label=None, goal=at_least(0.5))
    assert repr(found).startswith("score 0.46; wanted: score at least 0.5")


def test_a_row_the_model_failed_on_has_no_score():
    failed = explanation(label=None, score=float("nan"), reason="the model raised")
    assert repr(failed).startswith("score unknown; ")


def test_a_batch_counts_its_answers():
    text = batch_text(batch(), limit=1)
    assert text.startswith("3 explanations: 2 found, 1 none\n0: <=50K")
    assert text.endswith("… and 2 more")


def test_a_table_marks_what_differs_and_ends_in_the_top_actions():
    lines = paper_table(batch()[0]).splitlines()
    assert lines[0].split() == ["label", "age", "hours_per_week", "edu", "rate", "since"]
    assert lines[1].split()[:3] == ["Original", "<=50K", "38"]
    assert lines[2].split()[2:] == [">50K", "38", "*45*", "BSc", "1.25", "2020-01-02"]
    assert lines[3].split()[2:] == [">50K", "*39*", "40", "*PhD*", "1.25", "2020-01-02"]
    assert lines[4].split()[2:] == ["-", "-", "45", "-", "-", "-"]


def test_a_table_also_marks_what_only_follows_from_a_change():
    found = counterfactual(1, follows={"rate"}, age=52, rate=2.0)
    assert [change.column for change in found.changes] == ["age"]
    assert "*2*" in paper_table(explanation(found, query=1))
