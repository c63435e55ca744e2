"""One key that asks for much: it gets what is its own, and the server stays there for others."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from macex.server import Settings
from macex.server.followers import STREAMS
from macex.server.projects.table import ScoredTable
from macex.server.state import PAGES_AT_ONCE
from macex.server.storage.jobs import Jobs
from macex.server.turns import AT_ONCE
from server.waiting import ended

P = "/api/v1/projects/loans"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def served(loan_project, tmp_path_factory, start):
    settings = Settings(
        state=tmp_path_factory.mktemp("flood"),
        project=loan_project,
        admin_key="boss",
        send_seconds=0.5,
        job_chunk=1,
    )
    with start(settings) as one:
        yield one


@pytest.fixture(scope="module")
def people(served):
    made = {name: served.server.keys.make(name, (name,)) for name in ("read", "explain")}
    clients = {
        name: httpx.Client(
            base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=120
        )
        for name, key in {**made, "boss": "boss"}.items()
    }
    clients["explain"].get(P)
    yield clients
    for client in clients.values():
        client.close()


@pytest.fixture
def running(people):
    """A job that runs for a while."""
    job = people["explain"].post(f"{P}/jobs", json={"places": [0] * 20_000}).json()
    yield f"/api/v1/jobs/{job['id']}"
    people["explain"].post(f"/api/v1/jobs/{job['id']}/cancel")


def test_a_key_follows_so_many_jobs_and_others_still_can(people, running):
    path = f"{running}/events"
    with ExitStack() as held:
        for _ in range(STREAMS):
            stream = held.enter_context(people["explain"].stream("GET", path))
            assert stream.status_code == 200
        refused = people["explain"].get(path)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
        with people["boss"].stream("GET", path) as stream:
            assert stream.status_code == 200
    until = time.monotonic() + 60
    while time.monotonic() < until:  # the server learns of those who left
        with people["explain"].stream("GET", path) as stream:
            if stream.status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail("no seat was given back")


def test_a_head_of_what_goes_on_is_over_at_once(served, people, running):
    """The next request on the same connection is answered: nothing is being sent any more."""
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        for method, path in (("HEAD", f"{running}/events"), ("GET", "/api/v1/health")):
            head = f"{method} {path} HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer boss"
            connection.sendall(f"{head}\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_what_is_long_in_a_question_is_kept_but_not_told(people):
    wants = ["granted", "refused"] * 10
    asked = {"places": list(range(20)), "want": wants, "constraints": {"fixed": ["age"] * 5_000}}
    job = people["explain"].post(f"{P}/jobs", json=asked)
    assert len(job.content) < 2_000
    assert job.json()["question"]["left_out"] == ["want", "constraints"]
    path = f"/api/v1/jobs/{job.json()['id']}"
    ended(people["explain"], job.json()["id"])
    lines = people["explain"].get(f"{path}/result").text.splitlines()
    assert [json.loads(line)["goal"]["labels"] for line in lines] == [[want] for want in wants]
    changed = {
        change["column"]
        for line in lines
        for found in json.loads(line)["counterfactuals"]
        for change in found["changes"]
    }
    assert changed
    assert "age" not in changed
    page = people["explain"].get(f"/projects/loans/jobs/{job.json()['id']}?plan=1")
    assert "Its rows are asked different questions." in page.text


def test_a_short_question_is_told(people):
    asked = {"places": [0], "want": "granted", "constraints": {"fixed": ["age"]}}
    job = people["explain"].post(f"{P}/jobs", json=asked).json()
    assert job["question"]["left_out"] == []
    assert job["question"]["want"] == "granted"
    assert job["question"]["constraints"] == {"fixed": ["age"]}


def test_who_does_not_take_the_answer_is_not_waited_for(served, people):
    """Twenty megabytes are asked for and none is taken: the connection ends, unlike the server."""
    place = urlsplit(served.url)
    ask = f"GET /docs HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer boss\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((place.hostname, place.port))
        connection.sendall(ask.encode() * 200)
        ends = select.poll()
        ends.register(connection, 0)  # for its end alone
        assert ends.poll(60_000)
    assert people["boss"].get("/api/v1/health").status_code == 200


def test_a_key_that_may_not_upload_leaves_no_file(people):
    files = {"data": ("data", b"a,b\n" + b"1,2\n" * 500_000), "model": ("model", b"x")}
    for name, status in {"read": 413, "explain": 413, "boss": 422}.items():
        said = people[name].post("/api/v1/projects", files=files, data={"title": "a"})
        assert said.status_code == status


@pytest.mark.parametrize("again", [False, True])
def test_who_asks_too_often_is_told_before_a_body_is_read(loan_project, tmp_path, start, again):
    settings = Settings(
        state=tmp_path,
        project=loan_project,
        admin_key="boss",
        requests_at_once=3,
        requests_per_second=0.01,
    )
    headers = {"Authorization": "Bearer boss", **JSON}
    headers |= {"Idempotency-Key": "again"} if again else {}
    body = '{"name": "a", "state": {}}' if again else "no JSON"
    with start(settings) as served:
        statuses = [
            httpx.post(f"{served.url}{P}/views", content=body, headers=headers).status_code
            for _ in range(5)
        ]
    assert statuses == [201 if again else 422] * 3 + [429] * 2


def test_a_key_for_one_project_learns_no_title_of_another(loan_project, tmp_path, start):
    """Not even from the page that says that a project is being opened."""
    settings = Settings(state=tmp_path, project=loan_project, admin_key="boss")
    with start(settings) as served:
        key = served.server.keys.make("cars", ("explain",), ("cars",))
        assert not served.server.projects["loans"].opened
        headers = {"Authorization": f"Bearer {key}", "sec-fetch-mode": "navigate"}
        for path in ("/projects/loans", "/projects/loans/rows/0", "/projects/loans/cohort"):
            said = httpx.get(f"{served.url}{path}", headers=headers)
            assert said.status_code == 404
            assert "Loans" not in said.text
        assert not served.server.projects["loans"].opened


@pytest.fixture
def crowd(monkeypatch):
    """How many threads are at most at the rows of a table, or at a list of jobs, at once."""
    lock, now, most = threading.Lock(), 0, []

    def slowly(work):
        def counted(*given, **named):
            nonlocal now
            with lock:
                now += 1
                most.append(now)
            time.sleep(0.02)
            with lock:
                now -= 1
            return work(*given, **named)

        return counted

    monkeypatch.setattr(ScoredTable, "places", slowly(ScoredTable.places))
    monkeypatch.setattr(Jobs, "all", slowly(Jobs.all))
    return most


@pytest.mark.parametrize(
    ("path", "bound"),
    [
        (f"{P}/rows?where=age>{{}}", AT_ONCE),
        ("/projects/loans?where=age>{}", PAGES_AT_ONCE),
        ("/projects/loans/rows.csv?where=age>{}", PAGES_AT_ONCE),
        ("/api/v1/jobs?start={}", AT_ONCE),
    ],
)
def test_many_who_look_at_once_take_few_threads(people, crowd, path, bound):
    """Each of a hundred threads that compute would be served before the event loop is."""
    with ThreadPoolExecutor(20) as pool:
        said = list(pool.map(people["read"].get, [path.format(at) for at in range(20)]))
    assert {one.status_code for one in said} == {200}
    assert 1 <= max(crowd) <= bound
