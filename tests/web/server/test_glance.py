"""The first page of a project: a threshold that is dragged, what is loaded late, a lasso."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from web.server.conftest import visiting


def glanced(page, site, query=""):
    page.goto(f"{site}/projects/loans/glance{query}")
    expect(page.locator("h1")).to_have_text("Loans")
    page.wait_for_load_state("networkidle")
    return page


def test_the_numbers_follow_the_threshold_and_the_link_keeps_it(visit, site):
    page = glanced(visit, site)
    said = page.locator("#scores [role=status]")
    before = said.inner_text()
    slider = page.get_by_role("slider", name="Threshold")
    slider.focus()
    for _ in range(30):
        slider.press("ArrowRight")
    expect(slider).to_be_focused()  # it is not replaced while it is held
    expect(said).to_contain_text("0.65 or more")
    assert said.inner_text() != before
    assert "at=0.65" in page.url
    glanced(page, site, "?at=0.65")
    expect(page.locator("#scores [role=status]")).to_contain_text("0.65 or more")
    expect(page.locator("#scores h3").first).to_have_text(re.compile(r"ROC: area (0\.9|1\.0)"))


def test_what_takes_longer_comes_when_it_is_seen(visit, site):
    page = glanced(visit, site)
    page.locator("#importance").scroll_into_view_if_needed()
    chart = page.locator("#importance svg").first
    expect(chart).to_have_attribute("aria-label", re.compile("hours per week"), timeout=30_000)
    page.locator("#structure").scroll_into_view_if_needed()
    expect(page.locator("#structure")).to_contain_text(re.compile("No relation|exceptions"))
    page.get_by_label("Compare by").select_option("job")
    expect(page.locator("#groups tbody tr")).to_have_count(6, timeout=30_000)
    assert "group=job" in page.url


def test_rows_that_are_drawn_around_are_explained_together(visit, site):
    page = glanced(visit, site, "?x=hours&y=pay")
    box = page.locator("#scatter svg").bounding_box()
    corners = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.32)]
    for at, (x, y) in enumerate(corners):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if not at:
            page.mouse.down()
    page.mouse.up()
    link = page.get_by_role("link", name=re.compile(r"Explain these \d+ rows"))
    count = int(re.search(r"\d+", link.inner_text()).group())
    link.click()
    expect(page.locator("h1")).to_have_text(f"Explain {count} rows")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#job")).to_contain_text(f"{count} of {count} rows", timeout=60_000)
    expect(page.locator("#job dl").first).to_contain_text("any other decision")


def test_a_dot_opens_its_row(visit, site):
    page = glanced(visit, site)
    dot = page.locator("#scatter a[data-key='7']")
    dot.dispatch_event("click")
    expect(page.locator("h1")).to_have_text("Row 7")


def test_a_row_is_seen_among_the_others_with_its_answer_and_the_nearest_real_one(visit, site):
    visit.goto(f"{site}/projects/loans/rows/3?n=1")
    visit.get_by_role("link", name="Among the rows").click()
    said = re.compile("row 3 at .*answer 1 at .*nearest real row at")
    expect(visit.locator("#scatter svg")).to_have_attribute("aria-label", said)
    assert visit.locator("#scatter .mx-head").count() >= 1  # arrows
    visit.locator("#scatter").get_by_role("link", name="Back to row 3").click()
    expect(visit.locator("h1")).to_have_text("Row 3")
    assert "n=1" in visit.url


def test_all_of_it_is_there_without_javascript(browser, site):
    with visiting(browser, site, java_script_enabled=False) as page:
        page.goto(f"{site}/projects/loans/glance")
        page.get_by_role("link", name="Which columns answers change").click()
        expect(page.locator("#importance svg").first).to_be_visible(timeout=30_000)
        page.locator("select[name=x]").select_option("hours")
        page.locator("select[name=y]").select_option("pay")
        page.locator("#scatter").get_by_role("button", name="Show").click()
        expect(page.locator("#scatter svg")).to_have_attribute(
            "aria-label", re.compile("points by hours per week and pay")
        )
