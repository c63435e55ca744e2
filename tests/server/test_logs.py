"""Log lines are JSON and hold no personal values unless asked."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from macex.server import Settings
from macex.server.logs import JsonLines

DEBT = 40.98765
"""With a point, so that no clock, count or identifier of a line can hold it by chance."""


def written(record_values, caplog):
    return [JsonLines(values=record_values).format(record) for record in caplog.records]


@pytest.mark.parametrize("values", [False, True])
def test_what_was_searched_and_asked_is_not_written_unless_asked(
    loan_project, tmp_path, start, caplog, values
):
    settings = Settings(state=tmp_path, project=loan_project, log_values=values)
    row = {"income": 61, "debt": DEBT, "age": 33, "job": "astronaut"}
    with caplog.at_level(logging.INFO, "macex"), start(settings) as served:
        httpx.get(
            f"{served.url}/api/v1/projects/loans/rows", params={"search": "astronaut"}, timeout=60
        )
        httpx.post(f"{served.url}/api/v1/projects/loans/explain", json={"rows": [row]}, timeout=60)
    lines = [json.loads(line) for line in written(values, caplog)]
    requests = [line for line in lines if line["message"] == "request"]
    assert [line["status"] for line in requests] == [200, 200]
    text = json.dumps(lines)
    assert ("astronaut" in text) is values
    assert str(DEBT) not in text


@pytest.mark.parametrize("values", [False, True])
def test_a_failure_is_a_problem_and_its_message_stays_out_of_the_log(
    tmp_path, start, caplog, values
):
    with caplog.at_level(logging.INFO, "macex"), start(Settings(state=tmp_path)) as served:

        @served.app.get("/broken")
        def broken():
            raise RuntimeError(f"the cell {DEBT} is odd")

        said = httpx.get(f"{served.url}/broken")
    assert said.status_code == 500
    assert said.json()["status"] == 500
    assert "content-security-policy" in said.headers
    assert str(DEBT) not in said.text
    lines = written(values, caplog)
    assert any("RuntimeError" in line for line in lines)
    assert any(str(DEBT) in line for line in lines) is values
