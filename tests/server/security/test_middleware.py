"""Hosts, origins, headers, and bodies that are too long."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from macex.server import Settings

FILE = b'--x\r\nContent-Disposition: form-data; name="data"; filename="d"\r\n\r\n'


def raw(url, head, *pieces):
    """A request as bytes, sent as far as the server takes it; the first line of the answer."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=120) as connection:
        connection.sendall(head.replace(b"HOST", place.netloc.encode()))
        try:
            for piece in pieces:
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return connection.recv(4096).split(b"\r\n")[0]


def test_a_page_may_load_nothing_from_elsewhere(http):
    policy = http.get("/health").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_is_sniffed_framed_or_kept(http):
    headers = http.get("/projects").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "a b"])
def test_a_strange_host_is_refused(served, host):
    said = raw(served.url, f"GET /api/v1/projects HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert said.split()[1] in (b"421", b"400")


@pytest.mark.parametrize("path", ["/projects/loans/explain", "/projects/loans/jobs", "/inspect"])
def test_a_foreign_page_changes_nothing(http, path):
    said = http.post(path, json={}, headers={"Origin": "https://evil.example"})
    assert said.status_code == 403
    assert "evil.example" in said.json()["detail"]


@pytest.mark.parametrize("origin", ["http://[", "null", "https://"])
def test_an_origin_that_is_no_address_is_foreign(http, origin):
    said = http.post("/projects/loans/explain", json={}, headers={"Origin": origin})
    assert said.status_code == 403


def test_what_a_browser_calls_foreign_is_foreign(http):
    head = {"Sec-Fetch-Site": "cross-site"}
    assert http.post("/projects/loans/explain", json={}, headers=head).status_code == 403


@pytest.mark.parametrize("path", ["/jobs?project=%00", "/projects/loans/rows?search=a%00"])
def test_no_nul_reaches_a_database(http, path):
    assert http.get(path).status_code == 400


def test_the_own_page_may(http, served):
    origin = {"Origin": served.url}
    said = http.post("/projects/loans/explain", json={"places": [0]}, headers=origin)
    assert said.status_code == 200


@pytest.fixture(scope="module")
def narrow(loan_project, tmp_path_factory, start):
    """A server that takes little."""
    settings = Settings(
        state=tmp_path_factory.mktemp("narrow"),
        project=loan_project,
        body_bytes=2000,
        upload_bytes=5000,
    )
    with start(settings) as served:
        yield served


def test_a_body_that_says_it_is_too_long_is_refused(narrow):
    body = json.dumps({"places": [1] * 2000})
    said = httpx.post(f"{narrow.url}/api/v1/projects/loans/explain", content=body)
    assert said.status_code == 413
    assert said.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("media", ["application/json", "multipart/form-data; boundary=x"])
def test_a_body_that_does_not_say_how_long_it_is_is_counted(narrow, media):
    def endless():
        yield b'{"places": [1' if media == "application/json" else FILE
        for _ in range(5000):
            yield b",1" * 50

    path = "explain" if media == "application/json" else "../inspect"
    said = httpx.post(
        f"{narrow.url}/api/v1/projects/loans/{path}".replace("/projects/loans/..", ""),
        content=endless(),
        headers={"content-type": media},
    )
    assert said.status_code == 413


def test_a_body_that_lies_about_its_length_is_cut_there(narrow):
    head = b"POST /api/v1/projects/loans/explain HTTP/1.1\r\nHost: HOST\r\nContent-Length: 15\r\n"
    head += b"Content-Type: application/json\r\nConnection: close\r\n\r\n"
    said = raw(narrow.url, head, b'{"places": [0]}', b"X" * 100_000)
    assert said.split()[1] == b"200"


def test_within_the_bounds_all_is_well(narrow):
    said = httpx.post(
        f"{narrow.url}/api/v1/projects/loans/explain", json={"places": [0]}, timeout=120
    )
    assert said.status_code == 200


def test_only_uploads_may_be_as_long_as_uploads(narrow):
    files = {"data": b"x" * 3000}
    taken = httpx.post(f"{narrow.url}/api/v1/inspect", files=files, timeout=120)
    assert taken.status_code == 422
    for path in ("api/v1/projects/loans/explain", "login", "projects/loans/cohort"):
        assert httpx.post(f"{narrow.url}/{path}", files=files, timeout=120).status_code == 413


def test_a_form_of_fields_is_short(served):
    fields = b"a=&" * 400_000
    media = {"content-type": "application/x-www-form-urlencoded"}
    said = httpx.post(f"{served.url}/login", content=fields, headers=media)
    assert said.status_code == 413


def test_a_stranger_sends_no_more_than_a_key(tmp_path, start):
    settings = Settings(state=tmp_path, admin_key="right")
    with start(settings) as served, httpx.Client(base_url=served.url, timeout=120) as client:
        files = {"data": ("t.csv", b"a,b\n" + b"1,2\n" * 10_000)}
        assert client.post("/api/v1/inspect", files=files).status_code == 413
        assert client.post("/api/v1/session", json={"key": "x" * 20_000}).status_code == 413
        known = {"Authorization": "Bearer right"}
        assert client.post("/api/v1/inspect", files=files, headers=known).status_code == 200
