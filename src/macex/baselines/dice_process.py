"""The parent's side of `dice_worker`: starting it, asking it, ending it when it takes too long."""

from __future__ import annotations

import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from macex.baselines import dice_worker
from macex.baselines.dice_worker import Head, receive, send
from macex.errors import OptionError
from macex.schema import Array

PEERS_VARIABLE = "MACEX_PEERS"
PEERS = Path(".venv-peers")
Message = tuple[Head, list[Array]] | None


class TookTooLong(Exception):  # noqa: N818 - it is what happened
    """The worker was ended because a request took too long."""


class Refused(Exception):  # noqa: N818 - the same
    """The worker answered with an error, or died."""


def peers_python(given: str | None) -> str:
    """The interpreter that has dice-ml: the one given, of the environment, or of `.venv-peers`."""
    wanted = given or os.environ.get(PEERS_VARIABLE)
    inside = Path("Scripts") / "python.exe" if os.name == "nt" else Path("bin") / "python"
    path = Path(wanted) if wanted else PEERS / inside
    if path.is_dir():
        path /= inside
    if not path.exists():
        raise OptionError(
            f"there is no environment with dice-ml at {str(path)!r}: `make peers` makes one, or "
            f"name its Python with python= or {PEERS_VARIABLE}"
        )
    return str(path.absolute())


class Process:
    """A worker that is started when first needed, and again after it had to be ended."""

    def __init__(self, python: str) -> None:
        self.python = python
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._inbox: queue.Queue[Message] = queue.Queue()
        self.table: tuple[str, ...] | None = None  # the columns it has been told of
        self.goals: set[str] = set()

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
        until = None if seconds is None else time.monotonic() + seconds
        try:
            self._send(head, *arrays)
            reply, found = self._next(until)
            while reply["is"] == "rows":
                self._send({}, answer(found[0]))
                reply, found = self._next(until)
        except BrokenPipeError as error:
            raise self._death() from error
        except BaseException:
            self.end()
            raise
        if reply["is"] == "error":
            raise Refused(reply["said"])
        return found

    def warm(self, method: str) -> None:
        """Start the worker and have it import what `method` needs; an error if it cannot."""
        try:
            self.request({"do": "warm", "method": method}, answer=np.asarray, seconds=None)
        except Refused as error:
            self.close()
            raise OptionError(f"{self.python!r} cannot run dice-ml: {error}") from error

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
        script = str(Path(dice_worker.__file__))
        self._said.seek(0)
        self._said.truncate()
        self._child = subprocess.Popen(  # noqa: S603 - the interpreter that the caller named
            [self.python, "-I", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
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
