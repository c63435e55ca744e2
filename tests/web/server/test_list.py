"""The list of rows: filtered, searched, sorted and paged without leaving the page."""

from __future__ import annotations

import shutil
import time

import pytest
from playwright.sync_api import expect

from web.server.conftest import granted, httpx, people, served, visiting


def column(page, at):
    return page.locator(f"#rows tbody tr > :nth-child({at})").all_inner_texts()


def test_rows_are_filtered_searched_sorted_and_paged(visit, site):
    visit.goto(f"{site}/projects/loans")
    visit.get_by_label("Decision").select_option("granted")
    visit.wait_for_url("**decision=granted*")
    expect(visit.locator("#rows [role=status]")).not_to_contain_text("of 400 rows")
    assert set(column(visit, 2)) == {"granted"}
    visit.get_by_role("link", name="hours per week").click()
    visit.wait_for_url("**sort=hours*")
    expect(visit.locator("th[aria-sort=ascending]")).to_contain_text("hours per week")
    hours = [int(text) for text in column(visit, 5)]
    assert hours == sorted(hours)
    visit.get_by_role("link", name="Next ›").click()
    visit.wait_for_url("**page=2*")
    expect(visit.locator("#rows [role=status]")).to_contain_text("26–50")
    assert int(column(visit, 5)[0]) >= hours[-1]
    visit.get_by_label("Search").fill("nurse")
    expect(visit.locator("#rows [role=status]")).to_contain_text("1–")
    assert set(column(visit, 7)) == {"nurse"}
    visit.go_back()
    visit.wait_for_url(lambda url: "q=" not in url)


def test_rows_are_chosen_by_a_condition(visit, site):
    visit.goto(f"{site}/projects/loans")
    visit.get_by_label("Only rows where").fill("age >= 70 and hours <")
    expect(visit.locator("#rows .mx-fault")).to_be_visible()
    visit.get_by_label("Only rows where").fill("age >= 70 and hours < 20")
    expect(visit.locator("#rows .mx-fault")).to_have_count(0)
    assert all(int(age) >= 70 for age in column(visit, 4))
    assert all(int(hours) < 20 for hours in column(visit, 5))


def test_the_rows_are_saved_as_a_file(visit, site):
    visit.goto(f"{site}/projects/loans?decision=granted")
    with visit.expect_download() as saved:
        visit.get_by_role("link", name="CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0].startswith("cf.row,cf.label,cf.score,age")
    assert all(",granted," in line for line in lines[1:])


def test_a_row_is_picked_and_left_in_the_order_of_the_list(visit, site):
    visit.goto(f"{site}/projects/loans?decision=refused&sort=-hours")
    rows = column(visit, 1)
    visit.locator("#rows tbody th a").first.click()
    expect(visit.locator("h1")).to_have_text(f"Row {rows[0]}")
    visit.get_by_role("link", name="The row after").click()
    expect(visit.locator("h1")).to_have_text(f"Row {rows[1]}")
    visit.get_by_role("link", name="All rows").click()
    expect(visit.locator("#rows tbody tr")).to_have_count(len(rows))  # once the list is there
    assert column(visit, 1) == rows


def test_a_view_is_saved_found_again_and_forgotten(visit, site):
    visit.goto(f"{site}/projects/loans/rows/3")
    visit.get_by_label("hours per week, A", exact=True).fill("44")
    visit.wait_for_url("**a.hours=44*")
    visit.get_by_label("Save this view as").fill("Forty-four")
    visit.get_by_role("button", name="Save").click()
    visit.get_by_role("link", name="All rows").click()
    visit.get_by_role("link", name="Forty-four").click()
    assert "a.hours=44" in visit.url
    visit.goto(f"{site}/projects/loans")
    visit.get_by_role("button", name="Forget Forty-four").click()
    expect(visit.get_by_role("link", name="Forty-four")).to_have_count(0)


MANY = 500_000


@pytest.mark.slow
def test_half_a_million_rows_are_filtered_sorted_and_opened(
    browser, project_folder, tmp_path, record_property
):
    from macex.server import Settings

    folder = tmp_path / "loans"
    shutil.copytree(project_folder, folder)
    rows = people(MANY, 2)
    rows.assign(outcome=granted(rows)).to_parquet(folder / "rows.parquet")
    told = []

    def timed(what, act):
        begun = time.monotonic()
        act()
        told.append(f"{what} {time.monotonic() - begun:.1f} s")

    with served(Settings(state=tmp_path / "state", project=folder)) as url:
        first = f"{url}/projects/loans"
        timed("opened in", lambda: httpx.get(first, timeout=300).raise_for_status())
        with visiting(browser, url) as page:
            page.set_default_timeout(60_000)
            status = page.locator("#rows [role=status]")
            timed("listed in", lambda: page.goto(first))
            expect(status).to_contain_text("1–25 of 500,000")
            timed("sorted in", lambda: page.goto(f"{first}?sort=-cf.score&decision=granted"))
            assert set(column(page, 2)) == {"granted"}
            asked = f"{first}?where=age+%3E+60+and+hours+%3C+20&q=nurse"
            timed("filtered in", lambda: page.goto(asked))
            assert set(column(page, 7)) == {"nurse"}
            timed("a row in", lambda: page.goto(f"{first}/rows/499999"))
            expect(page.locator("#answers .mx-answer")).not_to_have_count(0)
            timed("at a glance in", lambda: page.goto(f"{first}/glance"))
            expect(page.locator("#scores svg").first).to_be_visible()
            expect(page.locator("main")).to_contain_text("500,000 rows")
    record_property("measured", f"of {MANY:,} rows: {', '.join(told)}")
