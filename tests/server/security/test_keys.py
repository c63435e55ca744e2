"""Who may do what: keys, sessions, forged requests."""

from __future__ import annotations

import httpx
import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from macex.errors import OptionError
from macex.server import Settings, create_app
from macex.server.security.sessions import COOKIE, CSRF_HEADER, Sessions, kept_secret
from macex.server.storage.database import open_database
from macex.server.storage.keys import StoredSessions

ASK = "/api/v1/projects/loans/explain"


@pytest.fixture(scope="module")
def guarded(loan_project, tmp_path_factory, start):
    """A server that wants keys, and three of them."""
    settings = Settings(
        state=tmp_path_factory.mktemp("guarded"), project=loan_project, admin_key="root-key"
    )
    with start(settings) as served:
        made = {scope: served.server.keys.make(scope, (scope,)) for scope in ("read", "explain")}
        yield served, {**made, "admin": "root-key"}


@pytest.fixture
def browser(guarded):
    with httpx.Client(base_url=guarded[0].url, timeout=60) as client:
        yield client


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_without_a_key_only_health_is_told(browser):
    assert browser.get("/api/v1/health").status_code == 200
    for path in ("projects", "projects/loans", "projects/loans/rows", "jobs", "metrics", "audit"):
        said = browser.get(f"/api/v1/{path}")
        assert said.status_code == 401
        assert said.headers["www-authenticate"] == "Bearer"
        assert "Loans" not in said.text


@pytest.mark.parametrize("path", ["projects/loens", "projects/loens/rows", "projects/loens/views"])
def test_a_stranger_learns_no_names_of_projects(browser, path):
    said = browser.get(f"/api/v1/{path}")
    assert said.status_code == 401
    assert "loans" not in said.text


def test_an_empty_key_is_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("MACEX_ADMIN_KEY", "")
    monkeypatch.setenv("MACEX_SECRET", "")
    assert Settings(state=tmp_path).admin_key is None
    assert Settings(state=tmp_path).secret is None
    with pytest.raises(ValidationError):
        Settings(state=tmp_path, admin_key="")
    with pytest.raises(OptionError, match="there is no key"):
        create_app(Settings(state=tmp_path, host="0.0.0.0"))  # noqa: S104


def test_another_key_of_the_admin_ends_the_sessions_of_the_former_one(tmp_path):
    former, later = (create_app(Settings(state=tmp_path, admin_key=key)) for key in ("one", "two"))
    with TestClient(former, base_url="http://localhost") as client:
        signed_in(client, "one")
        assert client.get("/api/v1/projects").status_code == 200
        cookies = dict(client.cookies)
    with TestClient(later, base_url="http://localhost", cookies=cookies) as client:
        assert client.get("/api/v1/projects").status_code == 401


@pytest.mark.parametrize("key", ["x", "mx_0123456789ab_secret", "root-kex", "root-key2", "mx__"])
def test_a_wrong_key_is_no_key(browser, key):
    assert browser.get("/api/v1/projects", headers=bearer(key)).status_code == 401


@pytest.mark.parametrize(
    ("scope", "statuses"),
    [("read", (200, 403, 403)), ("explain", (200, 200, 403)), ("admin", (200, 200, 200))],
)
def test_a_scope_opens_its_doors_and_no_others(guarded, browser, scope, statuses):
    head = bearer(guarded[1][scope])
    asked = (
        browser.get("/api/v1/projects/loans/rows", headers=head),
        browser.post(ASK, json={"places": [0]}, headers=head),
        browser.get("/api/v1/audit", headers=head),
    )
    assert tuple(said.status_code for said in asked) == statuses


def signed_in(browser, key):
    said = browser.post("/api/v1/session", json={"key": key})
    assert said.status_code == 201
    return said.json()["csrf"]


def test_a_session_reads_by_its_cookie_and_changes_by_its_token(guarded, browser):
    token = signed_in(browser, guarded[1]["explain"])
    assert browser.get("/api/v1/projects").status_code == 200
    assert browser.post(ASK, json={"places": [0]}).status_code == 403
    payload, signature = token.rsplit(".", 1)  # the last letter has bits that say nothing
    forged = {CSRF_HEADER: f"{payload}.{signature[::-1]}"}
    assert browser.post(ASK, json={"places": [0]}, headers=forged).status_code == 403
    assert browser.post(ASK, json={"places": [0]}, headers={CSRF_HEADER: token}).status_code == 200


def test_the_cookie_cannot_be_read_by_scripts_nor_sent_by_other_sites(guarded, browser):
    said = browser.post("/api/v1/session", json={"key": guarded[1]["read"]})
    cookie = said.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert guarded[1]["read"].lower() not in cookie


def test_a_changed_cookie_is_worth_nothing(guarded, browser):
    signed_in(browser, guarded[1]["read"])
    cookie = browser.cookies[COOKIE]
    browser.cookies.clear()
    for other in (cookie[:-1], "admin" + cookie[cookie.index(".") :], "a.b.c.d", "é", ""):
        said = browser.get("/api/v1/projects", headers={"Cookie": f"{COOKIE}={other}".encode()})
        assert said.status_code == 401


def test_signing_out_ends_the_session(guarded, browser):
    token = signed_in(browser, guarded[1]["read"])
    assert browser.delete("/api/v1/session").status_code == 403
    assert browser.delete("/api/v1/session", headers={CSRF_HEADER: token}).status_code == 204
    assert browser.get("/api/v1/projects").status_code == 401


def test_a_session_ends_with_its_key(guarded, browser):
    served, _ = guarded
    signed_in(browser, served.server.keys.make("leaving", ("read",)))
    served.server.keys.revoke("leaving")
    assert browser.get("/api/v1/projects").status_code == 401


def test_an_old_cookie_is_worth_nothing(tmp_path):
    stored = StoredSessions(open_database(f"sqlite:///{tmp_path / 'server.db'}"))
    sessions = Sessions(b"secret", 100, stored)
    assert sessions.key_id(sessions.begin("k")) == "k"
    assert sessions.key_id(Sessions(b"secret", -5, stored).begin("k")) is None
    assert sessions.key_id(Sessions(b"other", 100, stored).begin("k")) is None


def test_signing_out_ends_the_session_for_whoever_has_the_cookie(guarded, browser):
    token = signed_in(browser, guarded[1]["read"])
    stolen = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
    assert browser.get("/api/v1/projects", headers=stolen).status_code == 200
    assert browser.delete("/api/v1/session", headers={CSRF_HEADER: token}).status_code == 204
    browser.cookies.clear()
    assert browser.get("/api/v1/projects", headers=stolen).status_code == 401


def test_a_token_is_another_one_each_time_and_holds_for_its_session_alone(guarded, browser):
    first = signed_in(browser, guarded[1]["explain"])
    second = browser.get("/api/v1/session").json()["csrf"]
    assert first != second
    for token in (first, second):
        said = browser.post(ASK, json={"places": [0]}, headers={CSRF_HEADER: token})
        assert said.status_code == 200
    browser.cookies.clear()
    signed_in(browser, guarded[1]["explain"])
    said = browser.post(ASK, json={"places": [0]}, headers={CSRF_HEADER: first})
    assert said.status_code == 403


def test_the_secret_is_made_once_and_for_one_pair_of_eyes(tmp_path):
    assert kept_secret(tmp_path / "s") == kept_secret(tmp_path / "s")
    assert (tmp_path / "s" / "secret").stat().st_mode & 0o077 == 0


def test_a_server_for_everybody_without_a_key_is_refused(tmp_path):
    with pytest.raises(OptionError, match="macex key new"):
        create_app(Settings(state=tmp_path, host="0.0.0.0"))  # noqa: S104


def test_who_asks_too_often_is_told_to_wait(loan_project, tmp_path, start):
    settings = Settings(
        state=tmp_path,
        project=loan_project,
        admin_key="k",
        requests_per_second=0.001,
        requests_at_once=3,
    )
    with start(settings) as served, httpx.Client(base_url=served.url) as client:
        said = [client.get("/api/v1/projects", headers=bearer("k")) for _ in range(4)]
    assert [one.status_code for one in said] == [200, 200, 200, 429]
    assert int(said[-1].headers["retry-after"]) > 0
    assert [one.headers["ratelimit-remaining"] for one in said] == ["2", "1", "0", "0"]
    assert {one.headers["ratelimit-limit"] for one in said} == {"3"}
    assert int(said[-1].headers["ratelimit-reset"]) > 0


def test_who_tries_one_key_after_the_other_is_told_to_wait(tmp_path, start):
    settings = Settings(state=tmp_path, admin_key="right")
    with start(settings) as served, httpx.Client(base_url=served.url) as client:
        said = [client.post("/api/v1/session", json={"key": f"k{at}"}) for at in range(40)]
        assert [one.status_code for one in said][:30] == [401] * 30
        assert said[-1].status_code == 429
        assert client.get("/api/v1/projects", headers=bearer("right")).status_code == 200
