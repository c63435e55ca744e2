"""HTML that shows everything, runs nothing and asks for nothing outside itself."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from explanation.made import batch, counterfactual, explanation
from macex.ask.goals import any_of
from macex.explanation import Explanations
from macex.render.html import fragment
from macex.schema import Schema

EVIL = "<script>alert('x')</script>"
VOID = {"meta", "br", "line", "circle"}


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


def test_a_change_is_marked_by_an_arrow_and_says_what_holds():
    text = " ".join(Page(fragment([batch()[0]])).text.split())
    assert "hours per week 40 → 45 holds from 44 to 60" in text
    assert "same" in text
    assert "minimal over seen values" in text
    assert "plausibility 0.62" in text
    assert "hours per week → 45 75 %, enough alone" in text


def test_columns_are_called_by_their_names():
    found = explanation(counterfactual(edu="PhD"), names={"edu": "level of education"})
    assert "level of education" in Page(found._repr_html_()).text


def test_a_score_bar_says_its_scores():
    assert 'aria-label="score 0.46 → 0.53"' in fragment([batch()[0]])


def test_no_answer_shows_the_reason_and_the_nearest_miss():
    text = " ".join(Page(fragment([batch()[1]])).text.split())
    assert "no answer: none no single change reaches the goal" in text
    assert "nearest miss" in text
    assert "hours per week 20 → 60" in text


def test_a_value_that_follows_from_a_change_is_not_called_unchanged():
    found = counterfactual(1, follows={"rate"}, age=52, rate=2.0)
    text = " ".join(Page(fragment([explanation(found, query=1)])).text.split())
    assert "rate 1.25 → 2 follows from the others" in text
    assert "3 columns stay the same" in text


def test_the_rows_of_a_report_carry_the_callers_labels():
    text = Page(batch().to_html()).text
    assert "Row 0 (x)" in text
    assert "Row 2 (z)" in text


def test_an_explanation_on_its_own_has_no_number():
    assert "Row x" in Page(batch()[0]._repr_html_()).text
