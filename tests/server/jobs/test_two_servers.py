"""Two servers on one PostgreSQL: each job is worked on by one of them, and outlives it."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from contextlib import ExitStack

import httpx
import pytest

from macex.server.storage.audit import records
from macex.server.storage.database import open_database
from macex.server.storage.jobs import Jobs
from server.jobs.test_restart import process, result
from server.storage.conftest import postgres

__all__ = ["postgres"]
PLACES = [7, 3, 11, 5, 2]


@pytest.fixture
def jobs(postgres):
    return Jobs(open_database(postgres))


def added(jobs):
    return jobs.add("loans", "x", {}, {"places": [0]}, total=1, chunk=1)


def test_a_claimed_job_is_nobody_elses(jobs):
    for one in jobs.all():
        jobs.remove(one.id)
    first, second = added(jobs), added(jobs)
    claims = [jobs.claimed("loans") for _ in range(3)]
    with claims[0] as mine, claims[1] as yours, claims[2] as nobodys:
        assert {mine, yours} == {first.id, second.id}
        assert nobodys is None
        assert jobs.end(first.id, "cancelled")  # which waits for no chunk
    with jobs.claimed("loans") as left:
        assert left == second.id
    jobs.remove(first.id)
    jobs.remove(second.id)


def test_a_part_that_two_made_counts_once(jobs):
    job = jobs.add("loans", "x", {}, {"places": [0, 1]}, total=2, chunk=1)
    for _ in range(2):
        jobs.add_part(job.id, 0, b"{}\n", {"found": 1})
    assert jobs.get(job.id).done == 1
    jobs.remove(job.id)


@pytest.mark.slow
def test_a_hundred_jobs_and_one_of_two_servers_killed(postgres, loan_project, tmp_path):
    with ExitStack() as running:
        (one, first), (_, second) = (
            running.enter_context(
                process(
                    loan_project,
                    tmp_path / name,
                    tmp_path / f"{name}.log",
                    MACEX_DATABASE=postgres,
                    MACEX_JOBS_AT_ONCE="1000",
                )
            )
            for name in ("one", "two")
        )
        for url in (first, second):
            httpx.get(f"{url}/projects/loans", timeout=120)
        made = submitted([first, second], 100)
        waited(second, 20)
        one.kill()
        one.wait()
        waited(second, 100)
        for identity in made:
            lines = [json.loads(line) for line in result(second, identity).splitlines()]
            assert [line["id"] for line in lines] == PLACES
            job = httpx.get(f"{second}/jobs/{identity}", timeout=60).json()
            assert (job["status"], job["done"]) == ("done", len(PLACES))
        kept = Counter(one["by"]["job"] for one in records(open_database(postgres)))
        assert kept == dict.fromkeys(made, len(PLACES))


def submitted(urls, count):
    """Jobs, sent to all servers at the same time."""
    made = []

    def send(url):
        with httpx.Client(timeout=120) as client:
            for _ in range(count // len(urls)):
                said = client.post(f"{url}/projects/loans/jobs", json={"places": PLACES, "n": 2})
                made.append(said.json()["id"])

    threads = [threading.Thread(target=send, args=(url,)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == count
    return made


def waited(url, count, seconds=400):
    """Wait until so many jobs are at their end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        jobs = httpx.get(f"{url}/jobs", params={"size": 1000}, timeout=60).json()["jobs"]
        if sum(job["status"] == "done" for job in jobs) >= count:
            return
        time.sleep(0.05)
    raise TimeoutError({job["status"] for job in jobs})
