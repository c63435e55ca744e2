"""A project from files that are chosen on the page."""

from __future__ import annotations

import pickle

import pytest
from playwright.sync_api import expect

from web.server.conftest import granted, people, visiting

pytestmark = pytest.mark.slow


@pytest.fixture
def training(tmp_path):
    rows = people(500, 3)
    path = tmp_path / "train.csv"
    rows.assign(answer=granted(rows)).to_csv(path, index=False)
    return path


def filled(page, site, project_folder, training):
    page.goto(f"{site}/new")
    page.get_by_label("Title").fill("From the page")
    page.get_by_label("Label column").fill("answer")
    page.get_by_label("Model").set_input_files(project_folder / "model.skops")
    page.get_by_label("Training rows").set_input_files(training)
    return page


def test_files_become_a_project_with_corrected_columns(visit, site, project_folder, training):
    page = filled(visit, site, project_folder, training)
    expect(page.locator("#columns")).to_contain_text("500 rows", timeout=60_000)
    expect(page.get_by_label("hours is")).to_have_value("continuous")
    page.get_by_label("since is").select_option("datetime")
    page.get_by_label("age is").select_option("ordered")
    page.get_by_role("button", name="Make the project").click(timeout=120_000)
    expect(page.locator("h1")).to_have_text("From the page", timeout=120_000)
    page.locator("#rows tbody th a").first.click()
    expect(page.locator("select[name='a.age'], input[list][name='a.age']")).to_have_count(1)
    expect(page.locator("#answers .mx-lead, #answers .mx-none")).to_have_count(1)


def test_a_pickle_is_refused_and_what_was_filled_in_stays(
    browser, site, project_folder, training, tmp_path
):
    hostile = tmp_path / "model.skops"
    hostile.write_bytes(pickle.dumps({"a": 1}))
    with visiting(browser, site, expected=("422",)) as page:
        filled(page, site, project_folder, training)
        page.get_by_label("Model").set_input_files(hostile)
        page.get_by_role("button", name="Make the project").click(timeout=120_000)
        expect(page.get_by_role("alert")).to_contain_text("could not be made", timeout=60_000)
        expect(page.get_by_label("Title")).to_have_value("From the page")


def test_a_column_that_is_not_there_is_named(browser, site, project_folder, training):
    with visiting(browser, site, expected=("422",)) as page:
        filled(page, site, project_folder, training)
        page.get_by_label("Label column").fill("anser")
        page.get_by_label("Label column").blur()
        expect(page.locator("#columns")).to_contain_text("did you mean 'answer'", timeout=60_000)
