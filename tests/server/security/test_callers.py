"""Who did what: jobs belong to their maker, keys to projects, and records name the caller."""

from __future__ import annotations

import html
import json
import logging
import re
import time
from hashlib import sha256

import httpx
import pytest

import macex as mx
from macex.server import Settings
from macex.server.storage.audit import records
from server.waiting import ended

ASK = "/api/v1/projects/loans/explain"
JOBS = "/api/v1/projects/loans/jobs"


@pytest.fixture(scope="module")
def office(loan_project, tmp_path_factory, start):
    """A server, and a client for everybody in the office."""
    state = tmp_path_factory.mktemp("office")
    settings = Settings(state=state, project=loan_project, admin_key="boss", sync_rows=20)
    with start(settings) as served:
        keys = served.server.keys
        people = {
            "alice": keys.make("alice", ("explain",)),
            "bob": keys.make("bob", ("explain",)),
            "reader": keys.make("reader", ("read",)),
            "cars": keys.make("cars", ("admin",), ("cars",)),
            "loans": keys.make("loans", ("explain",), ("loans",)),
            "boss": "boss",
        }
        clients = {
            name: httpx.Client(
                base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=120
            )
            for name, key in people.items()
        }
        yield served, clients, people
        for client in clients.values():
            client.close()


def test_a_job_is_its_makers_and_the_admins(office):
    _, people, _ = office
    job = people["alice"].post(JOBS, json={"places": [0, 1]}).json()
    assert job["owner"] == "alice"
    path = f"/api/v1/jobs/{job['id']}"
    ended(people["alice"], job["id"])
    for name, status in {"alice": 200, "boss": 200, "bob": 404, "reader": 404, "cars": 404}.items():
        assert people[name].get(path).status_code == status
        assert people[name].get(f"{path}/result").status_code == status
        listed = {one["id"] for one in people[name].get("/api/v1/jobs").json()["jobs"]}
        assert (job["id"] in listed) is (status == 200)
    assert people["bob"].post(f"{path}/cancel").status_code == 404
    assert people["bob"].delete(path).status_code == 404
    assert people["bob"].get(f"/projects/loans/jobs/{job['id']}").status_code == 404
    assert people["alice"].delete(path).status_code == 204


def test_a_key_for_some_projects_knows_no_others(office):
    _, people, _ = office
    assert people["cars"].get("/api/v1/projects").json()["projects"] == []
    for path in ("/api/v1/projects/loans", "/projects/loans", "/api/v1/projects/loans/rows"):
        assert people["cars"].get(path).status_code == 404
    assert people["cars"].post(ASK, json={"places": [0]}).status_code == 404
    assert people["cars"].get("/api/v1/audit").status_code == 403
    files = {"model": b"x", "data": b"x"}
    made = people["cars"].post("/api/v1/projects", data={"title": "x"}, files=files)
    assert made.status_code == 403
    assert people["loans"].post(ASK, json={"places": [0]}).status_code == 200


def test_records_name_the_caller_and_never_the_key(office):
    served, people, keys = office
    people["alice"].post(ASK, json={"places": [3], "constraints": {"fixed": ["job"]}})
    people["bob"].get("/projects/loans/rows/4")
    filtered = {"filter": {"where": "income < 25"}}
    job = people["bob"].post(JOBS, json=filtered).json()
    ended(people["bob"], job["id"])
    kept = list(records(served.server.engine, "loans"))
    ids = {key.name: key.id for key in served.server.keys.all()}
    by_alice = [one for one in kept if one.get("by", {}).get("key") == ids["alice"]]
    assert by_alice[-1]["by"]["name"] == "alice"
    assert by_alice[-1]["constraints"]["fixed"]
    assert by_alice[-1]["files"]["model"]["sha256"]
    assert by_alice[-1]["versions"]["macex"]
    asked = [one for one in kept if one["by"].get("job") == job["id"]]
    assert len(asked) == job["total"]
    assert {one["by"]["key"] for one in asked} == {ids["bob"]}
    assert asked[0]["by"]["filter"]["where"] == "income < 25"
    assert any(one["by"] == {"key": ids["bob"], "name": "bob"} for one in kept)
    text = json.dumps(kept)
    assert not any(key in text for key in keys.values() if key != "boss")


def test_jobs_and_reports_name_the_caller_the_model_and_the_question(office):
    served, people, keys = office
    ask = {"places": [0, 1], "want": "granted", "constraints": {"fixed": ["job"]}}
    job = ended(people["alice"], people["alice"].post(JOBS, json=ask).json()["id"])
    ids = {key.name: key.id for key in served.server.keys.all()}
    model = sha256(served.server.projects["loans"].parts.model_file.read_bytes()).hexdigest()
    assert (job["owner"], job["key"], job["model"]) == ("alice", ids["alice"], model)
    assert job["question"]["constraints"] == {"fixed": ["job"]}
    assert job["version"] == mx.__version__
    path = f"/api/v1/jobs/{job['id']}/result?format=html"
    row = "/projects/loans/rows/0/answers.html"
    for report in (people["alice"].get(path).text, people["alice"].get(row).text):
        assert f"alice (key {ids['alice']})" in report
        assert model in report
        assert keys["alice"] not in report
        assert f"<dd>{mx.__version__}<" in report
        assert re.search(r"Asked at</dt><dd>20\d\d-\d\d-\d\dT\d\d:\d\d", report)


def told(report, name):
    """What a report says under a name."""
    return html.unescape(re.search(f"<dt>{name}</dt><dd>(.*?)<", report)[1])


def test_a_report_of_a_job_says_what_was_asked_of_which_rows(office):
    _, people, _ = office
    ask = {"filter": {"where": "income < 25"}, "want": "granted", "constraints": {"max_changes": 2}}
    job = ended(people["alice"], people["alice"].post(JOBS, json=ask).json()["id"])
    report = people["alice"].get(f"/api/v1/jobs/{job['id']}/result?format=html").text
    assert told(report, "Chosen by") == "where income < 25"
    assert told(report, "Wanted") == "granted"
    assert told(report, "May change") == "fixed 'age'; max_changes 2"
    assert told(report, "macex") == mx.__version__


def test_requests_answered_together_keep_their_callers_apart(office):
    served, people, _ = office
    before = len(list(records(served.server.engine, "loans")))
    people["alice"].post(ASK, json={"places": [5, 6, 7]})
    people["bob"].post(ASK, json={"places": [8]})
    kept = list(records(served.server.engine, "loans"))[before:]
    assert [one["by"]["name"] for one in kept] == ["alice"] * 3 + ["bob"]


def _requests(caplog, count):
    """The log lines of requests, waited for: each is written after its answer was sent."""
    deadline = time.monotonic() + 30
    while True:
        lines = [vars(one) for one in caplog.records if one.message == "request"]
        if len(lines) >= count or time.monotonic() > deadline:
            return lines
        time.sleep(0.02)


def test_log_lines_name_the_caller(office, caplog):
    served, people, keys = office
    with caplog.at_level(logging.INFO, "macex"):
        people["alice"].get("/api/v1/projects")
        httpx.get(f"{served.url}/api/v1/projects")
        lines = _requests(caplog, 2)
    assert lines[-2]["caller"] == "alice"
    assert lines[-2]["key"] in keys["alice"]
    assert "caller" not in lines[-1]


def test_who_may_only_read_sees_pages_without_what_they_cannot_use(office):
    _, people, _ = office
    page = people["reader"].get("/projects/loans/rows/0")
    assert page.status_code == 200
    assert "The model decides" in page.text
    assert "What if" not in page.text
    listing = people["reader"].get("/projects/loans").text
    for word in ("Explain all", "Save this view", "Many rows"):
        assert word not in listing
        assert word in people["alice"].get("/projects/loans").text
    assert 'href="/new"' not in listing
