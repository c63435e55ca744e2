"""Many rows on the page: asked as a job that shows how far it is and can be cancelled."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from web.looking import FAINT, OVERFLOW, looks, photographed
from web.server.accessible import faults
from web.server.conftest import served, visiting

pytestmark = pytest.mark.slow


def test_a_filtered_set_is_explained_and_summed_up(visit, site, tmp_path):
    visit.goto(f"{site}/projects/loans?decision=refused&where=age+%3E+60")
    visit.get_by_role("link", name="Explain").click()
    expect(visit.locator(".mx-chosen")).to_contain_text("age > 60")
    visit.get_by_text("What may change").click()
    visit.get_by_label("job may").select_option("keep")
    visit.get_by_role("button", name="Explain").click()
    expect(visit.locator("#job")).to_contain_text("Done", timeout=60_000)
    expect(visit.locator("#plan")).to_contain_text("flip", timeout=60_000)
    assert visit.locator("#progress").evaluate("bar => bar.value === bar.max")
    changed = visit.locator(".mx-frequencies tbody th").all_inner_texts()
    assert "hours per week" in changed
    assert "job" not in changed
    for look in looks(visit):
        photographed(visit, f"server-job-{look}", tmp_path)
        assert visit.evaluate(OVERFLOW) <= 0
        assert visit.evaluate(FAINT) == []
        assert faults(visit) == {}


@pytest.mark.parametrize("kind", ["CSV", "JSON lines", "Parquet", "report"])
def test_the_answers_of_a_job_are_saved_as_files(visit, site, kind):
    visit.goto(f"{site}/projects/loans/cohort?where=age+%3E+77")
    visit.get_by_role("button", name="Explain").click()
    expect(visit.locator("#job")).to_contain_text("Done", timeout=60_000)
    with visit.expect_download() as saved:
        visit.locator(".mx-exports").get_by_role("link", name=kind).click()
    assert saved.value.path().stat().st_size > 100


def test_a_job_is_cancelled_and_keeps_what_it_has(browser, project_folder, tmp_path):
    from macex.server import Settings

    settings = Settings(state=tmp_path, project=project_folder, job_chunk=1)
    with served(settings) as site, visiting(browser, site) as visit:
        visit.goto(f"{site}/projects/loans/cohort", timeout=120_000)
        visit.get_by_role("button", name="Explain").click()
        expect(visit.locator("#job[data-running]")).to_contain_text("Running", timeout=60_000)
        visit.get_by_role("button", name="Cancel").click()
        expect(visit.locator("#job")).to_contain_text("Cancelled")
        assert visit.locator("#job[data-running]").count() == 0
        done = visit.locator("#progress").evaluate("bar => bar.value")
        assert done < 400
        visit.get_by_role("link", name="All jobs").click()
        expect(visit.locator(".mx-jobs")).to_contain_text("cancelled")


def test_a_job_that_cannot_be_asked_is_refused_with_what_was_filled_in(browser, site):
    with visiting(browser, site, expected=("422",)) as visit:
        visit.goto(f"{site}/projects/loans/cohort?rules=hours+%3C%3D&n=2")
        visit.get_by_role("button", name="Explain").click()
        expect(visit.get_by_role("alert")).to_contain_text("hours <=")
        expect(visit.get_by_label("Answers")).to_have_value("2")
