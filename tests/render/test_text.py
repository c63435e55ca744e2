"""Results on a terminal."""

from __future__ import annotations

import io
import sys

from explanation.made import asking, batch, counterfactual, explanation
from macex.ask.goals import at_least
from macex.render.names import Name
from macex.render.text import LEGEND, batch_text, paper_table, width


def test_an_explanation_is_a_decision_a_score_with_what_it_needs_and_a_line_for_each_answer():
    assert repr(batch()[0]).splitlines() == [
        "<=50K; score for >50K: 0.46, needs more than 0.5",
        "  1.  hours_per_week 40 → 45",
        "      >50K 0.53, usual 0.62, fewest possible",
        "  2.  edu BSc → PhD, age 38 → 39",
        "      >50K 0.53, other columns, usual 0.62, fewest possible over seen values",
    ]


def test_no_answer_says_why_and_what_came_nearest():
    assert repr(batch()[1]).splitlines() == [
        "<=50K; score for >50K: 0.46, needs more than 0.5",
        "  no answer (none): no single change reaches the goal",
        "  nearest miss: hours_per_week 20 → 60   >50K 0.53",
    ]


def test_columns_are_called_by_their_names_where_they_have_any():
    names = {"hours_per_week": Name("hours", unit="h")}
    found = explanation(counterfactual(1, hours_per_week=45, age=39), query=1, names=names)
    assert "hours 40 h → 45 h, age 38 → 39" in repr(found)


def test_fewer_answers_than_asked_and_another_search_are_said():
    asked = asking(n=3, method="reinforce")
    text = repr(explanation(counterfactual(age=38), asked=asked))
    assert "1 of 3 asked" in text
    assert "found by another search: exhaustive" in text
    assert "asked" not in repr(explanation(counterfactual(age=38), asked=asking(n=1)))


def test_long_lines_are_wrapped_in_their_column():
    found = counterfactual(1, edu="PhD", age=39, hours_per_week=45, rate=2.0)
    lines = repr(explanation(found, query=1, names={"edu": "education " * 4})).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[2].startswith("      ")
    why = "a constraint stands in the way " * 9
    assert max(map(len, repr(explanation(reason=why)).splitlines())) <= 100


def test_a_terminal_is_as_wide_as_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "52")
    assert width() == 52
    assert repr(batch()[0]).splitlines()[1:] == [
        "  1.  hours_per_week 40 → 45",
        "      >50K 0.53, usual 0.62, fewest possible",
        "  2.  edu BSc → PhD, age 38 → 39",
        "      >50K 0.53, other columns, usual 0.62, fewest",
        "        possible over seen values",
    ]
    monkeypatch.setenv("COLUMNS", "9")
    assert width() == 40


def test_a_row_that_is_already_there_needs_no_change():
    assert "no change needed" in repr(batch()[2])


def test_a_model_without_classes_shows_scores_alone():
    found = explanation(counterfactual(age=38), label=None, goal=at_least(0.5))
    assert repr(found).startswith("score: 0.46; wanted: score at least 0.5")


def test_a_row_the_model_failed_on_has_no_score():
    failed = explanation(label=None, score=float("nan"), reason="the model raised")
    assert ": unknown; " in repr(failed)


def test_a_batch_counts_its_answers():
    text = batch_text(batch(), limit=1)
    assert text.startswith("3 explanations: 2 found, 1 none\n0: <=50K; ")
    more, *legend = text.splitlines()[-2:]
    assert more == "… and 2 more"
    assert legend == [LEGEND]


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
