"""HTML that shows everything, runs nothing and needs no network."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

from explanation.made import asking, batch, counterfactual, explanation
from macex.ask.goals import any_of, at_most
from macex.explanation import Explanations, Interval
from macex.schema import Schema

EVIL = "<script>alert('x')</script>"
VOID = {"meta", "br", "line", "circle", "rect"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and gathers tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += f" {data}"


def hostile():
    rows = Schema.infer(pd.DataFrame({EVIL: ["a", EVIL]}, index=[EVIL, "b"]))
    rows = rows.read(pd.DataFrame({EVIL: ["a", EVIL]}, index=[EVIL, "b"]))
    found = counterfactual(0, rows, **{EVIL: EVIL})
    answered = explanation(found, rows=rows, label=EVIL, goal=any_of(EVIL), names={EVIL: EVIL})
    silent = explanation(rows=rows, reason=EVIL, diagnosis=(EVIL,), miss=found)
    return Explanations([answered, silent], {}, {EVIL: EVIL})


@pytest.mark.parametrize("render", ["_repr_html_", "to_html"])
def test_what_the_caller_supplies_is_text_and_never_markup(render):
    html = getattr(hostile(), render)()
    assert "<script" not in html
    assert EVIL in Page(html).text
    assert "<script" not in hostile().summary()._repr_html_()
    assert "<script" not in batch().to_html(title=EVIL)


@pytest.mark.parametrize("make", [batch, hostile])
def test_markup_is_closed_and_headers_say_what_they_head(make):
    for html in (make()._repr_html_(), make().to_html(), make().summary()._repr_html_()):
        page = Page(html)
        headers = page.tags.count("th")
        assert headers == sum(name == "scope" for name, _ in page.attributes)


def test_a_report_asks_for_nothing_outside_itself():
    html = batch().to_html()
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not re.search(r"https?:|url\(|@import|<link|<script|src=", html)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert 'name="viewport"' in html


def read(html):
    return " ".join(Page(html).text.split())


def test_a_change_is_marked_by_an_arrow_and_says_what_holds():
    text = read(batch()[0]._repr_html_())
    assert "hours per week 40 → 45 holds from 44 to 60" in text
    assert "usual 0.62" in text
    assert "fewest possible over seen values" in text
    assert "hours per week → 45 75 %, enough alone" in text


@pytest.mark.parametrize(
    ("language", "exact", "said"),
    [
        ("en", True, "holds from 44 to 60"),
        ("en", False, "tested from 44 to 60"),
        ("de", True, "gilt von 44 bis 60"),
        ("de", False, "geprüft von 44 bis 60"),
    ],
)
def test_only_a_proved_interval_is_said_to_hold(language, exact, said):
    span = Interval(44, 60, 17, exact)
    found = explanation(counterfactual(1, hours_per_week=45, interval=span), query=1)
    assert said in read(found.to_html(language=language))


def test_the_direction_of_the_score_is_said():
    text = read(batch()[0]._repr_html_())
    assert "Score for >50K: 0.46, needs more than 0.5." in text
    assert "○ now, ● then; the shaded part reaches the goal." in text
    low = explanation(counterfactual(age=38), asked=asking(at_most(0.3)), goal=at_most(0.3))
    assert "needs at most 0.3" in read(low._repr_html_())


def test_actions_are_explained():
    said = "Single changes that bring the decision nearer, each with what follows from it"
    assert said in read(batch()[0]._repr_html_())


def test_columns_are_called_by_their_names_in_cards_and_summary():
    names = {"edu": "level of education"}
    found = explanation(counterfactual(edu="PhD"), names=names)
    assert "level of education" in read(found._repr_html_())
    assert "level of education" in read(Explanations([found], names).summary()._repr_html_())
    assert "level of education" in read(Explanations([found], names).to_html())


def test_a_score_bar_says_its_scores_and_what_they_need():
    html = batch()[0]._repr_html_()
    assert 'aria-label="score 0.46 → 0.53, needs more than 0.5"' in html


def test_no_answer_shows_the_reason_the_nearest_miss_and_what_would_help():
    text = read(batch()[1]._repr_html_())
    assert "No answer. no single change reaches the goal" in text
    assert "What would help: Allow more" in text
    assert "Nearest miss" in text
    assert "hours per week 20 → 60" in text


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"status": "budget"}, "max_rows= or timeout_s="),
        ({"status": "not_found"}, "Not every combination was tried"),
        ({"status": "not_found", "score": float("nan"), "label": None}, "The model failed"),
    ],
)
def test_what_would_help_depends_on_what_went_wrong(fields, hint):
    assert hint in read(explanation(**fields)._repr_html_())


def test_a_diagnosis_needs_no_further_hint():
    assert "What would help" not in read(explanation(diagnosis=("fixed 'age'",))._repr_html_())


def test_fewer_answers_than_asked_and_another_search_are_said():
    found = explanation(counterfactual(age=38), asked=asking(n=3, method="reinforce"))
    text = read(found._repr_html_())
    assert "Found 1 of 3 requested answers." in text
    assert "Found by another search: exhaustive." in text
    there = explanation(counterfactual(), asked=asking(n=3), label=">50K", score=0.8)
    assert "asked for" not in read(there._repr_html_())


def test_a_row_that_is_already_there_has_no_table():
    assert "<table" not in batch()[2]._repr_html_()


def test_an_unusual_answer_is_marked_by_more_than_its_colour():
    odd = replace(counterfactual(age=38), plausibility=0.01)
    assert "! unusual 0.01" in read(explanation(odd)._repr_html_())


def test_a_value_that_follows_from_a_change_is_not_called_unchanged():
    found = counterfactual(1, follows={"rate"}, age=52, rate=2.0)
    text = read(explanation(found, query=1)._repr_html_())
    assert "rate 1.25 → 2 follows from the others" in text
    assert "3 columns stay the same" in text


def test_a_counterfactual_shows_itself():
    text = read(replace(counterfactual(edu="PhD"), names={"edu": "degree"})._repr_html_())
    assert "degree HS → PhD" in text
    assert "score 0.53" in text


def test_a_report_in_german_is_german():
    page = batch().to_html(language="de")
    assert page.startswith('<!DOCTYPE html>\n<html lang="de">')
    text = read(page)
    assert "Das Modell entscheidet <=50K ." in text
    assert "Wert für >50K: 0,46, nötig ist mehr als 0,5." in text


def test_the_rows_of_a_report_carry_the_callers_labels():
    text = Page(batch().to_html()).text
    assert "Row 0 (x)" in text
    assert "Row 2 (z)" in text


def test_an_explanation_on_its_own_has_no_number():
    assert "Row x" in Page(batch()[0]._repr_html_()).text
