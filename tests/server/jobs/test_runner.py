"""Jobs are worked off fairly by project: one of each at a time, and none waits for a slow one.

A model that is away costs a job time; a row on which it always hangs costs that row alone.
"""

from __future__ import annotations

import threading
import time

import pytest

from macex.errors import UnavailableError
from macex.server.jobs import runner as module
from macex.server.jobs.runner import TRIES, Runner
from macex.server.storage.database import open_database
from macex.server.storage.jobs import Jobs
from server.at_work import AtWork


class Rows:
    """A project whose chunks wait until they are let go."""

    def __init__(self, name: str, *, slow: bool) -> None:
        self.name, self.slow = name, slow
        self.go, self.workers = threading.Event(), AtWork()
        self.done: list[str] = []
        self.asked = 0
        self.away: set[int] = set()  # the questions, by number, at which the model is lost
        self.poison: set[int] = set()  # the rows at which it is

    def part(self, job: str, start: int, stop: int) -> tuple[bytes, dict[str, int]]:
        self.asked += 1
        if self.asked in self.away or self.poison & set(range(start, stop)):
            raise UnavailableError("hung; later", retry_s=0.01, lost="hung")
        with self.workers:
            if self.slow:
                self.go.wait(60)
        self.done.append(job)
        return b"".join(b"%d\n" % row for row in range(start, stop)), {"found": stop - start}


class Work:
    """What a job asks of such a project."""

    fingerprint = "print"

    def __init__(self, project: Rows, job, source, find) -> None:
        self.project, self.job = project, job

    def part(self, start: int, stop: int):
        return self.project.part(self.job.id, start, stop)

    def given_up(self, row: int, why: str):
        return b"%d %s\n" % (row, why.encode()), {"not_found": 1}


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


def added(jobs: Jobs, project: str, chunks: int = 1, chunk: int = 1) -> str:
    source = {"places": list(range(chunks * chunk))}
    time.sleep(0.002)  # the clock of the table counts milliseconds
    return jobs.add(project, "x", {}, source, total=chunks * chunk, chunk=chunk).id


def lines(jobs: Jobs, job: str) -> list[str]:
    return b"".join(jobs.parts(job)).decode().splitlines()


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
    assert quick.workers.most == 1
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


def test_a_model_that_is_away_for_a_while_costs_a_job_nothing(office):
    jobs, start = office
    rows = Rows("rows", slow=False)
    rows.away = {2, 3, 4, 9}
    job = added(jobs, "rows", 6, chunk=2)
    start(rows, threads=1)
    until(lambda: jobs.get(job).ended)
    assert (jobs.get(job).status, jobs.get(job).error) == ("done", None)
    assert lines(jobs, job) == [str(row) for row in range(12)]
    assert jobs.statuses(job) == {"found": 12}


def test_a_row_at_which_the_model_always_hangs_gets_that_as_its_reason(office):
    jobs, start = office
    rows = Rows("rows", slow=False)
    rows.poison = {5, 6, 8, 9, 11}
    job = added(jobs, "rows", 3, chunk=4)
    start(rows, threads=1)
    until(lambda: jobs.get(job).ended)
    assert jobs.get(job).status == "done"
    expected = [f"{row} hung" if row in rows.poison else str(row) for row in range(12)]
    assert lines(jobs, job) == expected
    assert jobs.statuses(job) == {"found": 7, "not_found": 5}


def test_a_model_that_stays_away_fails_the_job_with_the_reason(office):
    jobs, start = office
    gone, here = Rows("gone", slow=False), Rows("here", slow=False)
    gone.away = set(range(2, 1000))
    lost, kept = added(jobs, "gone", 50, chunk=4), added(jobs, "here", 3)
    start(gone, here, threads=1)
    until(lambda: jobs.get(lost).ended and jobs.get(kept).ended)
    assert jobs.get(kept).status == "done"
    assert (jobs.get(lost).status, jobs.get(lost).done) == ("failed", 4)
    assert jobs.get(lost).error == f"hung, {TRIES} times in a row"


def test_a_busy_model_is_waited_for_and_nothing_is_counted(office, monkeypatch):
    jobs, start = office
    rows = Rows("rows", slow=False)
    asked = []

    def busy(job: str, first: int, last: int):
        asked.append(first)
        if len(asked) <= 3 * TRIES:
            raise UnavailableError("others are asking", retry_s=0.01)
        return b"{}\n", {"found": 1}

    monkeypatch.setattr(rows, "part", busy)
    job = added(jobs, "rows", 2)
    start(rows, threads=1)
    until(lambda: jobs.get(job).ended)
    assert jobs.get(job).status == "done"


def test_a_project_whose_model_is_away_is_not_looked_at_meanwhile(office, monkeypatch):
    jobs, start = office
    rows = Rows("rows", slow=False)
    asked = []

    def away(job: str, first: int, last: int):
        asked.append(first)
        raise UnavailableError("away", retry_s=600)

    monkeypatch.setattr(rows, "part", away)
    first, later = added(jobs, "rows", 2), added(jobs, "rows", 2)
    one = start(rows, threads=2)
    until(lambda: asked)
    one.submit(jobs.get(later))
    time.sleep(0.3)
    assert asked == [0]
    assert not jobs.get(first).ended
