"""Log lines are JSON and hold no personal values unless asked."""

from __future__ import annotations

import json
import logging
import queue
import subprocess
import sys
import time
from hashlib import sha256

import httpx
import pytest

from macex.server import Settings
from macex.server.logs import JsonLines, Unhurried

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


def test_a_line_says_who_asked_what_of_which_model(loan_project, tmp_path, start, caplog):
    settings = Settings(state=tmp_path, project=loan_project, admin_key="boss")
    model = sha256((loan_project / "model.skops").read_bytes()).hexdigest()
    with caplog.at_level(logging.INFO, "macex"), start(settings) as served:
        key = served.server.keys.make("alice", ("explain",))
        head = {"Authorization": f"Bearer {key}"}
        ask = {"places": [0, 1], "n": 2, "want": "granted", "constraints": {"fixed": ["job"]}}
        url = f"{served.url}/api/v1/projects/loans"
        said = httpx.post(f"{url}/explain", json=ask, headers=head, timeout=120)
        job = httpx.post(f"{url}/jobs", json={"filter": {"where": "age < 20"}}, headers=head)
        path = f"{served.url}/api/v1/jobs/{job.json()['id']}"
        while httpx.get(path, headers=head).json()["status"] in ("queued", "running"):
            time.sleep(0.05)
        identity = served.server.keys.all()[0].id
    lines = [json.loads(line) for line in written(False, caplog)]
    (line,) = [one for one in lines if one.get("request_id") == said.headers["x-request-id"]]
    assert (line["key"], line["caller"]) == (identity, "alice")
    assert (line["project"], line["model"]) == ("loans", model)
    assert line["question"] == {
        "n": 2,
        "margin": 1e-6,
        "method": "exhaustive",
        "prefer": "balanced",
        "goal": "label",
        "constraints": ["fixed"],
    }
    assert line["rows"] == 2
    assert line["duration_ms"] > 0
    (done,) = [one for one in lines if one["message"] == "job"]
    assert (done["status"], done["model"]) == ("done", model)
    assert done["question"]["filter"] == ["where"]
    text = json.dumps(lines)
    assert key not in text
    assert "age < 20" not in text


def test_whoever_logs_does_not_wait_for_the_line_to_be_written():
    """A pipe that nobody reads from fills up, and then a write to it does not end."""
    waiting = queue.Queue(1)
    handler = Unhurried(waiting)
    handler.setFormatter(JsonLines())
    for turn in range(3):
        handler.handle(logging.makeLogRecord({"levelname": "INFO", "msg": f"line {turn}"}))
    assert json.loads(waiting.get_nowait().getMessage())["message"] == "line 0"


def test_lines_are_written_when_the_server_ends(tmp_path):
    code = (
        "import logging\n"
        "from macex.server.logs import log_to_stderr\n"
        "end = log_to_stderr(values=False)\n"
        "logging.getLogger('macex.server').info('the last', extra={'port': 1})\n"
        "end()\nend()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    line = json.loads(done.stderr)
    assert (line["message"], line["port"], line["level"]) == ("the last", 1, "info")
    assert line["time"].endswith("Z")
