"""A server with keys: the page asks for one, and then knows its visitor."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from web.looking import FAINT, OVERFLOW, looks, photographed
from web.server.accessible import faults
from web.server.conftest import served, visiting

pytestmark = pytest.mark.slow

KEY = "a-long-secret-key"


@pytest.fixture(scope="module")
def locked(project_folder, tmp_path_factory):
    from macex.server import Settings

    settings = Settings(
        state=tmp_path_factory.mktemp("locked"), project=project_folder, admin_key=KEY
    )
    with served(settings) as url:
        yield url


def test_a_key_lets_in_and_leads_to_what_was_wanted(browser, locked, tmp_path):
    with visiting(browser, locked, expected=("401",)) as page:
        page.goto(f"{locked}/projects/loans/rows/3?n=2")
        expect(page.locator("h1")).to_have_text("Sign in")
        for look in looks(page):
            photographed(page, f"server-login-{look}", tmp_path)
            assert page.evaluate(OVERFLOW) <= 0
            assert page.evaluate(FAINT) == []
            assert faults(page) == {}
        page.get_by_label("Key", exact=True).fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not a key of this server")
        page.get_by_label("Key", exact=True).fill(KEY)
        page.get_by_role("button", name="Sign in").click(timeout=60_000)
        expect(page.locator("h1")).to_have_text("Row 3", timeout=60_000)
        assert page.url.endswith("/projects/loans/rows/3?n=2")


def test_a_visitor_changes_things_with_a_token_and_signs_out(browser, locked):
    with visiting(browser, locked) as page:
        page.goto(f"{locked}/login?next=//elsewhere.example/")
        page.get_by_label("Key", exact=True).fill(KEY)
        page.get_by_role("button", name="Sign in").click()
        assert page.url == f"{locked}/"
        page.goto(f"{locked}/projects/loans/cohort?where=age+%3E+77", timeout=60_000)
        page.get_by_role("button", name="Explain").click()
        expect(page.locator("#job")).to_contain_text("Done", timeout=60_000)
        page.get_by_role("button", name="Sign out").click()
        expect(page.locator("h1")).to_have_text("Sign in")
        page.goto(f"{locked}/projects/loans")
        expect(page.locator("h1")).to_have_text("Sign in")


def test_a_form_without_the_token_is_refused(browser, locked):
    with visiting(browser, locked, expected=("403",)) as page:
        page.goto(f"{locked}/login")
        page.get_by_label("Key", exact=True).fill(KEY)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{locked}/projects/loans/cohort", timeout=60_000)
        page.locator(".mx-work [name=csrf]").first.wait_for(state="attached")  # it may be loading
        page.evaluate("document.querySelector('.mx-work [name=csrf]').remove()")
        page.get_by_role("button", name="Explain").click()
        expect(page.locator("h1")).to_have_text("This is not allowed")
