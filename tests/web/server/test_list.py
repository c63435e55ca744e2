"""The list of rows: filtered, searched, sorted and paged without leaving the page."""

from __future__ import annotations

from playwright.sync_api import expect


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
