"""Pages of models and rows that are out of the ordinary are pages all the same."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("httpx")

from starlette.testclient import TestClient

from macex import Constraints
from macex.server import Settings, create_app
from macex.server.projects.parts import Parts
from macex.server.projects.project import Project
from server.pages.conftest import DATA, scored


def raising(rows):
    if (rows["hours"] > 150).any():
        raise ValueError("too many hours")
    return scored(rows)


def thirds(rows):
    share = np.clip(rows["hours"].to_numpy() / 220, 0, 1)
    return np.stack([1 - share, share * 0.7, share * 0.3], axis=1)


NASTY = pd.DataFrame(
    {
        "<b>&.x": [1.5, 2.5, np.nan, 4.0] * 5,
        "a=b": ["=1+1", "<script>alert(1)</script>", "", "x\ny"] * 5,
        "flag": [True, False] * 10,
        "ünï": pd.Categorical([1, 2] * 10),
    }
)
ONE_HOT = pd.DataFrame({"edu_A": [1, 0, 0, 1], "edu_B": [0, 1, 0, 0], "edu_C": [0, 0, 1, 0]})
WIDE = pd.DataFrame({f"column {at}": np.arange(30.0) + at for at in range(150)})
MANY = pd.DataFrame({"hours": np.arange(10_000), "name": [f"n{at}" for at in range(10_000)]})


def nasty(rows):
    return np.where(rows["flag"], 0.9, 0.1)


def both(rows):
    return 0.45 * (rows["hours"] > 100) + 0.45 * (rows["job"] == "nurse")


def close(rows):
    return np.where(rows["hours"] > 100, 0.6, 0.4983)


PROJECTS = {
    "both": Parts(both, DATA, DATA, classes=("no", "yes")),
    "score": Parts(lambda rows: rows["hours"] / 10, DATA, DATA),
    "many-classes": Parts(thirds, DATA, DATA, classes=("a", "b", "c")),
    "raising": Parts(raising, DATA.head(100), DATA.head(100), classes=("no", "yes")),
    "always": Parts(lambda rows: np.ones(len(rows)), DATA, DATA, classes=("no", "yes")),
    "close": Parts(close, DATA, DATA, classes=("no", "yes")),
    "one-row": Parts(scored, DATA, DATA.head(1), classes=("no", "yes")),
    "nasty": Parts(nasty, NASTY, NASTY, classes=("no", "<yes>")),
    "fixed": Parts(
        scored, DATA, DATA, classes=("no", "yes"), constraints=Constraints(only=["rate"])
    ),
    "one-hot": Parts(lambda rows: 0.8 * rows["edu_A"], ONE_HOT, ONE_HOT, classes=("no", "yes")),
    "wide": Parts(lambda rows: rows["column 0"] / 30, WIDE, WIDE, classes=("no", "yes")),
    "many-values": Parts(lambda rows: rows["hours"] / 1e4, MANY, MANY, classes=("no", "yes")),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    app = create_app(Settings(state=tmp_path_factory.mktemp("state"), audit=False))
    known = app.state.server.projects._projects
    for name, parts in PROJECTS.items():
        known[name] = Project(name, name.title(), lambda parts=parts: parts)
    with TestClient(app, base_url="http://localhost") as made:
        yield made


@pytest.mark.parametrize("name", PROJECTS)
@pytest.mark.parametrize(
    "path", ["", "?q=1&sort=-cf.score&page=999", "/rows/0", "/rows/0?n=1&two=1", "/cohort"]
)
def test_every_page_can_be_made(client, name, path):
    answer = client.get(f"/projects/{name}{path}")
    assert answer.status_code == 200
    assert "<h1" in answer.text


def test_a_score_is_shown_and_a_goal_is_asked_for(client):
    assert "ask for a score" in client.get("/projects/score/rows/10").text
    aimed = client.get("/projects/score/rows/10", params={"least": "12"}).text
    assert "If hours were 120 instead of 30" in aimed


@pytest.mark.parametrize("path", ["", "/rows/0"])
def test_a_score_that_is_just_too_low_is_not_shown_as_what_is_needed(client, path):
    text = client.get(f"/projects/close{path}").text
    assert "0.498" in text
    assert not re.search(r"\b0\.50\b", text)


def test_all_classes_of_many_are_named(client):
    text = client.get("/projects/many-classes/rows/180").text
    assert text.count('class="mx-share') == 6  # three of the row, three of the variant


def test_a_model_that_fails_on_a_value_is_quoted(client):
    text = client.get("/projects/raising/rows/3", params={"a.hours": "200"}).text
    assert "too many hours" in text


def test_a_model_that_never_decides_otherwise_is_said_to(client):
    assert "No answer" in client.get("/projects/always/rows/3", params={"want": "no"}).text


def test_what_data_says_is_text_and_nothing_else(client):
    for path in (
        "",
        "/rows/1",
        "/rows/1?q=%3Cscript%3E&a.a%3Db=%3Cscript%3E",
        "/cohort?where=%3Cb%3E",
    ):
        text = client.get(f"/projects/nasty{path}").text
        assert "<script>alert" not in text
        assert "<b>&.x" not in text
    assert html.escape("<script>alert(1)</script>") in text or "alert" not in text


def test_formulas_are_not_run_by_spreadsheets(client):
    text = client.get("/projects/nasty/rows.csv").text
    assert "'=1+1" in text


def test_a_page_beyond_the_last_is_empty_and_leads_back(client):
    text = client.get("/projects/one-row?page=7").text
    assert "Previous" in text or "No row" in text or "1 row" in text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/projects/none", 404),
        ("/projects/score/rows/99999", 422),
        ("/projects/score/rows/-1", 422),
        ("/projects/score/rows/x", 404),
        ("/projects/score/rows/0/answers.exe", 422),
        ("/projects/score/jobs/none", 404),
        ("/static/0/nothing.js", 404),
        ("/static/0/..%2f__init__.py", 404),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.status_code == 404 or "<h1" in answer.text


def test_parts_of_a_page_are_those_of_the_whole(client):
    whole = client.get("/projects/fixed/rows/3?a.rate=0.5").text
    parts = client.get("/projects/fixed/rows/3?a.rate=0.5", headers={"X-Macex-Parts": "verdicts"})
    assert parts.text.strip() in whole
    assert "x-macex-parts" in parts.headers["vary"].lower()


def test_files_of_the_present_edition_are_kept_for_ever(client):
    from macex.server.pages.shell import assets, version

    for name in assets():
        answer = client.get(f"/static/{version()}/{name}")
        assert "immutable" in answer.headers["cache-control"]
        assert client.get(f"/static/old/{name}").headers["cache-control"] == "no-cache"


def test_the_rows_before_and_after_follow_the_filter(client):
    text = client.get("/projects/many-classes/rows/5?decision=a&sort=-hours").text
    assert "/projects/many-classes/rows/6?" in text
    assert "/projects/many-classes/rows/4?" in text


def test_views_that_were_saved_over_http_are_listed_and_lead_nowhere_else(client):
    saved = [{"where": "hours > 40"}, {"address": "https://elsewhere.example/"}, {"x": [1]}]
    for number, state in enumerate(saved):
        body = {"name": f"View {number}", "state": state}
        assert client.post("/api/v1/projects/fixed/views", json=body).status_code == 201
    text = client.get("/projects/fixed").text
    assert '<a href="/projects/fixed?where=hours+%3E+40">View 0</a>' in text
    assert '<a href="/">View 1</a>' in text
    assert "elsewhere" not in text


def test_the_way_to_an_answer_of_two_changes_is_walked(client):
    text = client.get("/projects/both/rows/0?want=yes").text
    way = text[text.index("The way there") : text.index("</ol>")]
    assert way.count("<li>") == 2
    assert "0.45" in way
    assert "0.90" in way
    assert "The way there" not in client.get("/projects/both/rows/1?want=yes").text
