"""A server without keys is for whoever opens the address that it prints, and for nobody else."""

from __future__ import annotations

import httpx
import pytest

from macex.server import Settings


@pytest.fixture
def printed(loan_project, tmp_path, start):
    with start(Settings(state=tmp_path, project=loan_project, token=True)) as served:
        yield served


def enter(url, token):
    return httpx.get(f"{url}/login", params={"token": token})


def test_another_user_of_the_machine_sees_nothing(printed):
    assert httpx.get(f"{printed.url}/api/v1/projects").status_code == 401
    assert httpx.get(f"{printed.url}/").status_code == 303
    assert httpx.get(f"{printed.url}/api/v1/health").status_code == 200
    assert "macex serve" in httpx.get(f"{printed.url}/login").text


def test_the_address_serves_once(printed):
    token = printed.server.gate.token
    assert enter(printed.url, token[:-1] + "~").status_code == 401
    first = enter(printed.url, token)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert token not in first.headers["location"]
    cookies = dict(first.cookies)
    assert httpx.get(f"{printed.url}/api/v1/projects", cookies=cookies).status_code == 200
    again = enter(printed.url, token)
    assert again.status_code == 401
    assert "opened before" in again.text
    assert httpx.get(f"{printed.url}/api/v1/projects", cookies=cookies).status_code == 200


def test_nothing_is_a_token_once_it_was_used(printed):
    enter(printed.url, printed.server.gate.token)
    assert printed.server.gate.token == ""
    assert enter(printed.url, "").status_code == 401


def test_a_session_from_the_address_ends_by_signing_out(printed):
    with httpx.Client(base_url=printed.url, follow_redirects=True) as browser:
        browser.get("/login", params={"token": printed.server.gate.token})
        csrf = browser.get("/api/v1/session").json()["csrf"]
        assert csrf
        assert browser.post("/api/v1/projects/loans/whatif", json={}).status_code in (403, 422)
        assert browser.post("/logout", data={"csrf": csrf}).url.path == "/login"
        assert browser.get("/api/v1/projects").status_code == 401


def test_keys_take_the_place_of_the_token(printed):
    key = printed.server.keys.make("alice", ("read",))
    printed.server.gate._any = (0.0, False)  # as after a moment
    assert enter(printed.url, printed.server.gate.token).status_code == 401
    shown = {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{printed.url}/api/v1/projects", headers=shown).status_code == 200
