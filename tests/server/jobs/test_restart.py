"""A server that dies in the middle of a job loses nothing that was finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from math import inf

import httpx
import pytest

pytestmark = pytest.mark.slow


@contextmanager
def process(project, state, log, **more):
    """`macex serve` in a process of its own; the process and its URL."""
    command = [sys.executable, "-m", "macex.cli", "serve", "--port", "0"]
    command += ["--project", str(project), "--state", str(state)]
    surroundings = {
        **os.environ,
        "MACEX_JOB_CHUNK": "2",
        "MACEX_TOKEN": "false",
        "OMP_NUM_THREADS": "1",
        **more,
    }
    with log.open("w") as out:
        server = subprocess.Popen(command, stderr=out, env=surroundings)
    try:
        until = time.monotonic() + 120
        while "listens" not in log.read_text() and time.monotonic() < until:
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        line = next(one for one in log.read_text().splitlines() if "listens" in one)
        yield server, line.rpartition(" ")[2] + "/api/v1"
    finally:
        server.kill()
        server.wait()


def progress(url, identity, least=inf, seconds=240):
    """Wait until so many rows are done, or the job has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = httpx.get(f"{url}/jobs/{identity}", timeout=60).json()
        if job["done"] >= least or job["status"] not in ("queued", "running"):
            return job
        time.sleep(0.02)
    raise TimeoutError(job)


def result(url, identity):
    return httpx.get(f"{url}/jobs/{identity}/result", timeout=60).content


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_server_goes_on_and_ends_in_the_same_bytes(loan_project, tmp_path, end):
    ask = {"filter": {"where": "income < 50"}, "n": 3}
    state, log = tmp_path / "state", tmp_path / "log"
    with process(loan_project, state, log) as (server, url):
        job = httpx.post(f"{url}/projects/loans/jobs", json=ask, timeout=120).json()
        before = progress(url, job["id"], 6)
        assert before["status"] == "running"
        server.send_signal(end)
        server.wait(60)
    with process(loan_project, state, log) as (_, url):
        assert httpx.get(f"{url}/jobs/{job['id']}").json()["done"] >= before["done"]
        after = progress(url, job["id"])
        assert (after["status"], after["done"]) == ("done", job["total"])
        resumed = result(url, job["id"])
        again = httpx.post(f"{url}/projects/loans/jobs", json=ask, timeout=120).json()
        progress(url, again["id"])
        assert resumed == result(url, again["id"])


def test_a_job_of_another_model_is_not_mixed_with_this_one_s(loan_project, tmp_path):
    import shutil

    folder, state, log = tmp_path / "loans", tmp_path / "state", tmp_path / "log"
    shutil.copytree(loan_project, folder)
    with process(folder, state, log) as (server, url):
        ask = {"filter": {}, "n": 3}
        job = httpx.post(f"{url}/projects/loans/jobs", json=ask, timeout=120).json()
        progress(url, job["id"], 2)
        server.kill()
        server.wait()
    rows = (folder / "train.csv").read_text().splitlines()
    (folder / "train.csv").write_text("\n".join(rows[:-50]) + "\n")
    with process(folder, state, log) as (_, url):
        after = progress(url, job["id"])
    assert after["status"] == "failed"
    assert "another one" in after["error"]
