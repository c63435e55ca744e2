"""What if that shows: curves under a control, a map, rows side by side, switches, keys."""

from __future__ import annotations

import re
import time

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from sklearn.linear_model import LogisticRegression

from web.server.conftest import httpx, served, skops, visiting
from web.server.test_row import decided, refused, tile


def dot_of(page):
    """Where the value of this row lies on the curve."""
    return float(page.locator("#curve circle.mx-mark-after").get_attribute("cx"))


def test_the_curve_opens_under_its_control_and_its_dot_follows_the_slider(visit, site):
    page = refused(visit, site)
    page.get_by_role("link", name="Score over hours per week").click()
    chart = page.locator("#curve svg")
    expect(chart).to_have_attribute("aria-label", re.compile("average of 40 training rows.*0.5"))
    assert page.locator("#curve .mx-bound").count() == 1  # the threshold
    before = dot_of(page)
    slider = page.get_by_label("hours per week, A, slider")
    slider.press("End")
    expect(decided(page, 1)).to_have_text("granted")
    expect(page.locator("[aria-busy]")).to_have_count(0)
    assert dot_of(page) > before + 100
    assert "curve=hours" in page.url
    page.get_by_role("link", name="Score over hours per week").click()
    expect(chart).to_have_count(0)


def test_each_question_of_a_drag_is_one_request_at_a_time(visit, site, record_property):
    page = refused(visit, site)
    slider = page.get_by_label("hours per week, A, slider")
    slider.focus()
    open_, most, took = {}, [0], []

    def begun(request):
        if "/rows/" in request.url:
            open_[request] = time.monotonic()
            most[0] = max(most[0], len(open_))

    def ended(request):
        if "/rows/" in request.url:
            took.append(1000 * (time.monotonic() - open_.pop(request)))

    page.on("request", begun)
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    for _ in range(25):
        slider.press("ArrowRight")
    expect(tile(page, 1)).to_contain_text("1 change")
    expect(page.locator("[aria-busy]")).to_have_count(0)
    assert most[0] == 1
    half, most_of_them = np.quantile(took, [0.5, 0.95])
    said = f"a step of a slider waits {half:.0f} ms for its score, 95 % of {len(took)} at most"
    record_property("measured", f"{said} {most_of_them:.0f} ms")


def test_a_map_has_the_row_its_answers_and_the_nearest_real_one(visit, site):
    page = refused(visit, site)
    page.get_by_text("Two columns as a map").click()
    page.get_by_label("Across").select_option("hours")
    expect(page.locator("#map")).to_contain_text("Choose both columns.")  # and it stays open
    page.get_by_label("Up").select_option("pay")
    chart = page.locator("#map svg")
    expect(chart).to_have_attribute("aria-label", re.compile("this row at .*nearest real row at"))
    assert page.locator("#map .mx-dust").count() == 250
    assert "mapx=hours" in page.url


def test_the_row_stands_beside_its_answers_and_real_rows(visit, site):
    page = refused(visit, site)
    page.get_by_role("link", name="The row beside its answers").click()
    heads = page.locator("#compare thead th")
    expect(heads.first).to_have_text("column")
    said = heads.all_inner_texts()
    assert said[1:3] == ["this row", "answer 1"]
    assert said[-2:] == ["nearest real row", "average"]
    assert page.locator("#compare mark").count() >= 1


def test_a_phone_gets_drawings_of_its_own_width(browser, site):
    said = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148 Safari/604.1"
    with visiting(browser, site, user_agent=said) as page:
        page.set_viewport_size({"width": 380, "height": 800})
        page.goto(f"{site}/projects/loans/rows/0?curve=hours&mapx=hours&mapy=pay")
        for part in ("#curve", "#map", "#answers"):
            drawn = page.locator(f"{part} svg.mx-chart").first
            expect(drawn).to_have_attribute("width", "340")
            shrunk = drawn.evaluate("svg => svg.getBoundingClientRect().width / 340")
            assert shrunk > 0.9


def test_what_was_undone_is_done_again(visit, site):
    page = refused(visit, site)
    page.get_by_label("hours per week, A", exact=True).fill("69")
    expect(decided(page, 1)).to_have_text("granted")
    expect(page.locator("[aria-busy]")).to_have_count(0)
    page.locator("h1").click()
    page.keyboard.press("u")
    expect(decided(page, 1)).to_have_text("refused")
    page.keyboard.press("r")
    expect(decided(page, 1)).to_have_text("granted")
    expect(page.get_by_label("hours per week, A", exact=True)).to_have_value("69")
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()


def test_a_lock_is_shown_before_the_server_answers(visit, site):
    page = refused(visit, site)
    held = []
    page.route("**/rows/**", lambda route: held.append(route))  # noqa: PLW0108 - it must be a function
    lock = page.get_by_role("button", name="Keep job as it is")
    lock.click()
    expect(lock).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#answers")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#answers")).to_have_attribute("aria-busy", "true")
    assert held
    held[0].continue_()
    expect(page.locator("#answers")).not_to_have_attribute("aria-busy", "true")


def test_rows_are_walked_through_and_the_palette_goes_anywhere_by_keys(visit, site):
    visit.goto(f"{site}/projects/loans")
    visit.wait_for_load_state("networkidle")
    visit.keyboard.press("j")
    visit.keyboard.press("j")
    expect(visit.locator("#rows tbody th a").nth(1)).to_be_focused()
    visit.keyboard.press("k")
    visit.keyboard.press("Enter")
    expect(visit.locator("h1")).to_have_text("Row 0")
    visit.wait_for_load_state("networkidle")
    visit.keyboard.press("j")
    expect(visit.locator("h1")).to_have_text("Row 1")
    visit.wait_for_load_state("networkidle")
    visit.keyboard.press("?")
    expect(visit.locator("#keys")).to_be_visible()
    visit.keyboard.press("Escape")
    visit.keyboard.press("Control+k")
    visit.locator("#palette-text").fill("hours")
    visit.keyboard.press("ArrowDown")
    visit.keyboard.press("ArrowDown")
    visit.keyboard.press("ArrowUp")
    visit.locator(
        "#palette li:not([hidden]) button", has_text=re.compile("^hours per week$")
    ).click()
    expect(visit.get_by_label("hours per week, A", exact=True)).to_be_focused()
    visit.keyboard.press("Tab")
    visit.keyboard.press("Control+k")
    visit.locator("#palette-text").fill("all rows")
    visit.keyboard.press("Enter")
    expect(visit.locator("h1")).to_have_text("Loans")
    visit.wait_for_load_state("networkidle")
    visit.keyboard.press("/")
    expect(visit.get_by_label("Search")).to_be_focused()


WIDE = 300


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A project of 300 columns, every tenth of them 0 or 1."""
    folder = tmp_path_factory.mktemp("wide") / "wide"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            f"c{at:03d}": rng.integers(0, 2, 300) if at % 10 == 0 else rng.normal(size=300).round(2)
            for at in range(WIDE)
        }
    )
    label = np.where(rows["c001"] + rows["c010"] > 0.5, "yes", "no")
    skops.dump(LogisticRegression(max_iter=200).fit(rows, label), folder / "model.skops")
    rows.to_parquet(folder / "train.parquet")
    told = 'title = "Wide"\nmodel = "model.skops"\ndata = "train.parquet"\n'
    (folder / "project.toml").write_text(told)
    return folder


@pytest.mark.slow
def test_three_hundred_columns_are_found_grouped_and_switched(browser, wide, tmp_path):
    from macex.server import Settings

    with served(Settings(state=tmp_path, project=wide)) as url:
        httpx.get(f"{url}/projects/wide", timeout=120)
        with visiting(browser, url) as page:
            page.goto(f"{url}/projects/wide/rows/3")
            groups = page.locator("#whatif .mx-group > summary")
            expect(groups).to_have_text([re.compile("Switches 30"), re.compile("Numbers 270")])
            page.locator("#whatif [data-finder]").fill("c010")
            shown = page.locator("#whatif tr[data-named]:visible")
            expect(shown).to_have_count(1)
            switch = page.get_by_role("radiogroup", name="c010, A")
            other = switch.locator("input:not(:checked)")
            value = other.get_attribute("value")
            switch.locator("label").filter(has=page.locator(f"input[value='{value}']")).click()
            expect(tile(page, 1)).to_contain_text("1 change")
            assert f"a.c010={value}" in page.url
            page.get_by_role("link", name="Reset").click()
            expect(tile(page, 1)).not_to_contain_text("1 change")
            expect(page.locator("#whatif [data-finder]")).to_have_value("c010")
            expect(shown).to_have_count(1)
