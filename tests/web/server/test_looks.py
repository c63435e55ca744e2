"""Every page in light and dark, wide and on a phone: it fits, can be read, and is usable by all."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from web.looking import FAINT, OVERFLOW, looks, photographed
from web.server.accessible import axe_findings, faults, tabbed
from web.server.conftest import visiting

pytestmark = pytest.mark.slow

ASKED = "want=granted&n=2&may.job=keep&low.hours=10&max=2&rules=pay+%3C%3D+50"
VARIANTS = "a.hours=66&a.pay=x&b.job=doctor&b.since=2021-01-01"
PAGES = {
    "home": "/",
    "glance": "/projects/loans/glance?group=job&show=groups&at=0.7",
    "rows": "/projects/loans?sort=-cf.score",
    "rows-none": "/projects/loans?q=nothing+like+this",
    "rows-wrong": "/projects/loans?where=agee+%3E+3",
    "row": "/projects/loans/rows/0",
    "row-asked": f"/projects/loans/rows/0?{ASKED}&{VARIANTS}",
    "row-seen": "/projects/loans/rows/0?curve=hours&a.pay=22&mapx=hours&mapy=job&compare=1",
    "row-none": "/projects/loans/rows/0?may.hours=keep&may.pay=keep&may.job=keep",
    "cohort": f"/projects/loans/cohort?decision=refused&{ASKED}",
    "new": "/new",
    "error": "/projects/nothing",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_can_be_read_and_is_usable(browser, site, tmp_path, name):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(site + PAGES[name])
    page.wait_for_load_state("networkidle")
    for look in looks(page):
        photographed(page, f"server-{name}-{look}", tmp_path)
        assert page.evaluate(OVERFLOW) <= 0
        assert page.evaluate(FAINT) == []
        assert faults(page) == {}
        assert axe_findings(page) == []
    context.close()


def test_the_keyboard_reaches_everything_in_reading_order(visit, site):
    visit.goto(f"{site}/projects/loans/rows/0")
    expect(visit.get_by_role("button", name="Undo")).to_be_visible()
    reached = tabbed(visit)
    assert reached[0] == "Skip to the content"
    order = [name for name in reached if name.startswith("a-")]
    assert order == sorted(order, key=lambda name: int(name.split("-")[1]))
    assert len(order) >= 6


def test_the_skip_link_leads_to_the_content(visit, site):
    visit.goto(f"{site}/projects/loans")
    visit.wait_for_load_state("networkidle")
    visit.keyboard.press("Tab")
    visit.keyboard.press("Enter")
    expect(visit.locator("#main")).to_be_focused()


def test_the_focus_stays_where_it_is_when_a_part_is_replaced(visit, site):
    visit.goto(f"{site}/projects/loans")
    visit.wait_for_load_state("networkidle")
    visit.get_by_role("link", name="Next ›").focus()
    visit.keyboard.press("Enter")
    expect(visit.locator("#rows [role=status]")).to_contain_text("26–50")
    expect(visit.get_by_role("link", name="Next ›")).to_be_focused()
    visit.keyboard.press("Enter")
    expect(visit.locator("#rows [role=status]")).to_contain_text("51–75")
    visit.goto(f"{site}/projects/loans/rows/0?a.hours=44")
    visit.wait_for_load_state("networkidle")
    visit.get_by_role("link", name="Reset").focus()
    visit.keyboard.press("Enter")
    expect(visit.locator(".mx-edited")).to_have_count(0)
    expect(visit.get_by_role("link", name="Reset")).to_be_focused()


def test_everything_can_be_looked_at_without_javascript(browser, site):
    with visiting(browser, site, java_script_enabled=False) as page:
        page.goto(f"{site}/projects/loans")
        page.get_by_label("Decision").select_option("refused")
        page.get_by_role("button", name="Show").click()
        page.locator("#rows tbody th a").first.click()
        assert not page.locator("[hidden]:visible").count()  # what only a script can do
        page.get_by_label("hours per week, A", exact=True).fill("69")
        page.get_by_label("Answers").fill("1")
        page.get_by_role("button", name="Show").click()
        assert "1 change" in page.locator("#verdicts").inner_text()
        assert page.locator("#answers tbody").count() == 1
        page.get_by_role("link", name="Apply: ").click()
        assert "granted" in page.locator("#verdicts .mx-verdict").nth(1).inner_text()


def test_nothing_on_a_page_is_inline(visit, site):
    visit.goto(f"{site}/projects/loans/rows/0?{ASKED}&{VARIANTS}")
    inline = "document.querySelectorAll('script:not([src]), style, [style], [onclick]').length"
    assert visit.evaluate(inline) == 0
