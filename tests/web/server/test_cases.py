"""Time series in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from server.pages.series_project import write_series
from web.looking import FAINT, OVERFLOW, looks, photographed
from web.server.accessible import faults
from web.server.conftest import served, visiting

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def motors(tmp_path_factory):
    from macex.server import Settings

    folder = tmp_path_factory.mktemp("series") / "motors"
    write_series(folder)
    with served(Settings(state=tmp_path_factory.mktemp("state"), project=folder)) as url:
        yield url


def test_a_case_is_picked_drawn_and_asked_again(browser, motors, tmp_path):
    with visiting(browser, motors) as page:
        page.goto(f"{motors}/projects/motors", timeout=60_000)
        page.get_by_label("Decision").select_option("worn")
        page.wait_for_url("**decision=worn*")
        page.get_by_role("link", name="score of worn").click()
        page.wait_for_url("**sort=cf.score*")
        page.locator("#rows tbody th a").first.click()
        expect(page.locator("#answers .mx-then").first).to_contain_text("then well")
        assert page.locator("#answers .mx-stretch").count() >= 1
        for look in looks(page):
            photographed(page, f"server-case-{look}", tmp_path)
            assert page.evaluate(OVERFLOW) <= 0
            assert page.evaluate(FAINT) == []
            assert faults(page) == {}
        page.get_by_label("bearing heat may").select_option("stays")
        expect(page.locator("#answers .mx-none")).to_contain_text("No answer. Every allowed")
        assert "may.heat=keep" in page.url


def test_values_directions_and_times_are_filled_in(browser, motors):
    with visiting(browser, motors) as page:
        page.goto(f"{motors}/projects/motors?decision=worn&sort=cf.score", timeout=60_000)
        page.locator("#rows tbody th a").first.click()
        expect(page.locator("#answers .mx-then").first).to_contain_text("then well")
        page.get_by_label("bearing heat may").select_option("only up")
        expect(page.locator("#answers .mx-none")).to_contain_text("increase 'heat'")
        page.get_by_label("bearing heat may").select_option("only down")
        expect(page.locator("#answers .mx-then").first).to_contain_text("then well")
        page.get_by_label("bearing heat from").fill("5")
        page.get_by_label("bearing heat from").blur()
        expect(page.locator("#answers .mx-none")).to_contain_text("No answer")
        page.get_by_label("bearing heat until time").fill("0.25")
        page.get_by_label("bearing heat until time").blur()
        expect(page.locator("#answers .mx-then").first).to_contain_text("then well")
        assert "low.heat=5" in page.url
        assert "until.heat=0.25" in page.url


def test_what_was_picked_before_the_script_came_is_not_lost(browser, motors):
    with visiting(browser, motors) as page:
        page.goto(f"{motors}/projects/motors", timeout=60_000)
        page.get_by_label("Decision").wait_for()
        held = []
        page.route("**/page.js", lambda route: held.append(route))  # noqa: PLW0108 - it must be a function
        page.goto(f"{motors}/projects/motors", wait_until="commit")
        page.get_by_label("Decision").select_option("worn")
        assert "decision" not in page.url
        held[0].continue_()
        page.wait_for_url("**decision=worn*")
