"""Working jobs off, in a few threads, fairly by project.

The rows of a job are cut into chunks. Each chunk is explained in one call and stored as one part,
together with its audit records. A project has one thread at a time. The project that was served
longest ago is served next, and a job makes room for waiting projects after a few seconds. A project
whose model cannot be asked now is left out until it can be; its job goes on then.

A server that starts goes on with every job that is not at its end; parts that are there stay.
Several servers may share a PostgreSQL: each claims one job after the other.

A process that was lost costs a job nothing at first: what is finished stays, and the rest is asked
about later. The chunk at which it was lost is then asked about row by row, so that a row on which
the model always hangs or crashes gets that as its reason, and the others their answers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from macex.errors import MacexError, UnavailableError
from macex.server.jobs.work import CaseWork, Find, Work
from macex.server.logs import gist
from macex.server.projects.series import SeriesProject
from macex.server.storage.audit import AuditLines, held
from macex.server.storage.jobs import Job, Jobs
from macex.server.structured import bound_contextvars

if TYPE_CHECKING:
    from macex.server.jobs.work import JobWork, Lines


LOG = logging.getLogger("macex.server.jobs")
LOOK_S = 1.0  # after which jobs that came to another server are looked for
RETRY_S = 2.0  # after which a database that failed is asked again
SLICE_S = 5.0  # after which a job makes room, if other projects wait
TRIES = 6  # losses in a row, with nothing finished between them, that end a job
ROW_TRIES = 3  # losses of a row by itself, after which it is given up
Part = tuple[bytes, Mapping[str, int], Sequence[AuditLines]]


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
        self._trials: dict[str, Trial] = {}  # of projects that were worked on

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
            self._trials = {name: one for name, one in self._trials.items() if name in waiting}
            free = [one for one in waiting if self._free(one) and one not in tried]
            if not free or self._stopping.is_set():
                return None
            project = min(free, key=lambda one: self._served.get(one, 0.0))
            self._busy.add(project)
            return project

    def _free(self, project: str) -> bool:
        """Whether nobody works on a project, and its model is not waited for."""
        trial = self._trials.get(project)
        return project not in self._busy and (trial is None or trial.again <= time.monotonic())

    def _trial(self, job: Job) -> Trial:
        """What was tried of a job so far; of a project's jobs one is remembered."""
        with self._choosing:
            trial = self._trials.get(job.project)
            if trial is None or trial.job != job.id:
                trial = self._trials[job.project] = Trial(job.id)
            return trial

    def _crowded(self) -> bool:
        """Whether a project waits that no thread is free for."""
        with self._choosing:
            if len(self._busy) < self._count:
                return False
            return any(map(self._free, self._jobs.waiting()))

    def _turn(self, identity: str) -> None:
        """Work on a job until it ends, one way or another, or makes room."""
        try:
            job = self._jobs.get(identity)
        except KeyError:
            return  # removed while it waited
        began = time.perf_counter()
        with bound_contextvars(job=job.id, key=job.key, caller=job.owner, project=job.project):
            self._tried(job)
            self._told(identity, time.perf_counter() - began)

    def _told(self, identity: str, took: float) -> None:
        """Log what became of a job."""
        with suppress(KeyError):  # removed meanwhile
            job = self._jobs.get(identity)
            asked = job.question
            question = gist(
                asked.get("options", {}),
                asked.get("want"),
                asked.get("constraints"),
                asked.get("filter"),
            )
            question |= {"left_out": asked["left_out"]} if asked.get("left_out") else {}
            line = {"status": job.status, "rows": job.done, "duration_ms": round(1000 * took, 1)}
            LOG.info("job", extra={**line, "model": job.model, "question": question})

    def _tried(self, job: Job) -> None:
        identity = job.id
        try:
            self._run(job)
        except UnavailableError as error:
            if not self._stopping.is_set():
                self._put_off(job, error)
        except MacexError as error:
            if not self._stopping.is_set():  # or the server is ending, and the job goes on later
                self._jobs.end(identity, "failed", str(error))
        except (OperationalError, InterfaceError):
            raise  # nothing is wrong with the job
        except Exception:
            LOG.exception("job failed", extra={"job": identity})
            self._jobs.end(identity, "failed", "The fault is the server's; its log says more.")

    def _put_off(self, job: Job, error: UnavailableError) -> None:
        """Leave a job for later; one at which its model was lost again and again has failed."""
        trial = self._trial(job)
        trial.failed(error)
        if trial.losses >= TRIES:
            self._jobs.end(job.id, "failed", f"{trial.why}, {TRIES} times in a row")
        else:
            LOG.warning("job put off", extra={"why": str(error)})

    def _run(self, job: Job) -> None:
        if job.ended:
            return
        project = self._find(job.project)
        source = self._jobs.source(job.id)
        kind = CaseWork if isinstance(project, SeriesProject) else Work
        work = kind(project, job, source, self._find)
        if job.fingerprint not in (None, work.fingerprint):
            raise MacexError("the project is another one than when the job was begun")
        if not self._jobs.begin(job.id, work.fingerprint):
            return
        there, until = self._jobs.finished_parts(job.id), time.monotonic() + SLICE_S
        trial = self._trial(job)

        def ended() -> bool:
            return self._stopping.is_set() or self._jobs.get(job.id).ended

        for number, start in enumerate(range(0, job.total, job.chunk)):
            if number in there:
                continue
            if ended():
                return
            part = trial.part(work, start, min(start + job.chunk, job.total), ended)
            if part is None or self._stopping.is_set():
                return  # the model may have been ended in the middle of it
            content, statuses, records = part
            self._jobs.add_part(job.id, number, content, statuses, records)
            self._report(sum(statuses.values()))
            if time.monotonic() > until and start + job.chunk < job.total and self._crowded():
                return  # to be continued
        self._jobs.end(job.id, "done")


@dataclass
class Trial:
    """How far a job has come with its present chunk, and how often it was tried in vain."""

    job: str
    again: float = 0.0  # when it may be tried again
    losses: int = 0  # in a row, with nothing finished between them
    why: str = ""
    _apart: bool = False  # whether the chunk is asked about row by row
    _at: int = -1  # the row that is asked about
    _lost: Counter[int] = field(default_factory=Counter)
    _rows: dict[int, Part] = field(default_factory=dict)

    def part(self, work: JobWork, start: int, stop: int, ended: Callable[[], bool]) -> Part | None:
        """The answers to a chunk; None where the job ends in the middle of it."""
        if not self._apart:
            return self._finished(lambda: work.part(start, stop))
        left = [row for row in range(start, stop) if row not in self._rows]
        for row in sorted(left, key=lambda row: self._lost[row] > 0):
            if ended():
                return None
            self._rows[row] = self._row(work, row)
        parts = [self._rows.pop(row) for row in range(start, stop)]
        self._apart, self._at = False, -1
        return _joined(parts)

    def failed(self, error: UnavailableError) -> None:
        """The model cannot be asked now: wait, and count it where this job's question was lost."""
        self.again = time.monotonic() + error.retry_s
        if error.lost:
            self.losses, self.why, self._apart = self.losses + 1, error.lost, True
            self._lost[self._at] += 1

    def _row(self, work: JobWork, row: int) -> Part:
        self._at = row
        if self._lost[row] < ROW_TRIES:
            return self._finished(lambda: work.part(row, row + 1))
        return self._finished(lambda: work.given_up(row, self.why))

    def _finished(self, ask: Callable[[], Lines]) -> Part:
        with held() as records:
            content, statuses = ask()
        self.losses = 0
        return content, statuses, records


def _joined(parts: Sequence[Part]) -> Part:
    statuses: Counter[str] = Counter()
    for _, counted, _ in parts:
        statuses.update(counted)
    records = [one for _, _, some in parts for one in some]
    return b"".join(content for content, _, _ in parts), statuses, records
