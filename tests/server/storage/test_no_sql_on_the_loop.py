"""No request waits for the database on the event loop, where all others would wait with it."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import contextmanager

import httpx
import pytest
from sqlalchemy import event

from macex.server import Settings

P = "/api/v1/projects/loans"


@pytest.fixture(scope="module")
def served(loan_project, tmp_path_factory, start):
    state = tmp_path_factory.mktemp("loop")
    with start(Settings(state=state, project=loan_project, admin_key="boss", sync_rows=3)) as one:
        yield one


@contextmanager
def watched(engine):
    """The statements, and for those on an event loop where they come from."""
    said, wrong = [], []

    def look(_connection, _cursor, statement, *_):
        said.append(statement)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        wrong.append(statement + "".join(traceback.format_stack(limit=12)))

    event.listen(engine, "before_cursor_execute", look)
    try:
        yield said, wrong
    finally:
        event.remove(engine, "before_cursor_execute", look)


def everything(client):
    """One request of each kind that knows the database, and their statuses."""
    key = client.post("/api/v1/session", json={"key": "boss"})
    yield key.status_code
    yield client.get("/api/v1/session").status_code
    client.cookies.clear()
    client.headers["authorization"] = "Bearer boss"
    job = client.post(f"{P}/jobs", json={"places": [0, 1]})
    yield job.status_code
    path = f"/api/v1/jobs/{job.json()['id']}"
    yield client.get(f"{path}/events").status_code
    for read in (
        path,
        f"{path}/result",
        "/api/v1/jobs",
        f"{P}/views",
        "/api/v1/audit",
        f"{P}/rows",
    ):
        yield client.get(read).status_code
    yield client.delete(path).status_code
    yield client.post(f"{P}/explain", json={"places": [0, 1, 2, 3]}).status_code
    for _ in range(2):
        once = {"Idempotency-Key": "once"}
        yield client.post(f"{P}/explain", json={"places": [0]}, headers=once).status_code
    yield client.post(f"{P}/predict", json={"rows": [{}]}).status_code
    yield client.post(f"{P}/views", json={"name": "a", "state": {}}).status_code
    pages = {"sec-fetch-mode": "navigate", "accept": "text/html"}
    for page in ("/", "/projects/loans", "/projects/loans/rows/0", "/projects/loans/cohort"):
        yield client.get(page, headers=pages).status_code
    yield client.get("/api/v1/health").status_code
    yield client.get("/api/v1/ready").status_code
    yield client.delete("/api/v1/session").status_code


def test_nothing_asks_the_database_on_the_event_loop(served):
    with (
        httpx.Client(base_url=served.url, timeout=120) as client,
        watched(served.server.engine) as (said, wrong),
    ):
        statuses = list(everything(client))
    assert max(statuses) <= 422, statuses
    assert statuses.count(422) == 1
    assert len(said) > 30
    assert not wrong, wrong[0]
