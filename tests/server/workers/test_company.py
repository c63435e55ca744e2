"""A project whose model hangs costs nobody else: others are answered while it does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytest.importorskip("onnxruntime")

from macex.server import Settings
from macex.server.projects.parts import described
from models.files.hostile_onnx import loop
from server.waiting import ended

TRAIN = "x,z\n" + "".join(f"{place / 10 - 2},{2 - place / 10}\n" for place in range(40))
HANGS = {"x": 5000.0, "z": 0.0}
FINE = {"x": -1.0, "z": 0.0}


@pytest.fixture(scope="module")
def served(loan_project, tmp_path_factory, start):
    settings = Settings(
        state=tmp_path_factory.mktemp("state"),
        project=loan_project,
        model_seconds=15,
        upload_seconds=30,
    )
    with start(settings) as one:
        yield one


@pytest.fixture(scope="module")
def client(served):
    with httpx.Client(base_url=f"{served.url}/api/v1", timeout=120) as one:
        files = {"model": ("model", loop(above=1000)), "data": ("data", TRAIN.encode())}
        said = one.post("/projects", data={"title": "Hangs", "classes": ["no", "yes"]}, files=files)
        assert said.status_code == 201, said.text
        yield one


def asked(client, name, row, **more):
    return client.post(f"/projects/{name}/explain", json={"rows": [row], **more})


def test_others_are_answered_while_a_model_hangs(client, served, row):
    """Five questions, each of another kind, hang; one to the loans does not wait for them."""
    assert asked(client, "loans", row).status_code == 200  # which starts its worker
    worker = served.server.projects["hangs"].parts.model.worker
    with ThreadPoolExecutor(5) as pool:
        hung = [pool.submit(asked, client, "hangs", HANGS, n=n) for n in range(1, 6)]
        while not worker._busy:
            time.sleep(0.01)
        for _ in range(5):
            assert asked(client, "loans", row).status_code == 200
            assert client.get("/health").status_code == 200
            assert client.get("/projects/loans/rows?size=1").status_code == 200
        assert not any(one.done() for one in hung[:1])
        found = [one.result() for one in hung]
    for one in found:
        assert one.status_code == 503
        assert one.headers["content-type"] == "application/problem+json"
        assert int(one.headers["retry-after"]) >= 1
        assert "took more than 15 s" in one.json()["detail"]


def test_a_project_that_hung_answers_again(client):
    for _ in range(20):
        said = asked(client, "hangs", FINE)
        if said.status_code == 200:
            break
        time.sleep(float(said.headers["retry-after"]))
    assert said.json()["explanations"][0]["status"] == "found"


def test_a_process_that_is_killed_costs_a_job_nothing(client, served):
    worker = served.server.projects["loans"].parts.model.worker
    asks = {"filter": {}, "n": 3}
    expected = ended(client, client.post("/projects/loans/jobs", json=asks).json()["id"])
    job = client.post("/projects/loans/jobs", json=asks).json()
    while not client.get(f"/jobs/{job['id']}").json()["done"]:
        time.sleep(0.01)
    os.kill(worker.pid, signal.SIGKILL)
    found = ended(client, job["id"])
    assert (found["status"], found["done"]) == ("done", job["total"])
    first, second = (client.get(f"/jobs/{one['id']}/result").content for one in (expected, found))
    assert first == second


@pytest.mark.slow
def test_a_row_at_which_a_model_hangs_does_not_cost_the_others_of_a_job(client):
    rows = [FINE, {**FINE, "z": 1.0}, HANGS, {**FINE, "z": 2.0}]
    job = client.post("/projects/hangs/jobs", json={"rows": rows}).json()
    found = ended(client, job["id"])
    assert found["status"] == "done"
    result = client.get(f"/jobs/{job['id']}/result").text
    lines = [json.loads(line) for line in result.splitlines()]
    assert [line["status"] for line in lines] == ["found", "found", "not_found", "found"]
    assert "took more than 15 s" in lines[2]["reason"]
    assert [line["query"] for line in lines] == rows
    assert client.get(f"/jobs/{job['id']}/result", params={"format": "csv"}).status_code == 200


def test_a_model_that_hangs_from_the_start_is_no_project(client, served):
    files = {"model": ("model", loop()), "data": ("data", TRAIN.encode())}
    said = client.post("/projects", data={"title": "Never"}, files=files)
    assert said.status_code == 422
    assert "took more than" in said.json()["detail"]
    names = {one["name"] for one in client.get("/projects").json()["projects"]}
    assert names == {"hangs", "loans"}


def test_a_removed_project_leaves_no_process(client, served):
    files = {"model": ("model", loop(above=1000)), "data": ("data", TRAIN.encode())}
    client.post("/projects", data={"title": "Gone", "classes": ["no", "yes"]}, files=files)
    pid = served.server.projects["gone"].parts.model.worker.pid
    assert client.delete("/projects/gone").status_code == 204
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the process is still there")


def test_a_server_that_is_told_to_end_does_so_with_its_workers(tmp_path):
    folder = tmp_path / "hangs"
    folder.mkdir()
    (folder / "model.bin").write_bytes(loop(above=1000))
    (folder / "train.csv").write_text(TRAIN, encoding="utf-8")
    parts = {"title": "Hangs", "model": "model.bin", "data": "train.csv", "classes": ["no", "yes"]}
    described(parts).write(folder)
    command = [sys.executable, "-m", "macex.cli", "serve", "--port", "0"]
    command += ["--project", str(folder), "--state", str(tmp_path / "state")]
    around = {**os.environ, "MACEX_TOKEN": "false"}
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=around)
    try:
        address = next(line for line in server.stderr if "macex listens on" in line).split()[-1]
        with httpx.Client(base_url=f"{address}/api/v1", timeout=120) as client:
            assert asked(client, "hangs", FINE).status_code == 200
            workers = children(server.pid)
            assert workers
            threading.Thread(target=ends_badly, args=[client], daemon=True).start()
            time.sleep(1)
            server.send_signal(signal.SIGTERM)
            server.wait(10)
    finally:
        server.kill()
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def ends_badly(client):
    try:
        asked(client, "hangs", HANGS)
    except httpx.HTTPError:
        return


def children(parent: int) -> list[int]:
    said = subprocess.run(
        ["/bin/ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, check=False
    )
    return [int(line) for line in said.stdout.split()]


def test_a_server_says_whether_it_takes_questions(loan_project, tmp_path, start):
    with start(Settings(state=tmp_path, project=loan_project)) as one:
        ready = f"{one.url}/api/v1/ready"
        assert httpx.get(ready).json() == {"ready": True}
        one.server.workers.close()
        assert httpx.get(ready).status_code == 503
