"""The parent's side of `worker`: starting it, asking it, ending it when it takes too long."""

from __future__ import annotations

import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from macex.baselines.peers import worker
from macex.baselines.peers.worker import Head, receive, send
from macex.errors import OptionError
from macex.schema import Array

PEERS_VARIABLE = "MACEX_PEERS"
PEERS = Path(".venv-peers")
INSIDE = Path("Scripts") / "python.exe" if os.name == "nt" else Path("bin") / "python"
Message = tuple[Head, list[Array]] | None


class TookTooLong(Exception):  # noqa: N818 - it is what happened
    """The worker was ended because a request took too long."""


class Refused(Exception):  # noqa: N818 - the same
    """The worker answered with an error, or died."""


@dataclass(frozen=True)
class Program:
    """A program to run: the file of the worker's, what people call it, and its environment.

    `room` is the environment of its own that it has within `.venv-peers`, where its versions clash
    with those of the others.
    """

    file: str
    title: str
    room: str = ""

    def python(self, given: str | None = None) -> str:
        """Its interpreter: the one given, that of the environment variable, or of `make peers`."""
        wanted = Path(given or os.environ.get(PEERS_VARIABLE) or PEERS)
        if wanted.is_file() and (given or not self.room):
            path = wanted
        else:
            path = (wanted.parent.parent if wanted.is_file() else wanted) / self.room / INSIDE
        if not path.exists():
            raise OptionError(
                f"there is no environment with {self.title} at {str(path)!r}: `make peers` makes "
                f"one, or name its Python with python= or {PEERS_VARIABLE}"
            )
        return str(path.absolute())


class Process:
    """A worker that is started when first needed, and again after it had to be ended.

    `seconds` and `cpu` add up what explaining took inside the worker, by the clock and of the CPU,
    without what went through the pipe; `setup` is the CPU of everything before.
    """

    def __init__(self, python: str, program: Program, options: Mapping[str, Any]) -> None:
        self.python, self.program, self.options = python, program, dict(options)
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._inbox: queue.Queue[Message] = queue.Queue()
        self.table: tuple[str, ...] | None = None  # the columns it has been told of
        self.goals: set[str] = set()
        self.seconds, self.cpu, self.setup = 0.0, 0.0, 0.0

    def request(
        self,
        head: Head,
        *arrays: Array,
        answer: Callable[[Array], Array],
        seconds: float | None,
    ) -> list[Array]:
        """What the worker returns; the rows it wants scored on the way are given to `answer`.

        Where `answer` raises, the worker, which still waits for it, is ended.
        """
        if self._child is None and head["do"] != "warm":
            self.request(self._warm, answer=np.asarray, seconds=None)
        began = time.monotonic()
        until = None if seconds is None else began + seconds
        try:
            self._send(head, *arrays)
            reply, found = self._next(until)
            while reply["is"] == "rows":
                self._send({}, answer(found[0]))
                reply, found = self._next(until)
        except BrokenPipeError as error:
            raise self._death() from error
        except TookTooLong:
            took = time.monotonic() - began
            self._spent(head, took, took)
            raise
        except BaseException:
            self.end()
            raise
        self._spent(head, reply["seconds"], reply["cpu"])
        if reply["is"] == "error":
            raise Refused(reply["said"])
        return found

    def _spent(self, head: Head, seconds: float, cpu: float) -> None:
        if head["do"] == "explain":
            self.seconds += seconds
            self.cpu += cpu
        else:
            self.setup += cpu

    @property
    def _warm(self) -> Head:
        return {"do": "warm", "program": self.program.file, "options": self.options}

    def warm(self) -> None:
        """Start the worker and have it import what it needs; an error if it cannot."""
        try:
            self.request(self._warm, answer=np.asarray, seconds=None)
        except Refused as error:
            self.close()
            message = f"{self.python!r} cannot run {self.program.title}: {error}"
            raise OptionError(message) from error

    def end(self) -> None:
        """End the worker, if there is one."""
        child, self._child = self._child, None
        self.table, self.goals = None, set()
        if child is not None:
            child.kill()
            child.wait()
            for pipe in filter(None, (child.stdin, child.stdout)):
                with suppress(OSError):  # bytes that nobody will read
                    pipe.close()

    def close(self) -> None:
        """End the worker for good."""
        self.end()
        self._said.close()

    def _next(self, until: float | None) -> tuple[Head, list[Array]]:
        try:
            left = None if until is None else max(0.0, until - time.monotonic())
            message = self._inbox.get(timeout=left)
        except queue.Empty:
            self.end()
            raise TookTooLong from None
        if message is None:
            raise self._death()
        return message

    def _send(self, head: Head, *arrays: Array) -> None:
        if self._child is None:
            self._start()
        if self._child is not None and self._child.stdin is not None:
            send(self._child.stdin, head, *arrays)  # type: ignore[arg-type]

    def _start(self) -> None:
        script = str(Path(worker.__file__))
        self._said.seek(0)
        self._said.truncate()
        self._child = subprocess.Popen(  # noqa: S603 - the interpreter that the caller named
            [self.python, "-I", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={"OMP_NUM_THREADS": "1", **os.environ},
        )
        self._inbox = queue.Queue()
        reader = threading.Thread(target=_read, args=(self._child.stdout, self._inbox), daemon=True)
        reader.start()

    def _death(self) -> Refused:
        """What the worker said last."""
        self.end()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return Refused(f"the process ended: {lines[-1] if lines else 'it said nothing'}")


def _read(stream: Any, inbox: queue.Queue[Message]) -> None:
    """Put the worker's messages into the inbox, and None when there are no more."""
    try:
        while True:
            inbox.put(receive(stream))
    except (EOFError, OSError, ValueError):
        inbox.put(None)
