"""Cards, summary and report in a real browser: light, dark, on a phone and on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explanation.made import asking, batch, counterfactual, explanation
from macex.explanation import Explanations
from macex.render.names import Name
from web.looking import FAINT, OVERFLOW, looks, opened, photographed

LONG = "A-very-long-category-without-a-single-space-" * 3
NAMES = {"edu": "level of education " * 4, "hours_per_week": Name("hours per week", unit="h")}


def everything():
    """Answers of every sort: usual and odd, one and many, fewer than asked, none."""
    odd = replace(counterfactual(1, age=39), plausibility=0.01, minimal=False)
    several = explanation(
        counterfactual(1, hours_per_week=45), odd, query=1, names=NAMES, asked=asking(n=3)
    )
    wordy = explanation(reason=f"Because of {LONG}", asked=asking(), status="budget")
    return Explanations([*batch(), several, wordy], NAMES, {"method": "exhaustive", "seed": 0})


PAGES = {
    "card": everything()[3]._repr_html_,
    "no-answer": batch()[1]._repr_html_,
    "cards": lambda: everything()._repr_html_(),
    "summary": lambda: batch().summary({"age": 0.5, "edu": 1.5, "rate": 0.1})._repr_html_(),
    "report": lambda: everything().to_html(title=f"Loans {LONG}"),
    "report-de": lambda: everything().to_html(language="de"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_can_be_read_and_asks_for_nothing(browser, tmp_path, name):
    with opened(browser, PAGES[name]()) as page:
        for look in looks(page):
            photographed(page, f"{name}-{look}", tmp_path)
            assert page.evaluate(OVERFLOW) <= 0
            assert page.evaluate(FAINT) == []
        assert page.asked == []


def test_what_is_faint_too_wide_or_fetched_is_noticed(browser):
    html = PAGES["card"]().replace(
        "</h2>", '</h2><p style="color:#999;width:2000px">x<img src="http://localhost/"></p>', 1
    )
    with opened(browser, html) as page:
        assert [text for text, _ in page.evaluate(FAINT)] == ["x"]
        assert page.evaluate(OVERFLOW) > 0
        assert len(page.asked) == 1


NUMBERED = """
[...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
  .some(rule => rule instanceof CSSPageRule && rule.cssText.includes("counter(page)"))
"""


def background(page):
    return page.evaluate("getComputedStyle(document.querySelector('.mx-card')).backgroundColor")


def test_dark_follows_the_system_unless_the_page_says_otherwise(browser):
    html = PAGES["card"]()
    with opened(browser, html) as page:
        light = background(page)
    with opened(browser, html, scheme="dark") as page:
        dark = background(page)
        assert dark != light
        page.evaluate("document.documentElement.dataset.theme = 'light'")
        assert background(page) == light
    with opened(browser, html) as page:
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        assert background(page) == dark


def test_on_paper_everything_is_shown_on_white(browser, tmp_path):
    with opened(browser, PAGES["report"](), scheme="dark", media="print") as page:
        photographed(page, "report-print", tmp_path)
        assert background(page) == "rgb(255, 255, 255)"
        shown = page.evaluate("document.querySelector('.mx-rest dl').checkVisibility()")
        assert shown
        assert page.evaluate(FAINT) == []
        style = "getComputedStyle(document.querySelector('{}')).{}"
        arrow = page.evaluate(style.format(".mx-rest summary", "listStyleType"))
        kept = (".mx-card", ".mx-answers tbody")  # a card goes on where the page is full
        breaks = [page.evaluate(style.format(one, "breakInside")) for one in kept]
        assert (arrow, breaks) == ("none", ["auto", "avoid"])
        assert page.evaluate(NUMBERED)


def test_details_open_by_keyboard(browser):
    with opened(browser, PAGES["card"]()) as page:
        page.keyboard.press("Tab")
        focused = "document.activeElement.tagName"
        assert page.evaluate(focused) == "SUMMARY"
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none"
        page.keyboard.press("Enter")
        assert page.evaluate("document.querySelector('.mx-rest').open")


def test_a_notebooks_own_style_does_not_reach_the_tables(browser):
    style = """<style>.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: rgb(1, 2, 3) }
    .jp-RenderedHTMLCommon td { text-align: right; white-space: nowrap }
    .jp-RenderedHTMLCommon table { font-size: 30px; table-layout: auto }</style>"""
    html = f'{style}<div class="jp-RenderedHTMLCommon">{PAGES["card"]()}</div>'
    with opened(browser, html) as page:
        cell = "getComputedStyle(document.querySelector('.mx-answers td'))"
        assert page.evaluate(f"{cell}.textAlign") == "left"
        assert page.evaluate(f"{cell}.whiteSpace") == "normal"
        rows = "[...document.querySelectorAll('.mx-answers tr')]"
        colours = page.evaluate(f"{rows}.map(row => getComputedStyle(row).backgroundColor)")
        assert set(colours) == {"rgba(0, 0, 0, 0)"}
