"""Jobs are worked off fairly by project: one of each at a time, and none waits for a slow one."""

from __future__ import annotations

import threading
import time

import pytest

from macex.server.jobs import runner as module
from macex.server.jobs.runner import Runner
from macex.server.storage.database import open_database
from macex.server.storage.jobs import Jobs


class Rows:
    """A project whose chunks wait until they are let go."""

    def __init__(self, name: str, *, slow: bool) -> None:
        self.name, self.slow = name, slow
        self.go, self.running, self.most = threading.Event(), 0, 0
        self.done: list[str] = []

    def part(self, job: str) -> tuple[bytes, dict[str, int]]:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.slow:
            self.go.wait(60)
        self.running -= 1
        self.done.append(job)
        return b"{}\n", {"found": 1}


class Work:
    """What a job asks of such a project."""

    fingerprint = "print"

    def __init__(self, project: Rows, job, source, find) -> None:
        self.project, self.job = project, job

    def part(self, start: int, stop: int):
        return self.project.part(self.job.id)


@pytest.fixture
def office(tmp_path, monkeypatch):
    """Jobs, and a function that starts a runner for some projects."""
    monkeypatch.setattr(module, "Work", Work)
    monkeypatch.setattr(module, "SLICE_S", 0.0)
    jobs, runners = Jobs(open_database(f"sqlite:///{tmp_path / 'server.db'}")), []

    def start(*projects: Rows, threads: int) -> Runner:
        known = {project.name: project for project in projects}
        runners.append(Runner(jobs, known.__getitem__, lambda _: None, threads=threads))
        runners[-1].start()
        return runners[-1]

    yield jobs, start
    for one in runners:
        one.stop(10)


def added(jobs: Jobs, project: str, chunks: int = 1) -> str:
    source = {"places": list(range(chunks))}
    time.sleep(0.002)  # the clock of the table counts milliseconds
    return jobs.add(project, "x", {}, source, total=chunks, chunk=1).id


def until(holds) -> None:
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    assert holds()


def test_a_slow_project_delays_no_other(office):
    jobs, start = office
    slow, quick = Rows("slow", slow=True), Rows("quick", slow=False)
    first = added(jobs, "slow")
    later = [added(jobs, "quick") for _ in range(5)]
    start(slow, quick, threads=2)
    until(lambda: all(jobs.get(one).status == "done" for one in later))
    assert jobs.get(first).status == "running"
    slow.go.set()
    until(lambda: jobs.get(first).status == "done")


def test_a_project_has_one_thread_at_a_time(office):
    jobs, start = office
    quick = Rows("quick", slow=False)
    made = [added(jobs, "quick", 3) for _ in range(6)]
    start(quick, threads=4)
    until(lambda: all(jobs.get(one).status == "done" for one in made))
    assert quick.most == 1
    assert quick.done == [one for one in made for _ in range(3)]


def test_a_long_job_makes_room_where_all_threads_are_taken(office):
    jobs, start = office
    long, short = Rows("long", slow=False), Rows("short", slow=False)
    first = added(jobs, "long", 50)
    second = added(jobs, "short", 2)
    start(long, short, threads=1)
    until(lambda: jobs.get(first).status == "done")
    assert jobs.get(second).finished < jobs.get(first).finished


def test_a_job_that_made_room_has_every_part_once(office):
    jobs, start = office
    projects = [Rows(name, slow=False) for name in "abc"]
    made = [added(jobs, name, 8) for name in "abc"]
    start(*projects, threads=1)
    until(lambda: all(jobs.get(one).status == "done" for one in made))
    assert [len(project.done) for project in projects] == [8, 8, 8]
