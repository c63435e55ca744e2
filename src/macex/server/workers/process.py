"""One worker as its server sees it: started when it is asked, ended when it misbehaves or idles."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from pathlib import Path
from threading import Lock, RLock
from typing import IO, Any

from macex.errors import ModelError, ModelFileError, UnavailableError
from macex.models.files.sandbox import surroundings
from macex.server.workers.messages import receive, send, unpacked

LOG = logging.getLogger("macex.server.workers")
SLOW_S = 2.0  # a call that takes longer goes on behind all others
SLOWISH_S = 0.5  # as does a worker of which
SLOWISH = 3  # calls in a row took longer than that
IDLE_S = 900.0
CLOSE_S = 2.0
LONGEST_PAUSE_S = 60.0
MOST_SAID = 2**20  # bytes of a reply without numbers
MOST_A_ROW = 2**13  # bytes of numbers for each row: a thousand classes
LOWERED = 10  # the niceness of a slow one
BROKEN = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
"""What comes of a pipe that ends, and of a reply that is none."""

Source = Path | str
"""Where a model is from: a file, or a module of this package whose `model()` makes it."""

SILENCED: ContextVar[tuple[Worker | None, str]] = ContextVar("silenced", default=(None, ""))
RESTS_S = 1.0  # how long a worker was not asked when it may be ended for another


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker may take: of memory, and of time for one call and for its opening."""

    memory_mb: int = 2048
    seconds: float = 30
    opening_s: float = 120


class ModelFault(Exception):  # noqa: N818 - what it is called is never seen
    """What a model raised in its own process, shown as it was raised there."""

    def __repr__(self) -> str:
        return str(self)


class Worker:
    """A process for one model. One call at a time; others wait for their turn.

    When a call takes too long, or the process ends during one, callers are told so, and for a while
    that doubles each time nothing is asked.
    """

    def __init__(self, source: Source, limits: WorkerLimits, places: Places) -> None:
        self.source, self.limits, self._places = source, limits, places
        self.starts = 0
        self.sha256: str | None = None  # of the file, as it was opened
        self._turn = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._face: dict[str, Any] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._busy = False
        self._until = self._slow_at = 0.0  # of the call that runs
        self.asked = time.monotonic()  # when the last call ended
        self._late = self._closed = self._lowered = False
        self._was_late = False  # the call before, so that a new process goes behind others
        self._failures = self._slowish = 0
        self._paused_until = 0.0
        self._why = ""
        self._broken: tuple[tuple[int, int], str] | None = None  # a file that is no model

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return None if self._process is None else self._process.pid

    def face(self) -> Mapping[str, Any]:
        """What the model can be asked for; raises for a file that is not a model."""
        with self._asking():
            self._running()
            return self._face

    def ask(self, question: Mapping[str, Any], rows: int) -> tuple[dict[str, Any], Any]:
        """The reply of the model to a question about some rows."""
        whom, why = SILENCED.get()
        if whom is self:
            raise ModelError(why)
        with self._asking():
            process, content = self._running(), pickle.dumps(question, protocol=5)
            most = MOST_SAID + MOST_A_ROW * rows
            said, answer = self._exchange(process, content, self.limits.seconds, most)
            self._failures, self._was_late = 0, False
        if "wrong" in said:
            raise ModelError(str(said["wrong"]))
        if "raised" in said:
            raise ModelFault(str(said["raised"]))
        return said, answer

    def look(self, now: float) -> None:
        """End a call that takes too long, put a slow one behind others, end an idle process."""
        process = self._process
        if process is None:
            return
        if not self._busy:
            if now - self.asked > IDLE_S:
                self.rest()
        elif now > self._until:
            self._late = True
            process.kill()
        elif now > self._slow_at:
            self._lower(process)

    def rest(self) -> bool:
        """End the process, unless it is being asked; the next question starts another."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._end()
        finally:
            self._turn.release()
        return True

    def _lower(self, process: subprocess.Popen[bytes]) -> None:
        """Let others go first, until the process starts again: the way back needs privileges."""
        if not self._lowered:
            self._lowered = True
            with suppress(OSError, AttributeError):
                os.setpriority(os.PRIO_PROCESS, process.pid, LOWERED)

    def close(self) -> None:
        """End the process, now, and start no other."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # whoever waits for its answer is told, and gives up the turn
        if self._turn.acquire(timeout=CLOSE_S):
            self._end()
            self._turn.release()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """A turn, for who comes before the wait is over."""
        self._refuse()
        wait = self.limits.seconds
        if not self._turn.acquire(timeout=wait):
            said = f"others have been asking the model for more than {wait:g} s"
            raise UnavailableError(said, retry_s=5)
        try:
            self._refuse()
            yield
        finally:
            self._turn.release()

    def _refuse(self) -> None:
        """Raise where nothing is to be asked now."""
        if self._closed:
            raise UnavailableError("the project is closed, or the server is ending", retry_s=5)
        left = self._paused_until - time.monotonic()
        if left > 0:
            wait = ceil(left)
            raise UnavailableError(f"{self._why}; it is asked again in {wait} s", retry_s=wait)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        version = _version(self.source)
        if self._broken is not None and self._broken[0] == version:
            raise ModelFileError(self._broken[1])
        process = self._process = self._started()
        content, seconds = _content(self.source), self.limits.opening_s
        said, _ = self._exchange(process, content, seconds, MOST_SAID, slow_s=seconds)
        if "refused" in said:
            self._end()
            self._broken = version, f"{self.source}: {said['refused']}"
            raise ModelFileError(self._broken[1])
        self._face, self.sha256 = said["face"], sha256(content).hexdigest() if content else None
        _log_once(tuple(map(str, said["missing"])))
        return process

    def _started(self) -> subprocess.Popen[bytes]:
        self._places.take(self)
        self.starts += 1
        self._late = self._lowered = False
        order = {"memory_mb": self.limits.memory_mb, "cpu_s": ceil(self.limits.seconds)}
        recipe = self.source if isinstance(self.source, str) else None
        said = json.dumps({**order, "parent": os.getpid(), "recipe": recipe})
        self._folder = tempfile.TemporaryDirectory(prefix="macex-")
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "macex.server.workers.worker", said],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env=surroundings(),
        )
        if self._closed:
            process.kill()
        if self._was_late:
            self._lower(process)
        return process

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        content: bytes,
        seconds: float,
        most: int,
        *,
        slow_s: float = SLOW_S,
    ) -> tuple[dict[str, Any], Any]:
        questions, answers = _ends(process)
        now = time.monotonic()
        self._until, self._slow_at, self._busy = now + seconds, now + slow_s, True
        try:
            send(questions, content)
            found = unpacked(receive(answers, most))
        except (*BROKEN, MemoryError, RecursionError):
            raise self._lost(process, seconds) from None
        finally:
            self._busy, self.asked = False, time.monotonic()
        slowish = slow_s == SLOW_S and self.asked - now > SLOWISH_S
        self._slowish = self._slowish + 1 if slowish else 0
        if self._slowish >= SLOWISH:
            self._lower(process)
        return found

    def _lost(self, process: subprocess.Popen[bytes], seconds: float) -> UnavailableError:
        """What to tell those who asked a process that did not answer."""
        process.kill()
        code = process.wait()
        self._end()
        if self._closed:
            return UnavailableError("the project is closed, or the server is ending", retry_s=5)
        if self._late or code == -getattr(signal, "SIGXCPU", 0):
            why = f"the model took more than {seconds:g} s for one call"
            self._was_late = True
        elif code in (-signal.SIGSEGV, -signal.SIGABRT, -getattr(signal, "SIGBUS", 7)):
            why = f"the model crashed its process (signal {-code})"
        else:
            why = "the model's process ended, or said what no model says"
        self._failures += 1
        pause = min(LONGEST_PAUSE_S, 2.0**self._failures)
        self._paused_until, self._why = time.monotonic() + pause, why
        LOG.warning("worker lost", extra={"model": str(self.source), "why": why, "code": code})
        said = f"{why}; it is asked again in {ceil(pause)} s"
        return UnavailableError(said, retry_s=pause, lost=why)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._places.leave(self)
        if process is None:
            return
        process.kill()
        for pipe in _ends(process):
            with suppress(OSError):
                pipe.close()
        process.wait()
        if self._folder is not None:
            self._folder.cleanup()


def _version(source: Source) -> tuple[int, int]:
    """What is another when a file is."""
    if isinstance(source, str):
        return 0, 0
    stat = source.stat()
    return stat.st_mtime_ns, stat.st_size


def _content(source: Source) -> bytes:
    return b"" if isinstance(source, str) else source.read_bytes()


@contextmanager
def silenced(worker: Worker, why: str) -> Iterator[None]:
    """Answer every question to a worker with an error meanwhile, without asking it."""
    token = SILENCED.set((worker, why))
    try:
        yield
    finally:
        SILENCED.reset(token)


def _ends(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise TypeError("a worker has pipes")
    return process.stdin, process.stdout


_told: set[tuple[str, ...]] = set()


def _log_once(missing: tuple[str, ...]) -> None:
    if missing and missing not in _told:
        _told.add(missing)
        LOG.warning("this system does not confine workers fully", extra={"open": list(missing)})


class Places:
    """So many processes; where all are taken, the one that was asked longest ago is ended."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = RLock()
        self._taken: set[Worker] = set()

    def take(self, worker: Worker) -> None:
        """A place for a worker that is about to start, or an error that says to come back."""
        with self._lock:
            if worker not in self._taken and len(self._taken) >= self.most:
                self._end_one()
            self._taken.add(worker)

    def leave(self, worker: Worker) -> None:
        """The process of a worker has ended."""
        with self._lock:
            self._taken.discard(worker)

    def _end_one(self) -> None:
        now = time.monotonic()
        for other in sorted(self._taken, key=lambda one: one.asked):
            if now - other.asked > RESTS_S and other.rest():
                return
        raise UnavailableError(
            f"{self.most} models are being asked, and no more may run at once", retry_s=2
        )
