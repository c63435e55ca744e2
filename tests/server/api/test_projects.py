"""Projects and rows over HTTP."""

from __future__ import annotations

import pytest

from macex.server.api import projects

ROWS = "/projects/loans/rows"


def test_the_projects_are_listed(http):
    listed = http.get("/projects").json()["projects"]
    assert [(one["name"], one["title"]) for one in listed] == [("loans", "Loans")]


def test_a_project_tells_its_columns_and_keeps_its_training_values(http):
    info = http.get("/projects/loans").json()
    income, _, _, job = info["columns"]
    assert (income["kind"], income["integer"], income["low"]) == ("continuous", True, 20)
    assert job["values"] == ["full-time", "none", "part-time"]
    assert info["constraints"] == {"fixed": ["age"]}
    assert sum(info["decisions"].values()) == info["rows"] == 300
    assert all(column["seen"] == [] for column in info["format"]["schema"]["columns"])


def test_pages_join_to_the_whole_table(http):
    sizes = [http.get(ROWS, params={"start": start, "size": 100}).json() for start in (0, 100, 200)]
    rows = [one["place"] for page in sizes for one in page["rows"]]
    assert rows == list(range(300))
    assert {(page["matching"], page["total"]) for page in sizes} == {(300, 300)}


def test_filters_narrow_together(http):
    asked = {"decision": "refused", "where": "income < 60", "search": "part-time", "size": 1000}
    page = http.get(ROWS, params=asked).json()
    assert 0 < page["matching"] == len(page["rows"]) < 300
    for one in page["rows"]:
        assert one["label"] == "refused"
        assert one["cells"]["income"] < 60
        assert one["cells"]["job"] == "part-time"


def test_values_are_searched_and_begin_as_asked_first(http):
    said = http.get("/projects/loans/values", params={"column": "job", "search": "T"}).json()
    assert said == {"values": ["full-time", "part-time"], "matching": 2}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/projects/nothing", 404),
        ("/projects/..%2F..%2Fetc", 404),
        ("/projects/%2e%2e/rows", 404),
        ("/projects/loans/rows/300", 404),
        (f"{ROWS}?sort=incom", 422),
        (f"{ROWS}?decision=maybe", 422),
        (f"{ROWS}?where=income%20%3C", 422),
        (f"{ROWS}?size=100000", 422),
        ("/projects/loans/values?column=nothing", 422),
    ],
)
def test_what_is_not_there_is_said(http, path, status):
    said = http.get(path)
    assert said.status_code == status
    assert said.json()["status"] == status


def test_a_page_of_a_wide_table_has_fewer_rows(http, monkeypatch):
    monkeypatch.setattr(projects, "CELLS", 40)  # of four columns
    page = http.get("/projects/loans/rows", params={"size": 100}).json()
    assert (len(page["rows"]), page["matching"]) == (10, 300)
