"""Jobs: finished, cancelled, refused, and their results in every form."""

from __future__ import annotations

import io
import json
import time
from contextlib import contextmanager

import httpx
import pandas as pd
import pytest
from sqlalchemy import text

from macex.server import Settings
from server.waiting import ended

JOBS = "/projects/loans/jobs"


@pytest.fixture(scope="module")
def finished(served):
    with httpx.Client(base_url=f"{served.url}/api/v1", timeout=60) as client:
        asked = {"filter": {"decision": "refused", "where": "income < 70"}, "n": 2}
        job = client.post(JOBS, json=asked).json()
        return ended(client, job["id"])


def result(http, job, form):
    said = http.get(f"/jobs/{job['id']}/result", params={"format": form})
    assert said.status_code == 200
    assert job["id"] in said.headers["content-disposition"]
    return said


def test_a_job_explains_what_the_filter_leaves(http, finished):
    listing = {"decision": "refused", "where": "income < 70", "size": 1000}
    rows = http.get("/projects/loans/rows", params=listing).json()
    assert finished["status"] == "done"
    assert finished["done"] == finished["total"] == rows["matching"] > 16
    assert sum(finished["statuses"].values()) == finished["total"]
    lines = [json.loads(line) for line in result(http, finished, "ndjson").text.splitlines()]
    assert [line["id"] for line in lines] == [one["place"] for one in rows["rows"]]


MORE = ("copies", "why")  # what canonical lines do not say


def test_the_lines_are_what_explain_answers(http, finished):
    lines = [json.loads(line) for line in result(http, finished, "ndjson").text.splitlines()]
    asked = {"places": [line["id"] for line in lines[:5]], "n": 2}
    said = http.post("/projects/loans/explain", json=asked).json()["explanations"]
    for line, one in zip(lines, said, strict=False):
        assert line["counterfactuals"] == [
            {part: value for part, value in found.items() if part not in MORE}
            for found in one["counterfactuals"]
        ]


def test_a_table_has_a_line_for_every_counterfactual(http, finished):
    lines = [json.loads(line) for line in result(http, finished, "ndjson").text.splitlines()]
    count = sum(max(1, len(line["counterfactuals"])) for line in lines)
    parquet = pd.read_parquet(io.BytesIO(result(http, finished, "parquet").content))
    csv = pd.read_csv(io.StringIO(result(http, finished, "csv").text))
    assert len(parquet) == len(csv) == count
    assert parquet["income"].dtype == "int64"
    assert parquet["id"].tolist() == csv["id"].tolist()
    assert parquet["cf.row"].max() == len(lines) - 1


def test_a_page_is_whole(http, finished):
    report = result(http, finished, "html").text
    assert report.rstrip().endswith("</html>")
    assert " 0 rows in 0 model calls" not in report  # what was not counted is not said


def test_given_rows_are_explained_in_their_order(http, row):
    rows = [{**row, "income": income} for income in range(30, 70)]
    wants = ["granted", None] * 20
    job = http.post(JOBS, json={"rows": rows, "want": wants}).json()
    job = ended(http, job["id"])
    lines = [json.loads(line) for line in result(http, job, "ndjson").text.splitlines()]
    assert [line["query"]["income"] for line in lines] == list(range(30, 70))
    assert [line["goal"]["labels"] for line in lines[:2]] == [["granted"], None]


def test_a_cancelled_job_keeps_what_is_finished_and_stops(http, served):
    with served.server.projects["loans"].lock:  # nothing is explained meanwhile
        job = http.post(JOBS, json={"filter": {}}).json()
        said = http.post(f"/jobs/{job['id']}/cancel").json()
        assert said["status"] == "cancelled"
    time.sleep(0.5)
    job = http.get(f"/jobs/{job['id']}").json()
    assert job["done"] <= 16
    text = result(http, job, "ndjson").text
    assert len(text.splitlines()) == job["done"]
    if not job["done"]:
        empty = http.get(f"/jobs/{job['id']}/result", params={"format": "parquet"})
        assert empty.status_code == 422


def test_a_result_must_be_finished_and_a_running_job_cannot_be_removed(http, served):
    with served.server.projects["loans"].lock:
        job = http.post(JOBS, json={"filter": {}}).json()
        assert http.get(f"/jobs/{job['id']}/result").status_code == 409
        assert http.delete(f"/jobs/{job['id']}").status_code == 409
        http.post(f"/jobs/{job['id']}/cancel")
    assert http.delete(f"/jobs/{job['id']}").status_code == 204
    assert http.get(f"/jobs/{job['id']}").status_code == 404


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "one of them"),
        ({"places": [1], "filter": {}}, "one of them"),
        ({"filter": {"where": "income < 0"}}, "0 rows"),
        ({"filter": {"decision": "maybe"}}, "never decides"),
        ({"places": [300]}, "no row 300"),
        ({"places": [1], "timeout_s": 1}, "timeout_s"),
        ({"places": [1], "want": "grantd"}, "granted"),
        ({"places": [1], "constraints": {"fixed": ["agee"]}}, "agee"),
        ({"rows": [{"income": "x", "debt": 1, "age": 1, "job": "none"}]}, "income"),
    ],
)
def test_a_wrong_job_is_refused_before_it_begins(http, asked, said):
    answer = http.post(JOBS, json=asked)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_spreadsheet_runs_nothing_of_a_result(http, row):
    job = http.post(JOBS, json={"rows": [{**row, "job": "=cmd()"}]}).json()
    text = result(http, ended(http, job["id"]), "csv").text
    assert ",=cmd()" not in text
    assert "'=cmd()" in text


@contextmanager
def talking(start, settings):
    """A server of one's own, and a client of it."""
    with start(settings) as one:
        client = httpx.Client(base_url=f"{one.url}/api/v1", timeout=60)
        yield one, client
        client.close()


def test_nobody_fills_the_queue(loan_project, tmp_path, start):
    settings = Settings(state=tmp_path, project=loan_project, jobs_at_once=2)
    with start(settings) as one:
        one.server.runner.stop()
        with httpx.Client(base_url=f"{one.url}/api/v1", timeout=60) as client:
            said = [client.post(JOBS, json={"places": [0]}).status_code for _ in range(3)]
            first = client.get("/jobs").json()["jobs"][-1]["id"]
            client.post(f"/jobs/{first}/cancel")
            again = client.post(JOBS, json={"places": [0]}).status_code
    assert (said, again) == ([202, 202, 429], 202)


def test_a_database_that_fails_for_a_while_costs_no_job(loan_project, tmp_path, start):
    with talking(start, Settings(state=tmp_path, project=loan_project)) as (one, client):
        client.get("/projects/loans")
        with one.server.engine.begin() as connection:
            connection.execute(text("ALTER TABLE macex_parts RENAME TO away"))
        job = client.post(JOBS, json={"places": [0, 1]})
        until = time.monotonic() + 30
        while not one.server.jobs.get(only_job(one)).fingerprint and time.monotonic() < until:
            time.sleep(0.02)
        with one.server.engine.begin() as connection:
            connection.execute(text("ALTER TABLE away RENAME TO macex_parts"))
        assert job.status_code == 503  # its answer counts parts, but the job is kept
        assert ended(client, only_job(one))["status"] == "done"


def only_job(one):
    """The one job that there is."""
    (job,) = one.server.jobs.all()
    return job.id


def test_a_project_takes_its_jobs_and_views_along(loan_files, tmp_path, start):
    files = {
        "model": (loan_files / "model.skops").read_bytes(),
        "data": (loan_files / "train.csv").read_bytes(),
    }
    with talking(start, Settings(state=tmp_path, job_chunk=8)) as (_, client):
        form = {"title": "Gone", "label": "outcome"}
        assert client.post("/projects", data=form, files=files).status_code == 201
        client.post("/projects/gone/views", json={"name": "v", "state": {}})
        job = client.post("/projects/gone/jobs", json={"filter": {}}).json()["id"]
        assert client.delete("/projects/gone").status_code == 204
        assert client.get(f"/jobs/{job}").status_code == 404
        assert client.post("/projects", data=form, files=files).status_code == 201
        assert client.get("/projects/gone/views").json()["views"] == []
        later = client.post("/projects/gone/jobs", json={"places": [0]}).json()["id"]
        assert ended(client, later)["status"] == "done"
        assert len(client.get("/jobs").json()["jobs"]) == 1
