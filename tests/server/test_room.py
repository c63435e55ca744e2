"""Where the disk is nearly full nothing is taken in, and what needs no room goes on."""

from __future__ import annotations

import httpx
import pytest

from macex.server import Settings


@pytest.fixture(scope="module")
def client(loan_project, tmp_path_factory, start):
    settings = Settings(
        state=tmp_path_factory.mktemp("full"), project=loan_project, free_mb=10**12, sync_rows=2
    )
    with (
        start(settings) as served,
        httpx.Client(base_url=f"{served.url}/api/v1", timeout=120) as one,
    ):
        yield one


FILE = {"data": ("data", b"a,b\n1,2\n"), "model": ("model", b"x")}


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/projects/loans/jobs", {"json": {"places": [0]}}),
        ("/projects/loans/explain", {"json": {"places": [0, 1, 2]}}),
        ("/projects/loans/views", {"json": {"name": "a", "state": {}}}),
        ("/projects", {"files": FILE, "data": {"title": "a"}}),
        ("/inspect", {"files": {"data": FILE["data"]}}),
        (
            "/projects/loans/explain",
            {"json": {"places": [0]}, "headers": {"Idempotency-Key": "again"}},
        ),
    ],
)
def test_what_would_stay_is_refused(client, path, sent):
    said = client.post(path, **sent)
    assert (said.status_code, said.json()["code"]) == (507, "no_room")
    assert "remove projects or jobs" in said.json()["detail"]


def test_what_does_not_stay_is_answered(client):
    said = client.post("/projects/loans/explain", json={"places": [0]})
    assert said.json()["explanations"][0]["status"] == "found"
    assert client.get("/jobs").json()["jobs"] == []
    assert client.get("/projects/loans/views").json()["views"] == []
    assert len(client.get("/projects").json()["projects"]) == 1
