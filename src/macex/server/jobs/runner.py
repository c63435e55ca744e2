"""Working jobs off, in a few threads, fairly by project.

The rows of a job are cut into chunks. Each chunk is explained in one call and stored as one part,
together with its audit records. A project has one thread at a time. The project that was served
longest ago is served next, and a job makes room for waiting projects after a few seconds.

A server that starts goes on with every job that is not at its end; parts that are there stay.
Several servers may share a PostgreSQL: each claims one job after the other.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from macex.engine.fingerprint import fingerprint
from macex.errors import MacexError
from macex.explainer import Explainer
from macex.scale.writing import Jsonl
from macex.server.asking import Options, constraints_of, frame_of, goal_of, per_row
from macex.server.projects.project import Project
from macex.server.storage.audit import asked_by, held
from macex.server.storage.jobs import Job, Jobs

LOG = logging.getLogger("macex.server.jobs")
LOOK_S = 1.0  # after which jobs that came to another server are looked for
RETRY_S = 2.0  # after which a database that failed is asked again
SLICE_S = 5.0  # after which a job makes room, if other projects wait
LINES = Jsonl(index="id")
Find = Callable[[str], Project]


class Runner:
    """Works jobs off until it is stopped."""

    def __init__(
        self, jobs: Jobs, find: Find, report: Callable[[int], None], threads: int = 4
    ) -> None:
        self._jobs, self._find, self._report, self._count = jobs, find, report, threads
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._choosing = threading.Lock()
        self._busy: set[str] = set()  # projects that a thread works on
        self._served: dict[str, float] = {}  # when a thread last stopped working on a project

    def start(self) -> None:
        """Go on with what was left, and wait for more."""
        self._jobs.make_claimable()
        self._threads = [
            threading.Thread(target=self._work, name=f"jobs-{at}", daemon=True)
            for at in range(self._count)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, wait_s: float = 30) -> None:
        """Finish the present chunks; the rest is for the next start, or another server."""
        self._stopping.set()
        self._wake.set()
        until = time.monotonic() + wait_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def submit(self, _job: Job) -> None:
        """There is a job that waits."""
        self._wake.set()

    def cancel(self, identity: str) -> None:
        """End a job after the present chunk; what is finished stays."""
        self._jobs.end(identity, "cancelled")

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                worked = self._next()
            except DBAPIError:
                LOG.exception("the database failed")
                self._stopping.wait(RETRY_S)
                continue
            if not worked:
                self._wake.wait(LOOK_S)

    def _next(self) -> bool:
        """Work on a job of the project whose turn it is; False if there is nothing to do."""
        tried: set[str] = set()
        while (project := self._chosen(tried)) is not None:
            tried.add(project)
            try:
                with self._jobs.claimed(project) as identity:
                    if identity is not None:
                        self._turn(identity)
                        return True
            finally:
                with self._choosing:
                    self._busy.discard(project)
                    self._served[project] = time.monotonic()
        return False

    def _chosen(self, tried: set[str]) -> str | None:
        """The waiting project that nobody works on and that was served longest ago, now busy."""
        with self._choosing:
            waiting = self._jobs.waiting()
            self._served = {name: at for name, at in self._served.items() if name in waiting}
            free = [one for one in waiting if one not in self._busy and one not in tried]
            if not free or self._stopping.is_set():
                return None
            project = min(free, key=lambda one: self._served.get(one, 0.0))
            self._busy.add(project)
            return project

    def _crowded(self) -> bool:
        """Whether a project waits that no thread is free for."""
        with self._choosing:
            if len(self._busy) < self._count:
                return False
            return any(project not in self._busy for project in self._jobs.waiting())

    def _turn(self, identity: str) -> None:
        """Work on a job until it ends, one way or another."""
        try:
            self._run(self._jobs.get(identity))
        except KeyError:
            return  # removed while it waited
        except MacexError as error:
            if not self._stopping.is_set():  # or the server is ending, and the job goes on later
                self._jobs.end(identity, "failed", str(error))
        except (OperationalError, InterfaceError):
            raise  # nothing is wrong with the job
        except Exception:
            LOG.exception("job failed", extra={"job": identity})
            self._jobs.end(identity, "failed", "The fault is the server's; its log says more.")

    def _run(self, job: Job) -> None:
        if job.ended:
            return
        project = self._find(job.project)
        work = Work(project, job, self._jobs.source(job.id))
        if job.fingerprint not in (None, work.fingerprint):
            raise MacexError("the project is another one than when the job was begun")
        if not self._jobs.begin(job.id, work.fingerprint):
            return
        there, until = self._jobs.finished_parts(job.id), time.monotonic() + SLICE_S
        for number, start in enumerate(range(0, job.total, job.chunk)):
            if number in there:
                continue
            if self._stopping.is_set() or self._jobs.get(job.id).ended:
                return
            with held() as records:
                content, statuses = work.part(start, min(start + job.chunk, job.total))
            if self._stopping.is_set():
                return  # the model may have been ended in the middle of it
            self._jobs.add_part(job.id, number, content, statuses, records)
            self._report(sum(statuses.values()))
            if time.monotonic() > until and start + job.chunk < job.total and self._crowded():
                return  # to be continued
        self._jobs.end(job.id, "done")


class Work:
    """The rows of a job and what is asked of them."""

    def __init__(self, project: Project, job: Job, source: Mapping[str, Any]) -> None:
        self.project, self.job, self.source = project, job, source
        self.options = Options(**job.question["options"])
        self.explainer: Explainer = project.explainer(self.options.method, self.options.prefer)

    @cached_property
    def fingerprint(self) -> str:
        """What the answers rest on."""
        return fingerprint(self.explainer.engine)

    def frame(self, start: int, stop: int) -> pd.DataFrame:
        """Some of the rows, named by their places."""
        if "places" in self.source:
            places = np.array(self.source["places"][start:stop], dtype=int)
            return self.project.table.frame(places)
        frame = frame_of(self.explainer, self.source["rows"][start:stop])
        return frame.set_axis(range(start, stop), axis=0)

    def part(self, start: int, stop: int) -> tuple[bytes, Mapping[str, int]]:
        """Some rows explained: a line of JSON each, and how many have which status."""
        wants = self._each("want", start, stop)
        wished = self._each("constraints", start, stop)
        frame = self.frame(start, stop)
        by = {"key": self.job.key, "name": self.job.owner, "job": self.job.id}
        by |= {"filter": self.job.question.get("filter")}
        with asked_by([by] * len(frame)), self.project.lock:
            found = self.explainer.explain(
                frame,
                want=[goal_of(self.explainer, want) for want in wants],
                constraints=[constraints_of(one) for one in wished],
                **self.options.call,
            )
        return LINES.part(found, start), dict(Counter(item.status for item in found))

    def _each(self, part: str, start: int, stop: int) -> Sequence[Any]:
        return per_row(part, self.job.question[part], self.job.total)[start:stop]
