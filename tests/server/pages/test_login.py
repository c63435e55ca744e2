"""Pages of a server with keys: each scope sees what is its own, and nobody is led elsewhere."""

from __future__ import annotations

import pytest

pytest.importorskip("httpx")

from starlette.testclient import TestClient

from macex.server import Settings, create_app
from macex.server.pages.home import inside
from macex.server.projects.parts import Parts
from macex.server.projects.project import Project
from server.pages.conftest import DATA, scored

KEY = "the-key-of-the-admin"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    made = create_app(Settings(state=tmp_path_factory.mktemp("state"), admin_key=KEY, audit=False))
    parts = Parts(scored, DATA, DATA, classes=("no", "yes"))
    made.state.server.projects._projects["people"] = Project("people", "People", lambda: parts)
    return made


def signed_in(app, key):
    client = TestClient(app, base_url="http://localhost", follow_redirects=False)
    assert client.post("/login", data={"key": key, "next": "/"}).status_code == 303
    return client


@pytest.mark.parametrize(
    "path",
    ["/", "/projects/people?q=x", "/projects/people/rows/1", "/new", "/projects/people/cohort"],
)
def test_a_stranger_is_asked_for_a_key_and_led_back(app, path):
    client = TestClient(app, base_url="http://localhost", follow_redirects=False)
    answer = client.get(path)
    assert answer.status_code == 303
    wanted = answer.headers["location"]
    assert wanted.startswith("/login?next=%2F")
    assert client.get(wanted).status_code == 200


def test_a_wrong_key_is_refused_and_not_shown(app):
    client = TestClient(app, base_url="http://localhost")
    answer = client.post("/login", data={"key": "my-guess", "next": "/"})
    assert answer.status_code == 401
    assert "my-guess" not in answer.text


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (("read",), {"/projects/people", "/projects/people/rows/1"}),
        (("read", "explain"), {"/projects/people", "/projects/people/rows/1"}),
        (("read", "explain", "admin"), {"/projects/people", "/projects/people/rows/1", "/new"}),
    ],
)
def test_each_scope_sees_its_own(app, scopes, allowed):
    key = app.state.server.keys.make("-".join(scopes), scopes)
    client = signed_in(app, key)
    for path in ("/projects/people", "/projects/people/rows/1", "/new"):
        assert client.get(path).status_code == (200 if path in allowed else 403)


def test_what_changes_something_needs_the_token_of_the_session(app):
    client = signed_in(app, KEY)
    sent = {"name": "Mine", "state": "/projects/people"}
    assert client.post("/projects/people/views", data=sent).status_code == 403
    page = client.get("/projects/people").text
    token = page.split('name="csrf" value="')[1].split('"')[0]
    kept = client.post("/projects/people/views", data={**sent, "csrf": token})
    assert kept.status_code == 303
    assert "Mine" in client.get("/projects/people").text


def test_whoever_signs_out_is_a_stranger_again(app):
    client = signed_in(app, KEY)
    assert client.get("/").status_code == 200
    assert client.post("/logout").status_code == 403
    token = client.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/").status_code == 303


def test_a_wrong_address_is_answered_by_a_page_for_people_and_a_problem_for_programs(app):
    client = TestClient(app, base_url="http://localhost")
    page = client.get("/projcts/people", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "/projcts/people" in page.text
    for path, accept in (("/projcts", "*/*"), ("/api/v1/projcts", "text/html")):
        problem = client.get(path, headers={"Accept": accept})
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "said", ["max=" + "9" * 5000, "n=" + "9" * 5000, "q=" + "x" * 300, "where=" + "x" * 3000]
)
def test_what_is_too_long_is_said_on_the_page(app, said):
    client = TestClient(
        app, base_url="http://localhost", headers={"Authorization": f"Bearer {KEY}"}
    )
    media = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/projects/people/cohort", content=said, headers=media).status_code == 422
    assert client.get(f"/projects/people/rows/1?{said}").status_code == 200


def test_a_form_without_its_files_is_said_to_lack_them(app):
    client = TestClient(
        app, base_url="http://localhost", headers={"Authorization": f"Bearer {KEY}"}
    )
    answer = client.post("/new", data={"title": "x"})
    assert answer.status_code == 422
    assert "model is missing" in answer.text


def test_whoever_only_reads_does_not_make_the_model_plan(app):
    server = app.state.server
    question = {"options": {}, "want": None, "constraints": None}
    source = {"places": [0, 1]}
    key = server.keys.make("looks", ("read",))
    own = server.keys.find(key).id
    job = server.jobs.add("people", "x", question, source, total=2, chunk=2, key=own)
    client = signed_in(app, key)
    page = client.get(f"/projects/people/jobs/{job.id}", headers={"X-Macex-Parts": "plan"})
    assert "scope explain" in page.text


@pytest.mark.parametrize(
    "address", ["//e.example", "https://e.example", "/\\e.example", "javascript:x", "", "/a\r\nb"]
)
def test_nobody_is_led_elsewhere(address):
    assert inside(address) == "/"
