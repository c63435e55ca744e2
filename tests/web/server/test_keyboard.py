"""A whole walk without a mouse: from the projects to a report."""

from __future__ import annotations

from playwright.sync_api import expect

from web.server.test_row import tile

MOST = 80
POINTED = """
addEventListener("pointerdown", () => sessionStorage.setItem("pointed", "yes"), true);
"""


def reach(page, target, key="Tab"):
    """Press Tab until something has the focus."""
    for _ in range(MOST):
        page.keyboard.press(key)
        if target.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"Tab does not reach {target}")


def palette(page, text):
    """Do what the palette names."""
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-text")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def open_row(visit, site):
    """From the projects to one of the rows that are looked for."""
    visit.goto(site)
    visit.wait_for_load_state("networkidle")
    reach(visit, visit.get_by_role("link", name="Loans").first)
    visit.keyboard.press("Enter")
    expect(visit.locator("h1")).to_have_text("Loans")
    visit.wait_for_load_state("networkidle")
    palette(visit, "all rows")
    expect(visit.locator("#rows")).to_be_visible()
    visit.wait_for_load_state("networkidle")

    visit.keyboard.press("/")
    expect(visit.get_by_label("Search")).to_be_focused()
    visit.keyboard.type("cook")
    visit.wait_for_url("**q=cook*")
    expect(visit.locator("[aria-busy]")).to_have_count(0)
    visit.keyboard.press("Escape")
    expect(visit.get_by_label("Search")).not_to_be_focused()
    expect(visit.get_by_label("Search")).to_have_value("cook")
    links = visit.locator("#rows tbody th a")
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        visit.keyboard.press(key)
        expect(links.nth(at)).to_be_focused()
    name = links.nth(1).inner_text()
    visit.keyboard.press("Enter")

    expect(visit.locator("h1")).to_have_text(f"Row {name}")
    visit.wait_for_load_state("networkidle")


def test_a_project_is_walked_through_to_its_report_by_keys_alone(visit, site):
    visit.add_init_script(POINTED)
    open_row(visit, site)
    expect(visit.locator("#answers .mx-lead")).to_contain_text("would have decided")
    field = visit.get_by_label("hours per week, A", exact=True)
    own = field.input_value()
    slider = visit.get_by_label("hours per week, A, slider")
    reach(visit, slider)
    visit.keyboard.press("End")
    expect(tile(visit, 1)).to_contain_text("1 change")
    lock = visit.get_by_role("button", name="Keep job as it is")
    reach(visit, lock, "Shift+Tab")
    visit.keyboard.press("Space")
    expect(lock).to_have_attribute("aria-pressed", "true")
    expect(visit.locator("[aria-busy]")).to_have_count(0)
    assert "may.job=keep" in visit.url
    visit.keyboard.press("u")
    expect(field).to_have_value(own)
    expect(visit.locator("[aria-busy]")).to_have_count(0)
    assert "may.job=keep" in visit.url

    visit.keyboard.press("?")
    expect(visit.locator("#keys")).to_be_visible()
    expect(visit.locator("#keys dt")).to_have_count(6)
    visit.keyboard.press("Escape")
    expect(visit.locator("#keys")).to_be_hidden()

    with visit.expect_download() as saved:
        palette(visit, "report")
    report = saved.value.path().read_text(encoding="utf-8")
    assert report.startswith("<!DOCTYPE html>")
    assert "would have decided" in report
    assert visit.evaluate("sessionStorage.getItem('pointed')") is None
