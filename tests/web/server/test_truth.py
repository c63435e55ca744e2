"""What the page of a row says holds: while typing, after a lock, on the next row, and offline."""

from __future__ import annotations

from playwright.sync_api import expect

from web.server.conftest import visiting
from web.server.test_row import decided, refused, tile


def changed(page):
    return page.locator("#answers tbody th[scope=row]")


def lock(page, name):
    page.get_by_role("button", name=f"Keep {name} as it is").click()
    page.wait_for_url("**may.*=keep*")
    expect(page.locator("[aria-busy]")).to_have_count(0)


def test_the_panel_says_what_is_restricted_after_a_lock(visit, site):
    page = refused(visit, site)
    gist = page.locator("#gist")
    expect(gist).to_have_text("everything that the project allows")
    lock(page, "job")
    expect(gist).to_have_text("1 column restricted")
    page.locator("#constraints summary").first.click()
    page.get_by_label("Changes at most").fill("2")
    page.get_by_label("Changes at most").blur()
    expect(gist).to_have_text("1 column restricted, at most 2 changes")


def test_the_next_row_never_shows_what_breaks_a_lock(visit, site):
    page = refused(visit, site)
    lock(page, "hours per week")
    asked = []
    page.on("request", lambda one: asked.append(one.url) if "/rows/" in one.url else None)
    page.get_by_role("link", name="The row after").click()
    expect(page.locator("#answers .mx-table, #answers .mx-none").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    (once,) = asked  # and not again by the script
    assert "may.hours=keep" in once
    assert "hours per week" not in changed(page).all_inner_texts()


def test_a_row_of_the_list_is_not_shown_before_it_takes_up_the_lock(visit, site):
    page = refused(visit, site)
    lock(page, "hours per week")
    seen = []
    page.expose_function("seen", lambda url: seen.append(url))  # noqa: PLW0108 - it must be a function
    page.add_init_script("addEventListener('DOMContentLoaded', () => seen(location.href))")
    page.goto(f"{site}/projects/loans/rows/7", wait_until="commit")
    page.wait_for_url("**may.hours=keep*")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert seen
    assert all("may.hours=keep" in url for url in seen)


def test_the_score_follows_a_slider_that_is_still_held(visit, site):
    page = refused(visit, site)
    slider = page.get_by_label("hours per week, A, slider")
    slider.focus()  # which brings it out from under the scores
    slider.hover()  # when it stays where it is
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(60):  # never still for as long as typing would have to be
        page.mouse.move(box["x"] + (box["width"] - 4) * step / 59, box["y"] + box["height"] / 2)
        page.wait_for_timeout(30)
        if step > 20 and "1 change" in tile(page, 1).inner_text():
            break
    expect(tile(page, 1)).to_contain_text("1 change")
    page.mouse.up()


def test_no_field_is_filled_in_behind_the_scores(visit, site):
    page = refused(visit, site)
    page.set_viewport_size({"width": 1280, "height": 420})
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    for at in (6, 5, 4, 3, 2, 1):
        page.locator(f"#a-{at}").focus(timeout=5000)
        top = page.locator(f"#a-{at}").bounding_box()["y"]
        bar = page.locator("#verdicts").bounding_box()
        assert top >= bar["y"] + bar["height"] or top < bar["y"]


def test_undo_takes_back_the_edit_and_leaves_the_lock(visit, site):
    page = refused(visit, site)
    field = page.get_by_label("hours per week, A", exact=True)
    own = field.input_value()
    field.fill("69")
    expect(tile(page, 1)).to_contain_text("1 change")
    lock(page, "job")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_enabled()
    undo.click()
    expect(field).to_have_value(own)
    expect(undo).to_be_disabled()
    assert "may.job=keep" in page.url
    expect(page.get_by_role("button", name="Keep job as it is")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_no_old_score_is_shown_for_new_values_without_a_server(browser, site):
    with visiting(browser, site, expected=("ERR_", "Failed to fetch", "net::")) as page:
        refused(page, site)
        page.context.set_offline(True)
        page.get_by_label("hours per week, A", exact=True).fill("69")
        expect(page.locator("#verdicts")).to_contain_text("The server does not answer")
        expect(tile(page, 1).locator(".mx-says")).not_to_be_visible()
        page.context.set_offline(False)
        expect(decided(page, 1)).to_have_text("granted")
        expect(tile(page, 1).locator(".mx-says")).to_be_visible()


def test_nobody_on_the_page_is_told_of_python(visit, site):
    page = refused(visit, site)
    page.goto(page.url + "&may.hours=keep&may.pay=keep&may.job=keep")
    none = page.locator("#answers .mx-none")
    expect(none).to_contain_text("No answer")
    for word in ("explain(", "max_rows", "timeout_s", "diagnose"):
        expect(none).not_to_contain_text(word)


def test_a_project_that_is_not_loaded_says_so_in_plain_words(visit, site):
    visit.goto(site)
    expect(visit.locator(".mx-projects")).to_contain_text("Table")
    expect(visit.locator(".mx-projects")).not_to_contain_text("looked at")
