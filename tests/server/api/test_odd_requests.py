"""Requests that nobody in their right mind would send, and that must not do harm."""

from __future__ import annotations

import json

import httpx
import pytest
from sqlalchemy import text

from macex.server import Settings

VIEWS = "/projects/loans/views"
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "state",
    [
        '{"a": "\\ud800"}',
        '{"a": NaN}',
        '{"a": ' + "[" * 400 + "]" * 400 + "}",
        '{"a": "' + "x" * 60_000 + '"}',
    ],
)
def test_a_view_that_could_not_be_shown_again_is_not_kept(http, state):
    said = http.post(VIEWS, content=f'{{"name": "odd", "state": {state}}}', headers=JSON)
    assert said.status_code == 422
    assert http.get(VIEWS).status_code == 200


def test_a_view_has_a_name_that_every_database_keeps(http):
    assert http.post(VIEWS, json={"name": "a\0b", "state": {}}).status_code == 422


@pytest.mark.parametrize(
    "constraints",
    [
        {"max_changes": 10**400},
        {"min_support": 10**400},
        {"weights": {"income": 10**400}},
        {"ranges": {"income": [10**400, None]}},
        {"allowed": {"income": [10**400]}},
    ],
)
def test_numbers_without_end_are_refused(http, constraints):
    body = json.dumps({"constraints": constraints})
    said = http.post("/projects/loans/constraints", content=body, headers=JSON)
    assert said.status_code == 422


@pytest.mark.parametrize("job", ["\ud800", "\0", "x" * 100_000])
def test_a_cell_of_any_text_is_answered_or_refused(http, row, job):
    body = json.dumps({"rows": [{**row, "job": job}]})
    for path in ("predict", "explain", "jobs"):
        said = http.post(f"/projects/loans/{path}", content=body, headers=JSON)
        assert said.status_code in (200, 202, 422)


def test_a_database_that_fails_is_not_the_callers_fault(loan_project, tmp_path, start):
    with start(Settings(state=tmp_path, project=loan_project)) as served:
        with served.server.engine.begin() as connection:
            for table in ("macex_parts", "macex_jobs", "macex_keys"):
                connection.execute(text(f"DROP TABLE {table}"))
        for path in ("/api/v1/jobs", "/projects/loans/jobs/x"):
            said = httpx.get(served.url + path, timeout=60)
            assert (said.status_code, said.json()["code"]) == (503, "database")
            assert int(said.headers["retry-after"]) > 0
        assert httpx.get(f"{served.url}/api/v1/health").status_code == 200
