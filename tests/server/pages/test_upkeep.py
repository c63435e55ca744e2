"""Projects get another title or go, jobs go, and nobody without the right does either."""

from __future__ import annotations

import html
import re
import shutil
import time

import pytest
from starlette.testclient import TestClient

from macex.server import Settings, create_app
from macex.server.pages.job import LISTED, left, span
from macex.server.projects.parts import read_description
from macex.server.recent import Recent


@pytest.fixture
def client(loan_project, tmp_path):
    shutil.copytree(loan_project, tmp_path / "projects" / "loans")
    settings = Settings(state=tmp_path)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


def test_a_project_gets_another_title_and_keeps_its_address(client, tmp_path):
    assert "Rename or delete" in client.get("/").text
    answer = client.post("/projects/loans/rename", data={"title": "Credit 2026"})
    assert answer.status_code == 200
    assert "Credit 2026" in answer.text
    assert read_description(tmp_path / "projects" / "loans").title == "Credit 2026"
    assert "Credit 2026" in client.get("/projects/loans").text


def test_a_title_that_is_none_is_refused(client):
    assert client.post("/projects/loans/rename", data={"title": "  "}).status_code == 422
    assert client.post("/projects/adult/rename", data={"title": "Mine"}).status_code == 422


def test_a_project_goes_with_its_files_and_the_demo_stays(client, tmp_path):
    assert client.post("/projects/adult/remove").status_code == 422
    assert client.post("/projects/loans/remove").status_code == 200
    assert not (tmp_path / "projects" / "loans").exists()
    assert client.get("/projects/loans").status_code == 404


def test_a_job_says_what_it_was_asked_and_is_deleted_when_it_has_ended(client):
    sent = {"rows": "1,2,3", "want": "granted", "may.debt": "keep", "max": "2"}
    page = client.post("/projects/loans/cohort", data=sent)
    assert "/jobs/" in page.url.path, page.text
    identity = page.url.path.rpartition("/")[2]
    for _ in range(300):
        text = client.get(f"/projects/loans/jobs/{identity}").text
        if "<b>Done</b>" in text:
            break
        time.sleep(0.1)
    for said in ("granted", "fixed debt", "max_changes 2", "given ones", "Asked by", "3 of 3 rows"):
        assert said in text
    assert "&#39;granted" not in text
    assert client.post(f"/projects/adult/jobs/{identity}/remove").status_code == 404
    assert client.post(f"/projects/loans/jobs/{identity}/remove").status_code == 200
    assert client.get(f"/projects/loans/jobs/{identity}").status_code == 404


def test_older_jobs_are_on_further_pages(client):
    server = client.app.state.server
    made = [
        server.jobs.add("loans", "x", {}, {"places": [0]}, total=1, chunk=1, key="local").id
        for _ in range(LISTED + 2)
    ]
    pages = [client.get("/projects/loans/cohort?n=2").text]
    while found := re.search(r'href="([^"]*)">Older jobs', pages[-1]):
        assert "n=2" in found[1]
        pages.append(client.get(html.unescape(found[1])).text)
    listed = [re.findall(r"/jobs/([0-9a-f]+)\"", page) for page in pages]
    assert [len(page) for page in listed] == [LISTED, 2]
    assert {job for page in listed for job in page} == set(made)
    back = re.search(r'href="([^"]*)">Newer jobs', pages[1])
    assert re.findall(r"/jobs/([0-9a-f]+)\"", client.get(html.unescape(back[1])).text) == listed[0]
    assert client.get("/projects/loans/cohort?older=x").status_code == 200


@pytest.mark.parametrize("rows", ["x", "1,,2", "-1", "9999999", ",".join(["1"] * 1001)])
def test_rows_that_are_none_are_said(client, rows):
    text = client.get("/projects/loans/cohort", params={"rows": rows}).text
    assert "rows are" in text or "there is no row" in text


def test_the_time_left_is_told_once_there_is_a_pace():
    class Job:
        id, status, done, total = "x", "running", 10, 100

    paces = Recent(most=4)
    assert left(Job, paces) == ""
    paces = Recent(most=4)
    paces.get("x", lambda: (time.monotonic() - 10.0, 0))
    assert left(Job, paces) == "about 2 min left"
    assert (span(5), span(7200)) == ("6 s", "2.0 h")


def test_what_is_best_is_shown_as_it_is_asked(client):
    from macex.server.projects.project import PREFERENCES

    text = client.get("/projects/loans/rows/0").text
    assert f'data-usual="{PREFERENCES[0]}"' in text
    assert f'<option value="{PREFERENCES[0]}" selected>' in text
