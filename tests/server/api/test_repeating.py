"""A request that is sent again is answered once; and what jobs tell while they run."""

from __future__ import annotations

import json
import threading

import httpx
import pytest

from macex.server import Settings

JOBS = "/projects/loans/jobs"


def sent(http, key, body, path=JOBS):
    return http.post(path, json=body, headers={"Idempotency-Key": key})


def test_the_same_request_makes_one_job(http):
    before = http.get("/jobs").json()["total"]
    first, again = (sent(http, "once", {"places": [0, 1]}) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert http.get("/jobs").json()["total"] == before + 1


def test_another_request_with_the_same_key_is_an_error(http):
    sent(http, "mixed", {"places": [0]})
    said = sent(http, "mixed", {"places": [1]})
    assert (said.status_code, said.json()["code"]) == (422, "idempotency_mismatch")


def test_what_failed_is_tried_again(http):
    for _ in range(2):
        said = sent(http, "wrong", {"places": [10**6]})
        assert said.status_code == 422
        assert said.json()["code"] == "schema"


def test_many_at_the_same_time_make_one_job(http):
    said = []

    def send():
        said.append(sent(http, "crowd", {"places": [0, 1, 2]}))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.status_code for one in said} <= {202, 409}
    assert len({one.json()["id"] for one in said if one.status_code == 202}) == 1


def test_a_key_is_one_of_its_callers_and_its_route(http):
    job = sent(http, "shared", {"places": [0]}).json()
    view = sent(http, "shared", {"name": "x", "state": {}}, "/projects/loans/views")
    assert view.status_code == 201
    assert view.json()["id"] != job["id"]


def test_a_key_has_some_length(http):
    assert sent(http, "k" * 300, {"places": [0]}).status_code == 422


@pytest.fixture(scope="module")
def uploads(tmp_path_factory, start):
    """A function that sends a form with a key to a server of its own."""
    with (
        start(Settings(state=tmp_path_factory.mktemp("uploads"))) as one,
        httpx.Client(base_url=f"{one.url}/api/v1", timeout=120) as client,
    ):
        yield lambda key, form, files: client.post(
            "/projects", data=form, files=files, headers={"Idempotency-Key": key}
        )


@pytest.fixture
def upload(loan_files):
    """A form that makes a project, and its files."""
    files = {
        "model": ("m", (loan_files / "model.skops").read_bytes()),
        "data": ("d", (loan_files / "train.csv").read_bytes()),
    }
    return {"title": "Once", "label": "outcome"}, files


def test_an_upload_that_is_sent_again_makes_one_project(uploads, upload):
    first, again = (uploads("upload", *upload) for _ in range(2))
    boundaries = {one.request.headers["content-type"] for one in (first, again)}
    assert len(boundaries) == 2
    assert (first.status_code, again.status_code) == (201, 201), again.text
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"


def test_another_file_of_the_same_length_is_another_upload(uploads, upload):
    form, files = upload
    assert uploads("lengths", *upload).status_code == 201
    name, data = files["data"]
    other = data.replace(b"20", b"21")
    assert other != data
    said = uploads("lengths", form, {**files, "data": (name, other)})
    assert (said.status_code, said.json()["code"]) == (422, "idempotency_mismatch")
    said = uploads("lengths", {**form, "title": "Twic"}, files)
    assert (said.status_code, said.json()["code"]) == (422, "idempotency_mismatch")


def events(http, identity):
    with http.stream("GET", f"/jobs/{identity}/events") as said:
        assert said.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in said.iter_lines() if line.startswith("data:")]
    return [json.loads(line.removeprefix("data:")) for line in lines]


def test_a_job_tells_of_its_end(http):
    job = http.post(JOBS, json={"filter": {"where": "income < 30"}}).json()
    told = events(http, job["id"])
    assert told[-1]["status"] == "done"
    assert told[-1]["done"] == job["total"]
    assert [one["done"] for one in told] == sorted(one["done"] for one in told)
    assert events(http, job["id"]) == told[-1:]


def test_there_are_no_events_of_nothing(http):
    assert http.get("/jobs/nothing/events").status_code == 404


@pytest.mark.parametrize("path", ["/projects", "/jobs", "/projects/loans/views"])
def test_every_list_is_read_page_by_page(http, path):
    for at in range(3):
        http.post(JOBS, json={"places": [at]})
        http.post("/projects/loans/views", json={"name": f"v{at}", "state": {}})
    name = path.rpartition("/")[2]
    whole = http.get(path).json()
    assert whole["total"] == len(whole[name])
    pages = [http.get(path, params={"start": at, "size": 1}).json() for at in range(whole["total"])]
    known = "name" if name == "projects" else "id"
    assert [page[name][0][known] for page in pages] == [one[known] for one in whole[name]]


def test_the_audit_is_read_whole_or_page_by_page(http):
    for at in range(3):
        assert http.post("/projects/loans/explain", json={"places": [at]}).status_code == 200
    whole = http.get("/audit").text.splitlines()
    paged, start = [], 0
    while page := http.get("/audit", params={"start": start, "size": 2}).text.splitlines():
        assert len(page) <= 2
        paged, start = paged + page, start + 2
    assert paged == whole
    last = json.loads(whole[-3])["time"]
    since = http.get("/audit", params={"since": last}).text.splitlines()
    assert since == [line for line in whole if json.loads(line)["time"] >= last]
    assert 3 <= len(since) <= len(whole)
    bare = last.removesuffix("+00:00").removesuffix("Z")
    assert http.get("/audit", params={"since": bare}).text.splitlines() == since
    assert http.get("/audit", params={"since": "2999-01-01"}).text == ""
    assert http.get("/audit", params={"since": "soon"}).status_code == 422


def test_a_file_of_rows_has_all_of_them(served, monkeypatch):
    from macex.server.pages import rows

    whole = httpx.get(f"{served.url}/projects/loans/rows.csv?sort=-income").text
    monkeypatch.setattr(rows, "WRITTEN", 7)
    assert httpx.get(f"{served.url}/projects/loans/rows.csv?sort=-income").text == whole
    assert len(whole.splitlines()) == 301
    none = httpx.get(f"{served.url}/projects/loans/rows.csv?where=income<0").text
    assert none.splitlines() == whole.splitlines()[:1]


def test_the_reference_is_a_page_that_needs_nothing_from_elsewhere(served):
    page = httpx.get(f"{served.url}/docs").text
    assert "/api/v1/projects/{name}/explain" in page
    assert "https://" not in page
    assert "cdn" not in page
