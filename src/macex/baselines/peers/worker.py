"""The script of a peer's process: it runs one program and asks its parent for predictions.

It is started by the Python of another environment and imports nothing of macex. Messages go over
stdin and stdout: a line of JSON, which says how long the arrays after it are, then the arrays as
`.npy` bytes. Nothing is pickled, and the caller's model never leaves the parent: where a program
wants predictions, the worker sends rows of numbers and waits for their scores.

    parent                                       worker
    {"do": "warm", ...}                     ->
    {"do": "open", ...}  training rows      ->
    {"do": "goal", ...}  which of them meet ->
                                            <-   {"is": "rows"}   rows to be scored
    {}                   their scores       ->
                                            <-   {"is": "done"}
    {"do": "explain", ...} a query          ->
                                            <-   {"is": "rows"}   ... any number of times
                                            <-   {"is": "done"}   rows, or {"is": "error"}

Every reply says what the work took by the clock and of the CPU. What goes through the pipe, and the
wait for scores, is not part of it.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

Head = dict[str, Any]


def send(stream: BinaryIO, head: Head, *arrays: Any) -> None:
    """Write a message."""
    bodies = []
    for array in arrays:
        body = io.BytesIO()
        np.save(body, np.asarray(array), allow_pickle=False)
        bodies.append(body.getvalue())
    line = json.dumps({**head, "sizes": [len(body) for body in bodies]})
    stream.write(line.encode() + b"\n" + b"".join(bodies))
    stream.flush()


def receive(stream: BinaryIO) -> tuple[Head, list[Any]]:
    """Read a message; EOFError when the other side is gone.

    >>> pipe = io.BytesIO()
    >>> send(pipe, {"is": "rows"}, np.arange(3))
    >>> _ = pipe.seek(0)
    >>> receive(pipe)
    ({'is': 'rows', 'sizes': [152]}, [array([0, 1, 2])])
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError("the other side is gone")
    head = json.loads(line)
    arrays = []
    for size in head["sizes"]:
        body = stream.read(size)
        if len(body) < size:
            raise EOFError("the other side is gone")
        arrays.append(np.load(io.BytesIO(body), allow_pickle=False))
    return head, arrays


class PeerWorker:
    """The program that the parent asked for, and the time it has spent on a request."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.program: Any = None
        self.waited, self.idle = 0.0, 0.0  # by the clock, of the CPU

    def ask(self, codes: Any) -> Any:
        """The parent's scores for rows of codes."""
        clock, worked = time.perf_counter(), time.process_time()
        send(self.stdout, {"is": "rows"}, codes)
        _, (score,) = receive(self.stdin)
        self.waited += time.perf_counter() - clock
        self.idle += time.process_time() - worked
        return score

    def do(self, head: Head, arrays: list[Any]) -> tuple[Any, ...]:
        """What the program answers to a request."""
        if head["do"] == "warm":
            self.program = load(head["program"])(self.ask, head["options"])
            return ()
        if "seed" in head:
            seed(head["seed"])
        found = getattr(self.program, head["do"])(head, arrays)
        return found if isinstance(found, tuple) else () if found is None else (found,)

    def timed(self, head: Head, arrays: list[Any]) -> tuple[Head, tuple[Any, ...]]:
        """The same, and what it took; whatever the program raises is an answer."""
        self.waited, self.idle = 0.0, 0.0
        clock, worked = time.perf_counter(), time.process_time()
        try:
            reply: Head = {"is": "done"}
            found = self.do(head, arrays)
        except EOFError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a program raises is an answer
            reply, found = {"is": "error", "said": f"{type(error).__name__}: {error}"[:500]}, ()
        reply["seconds"] = time.perf_counter() - clock - self.waited
        reply["cpu"] = time.process_time() - worked - self.idle
        return reply, found


def load(name: str) -> Any:
    """The class of a program, by the name of its file."""
    path = Path(__file__).parent / "programs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"program_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no program {name!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Program


def seed(number: int) -> None:
    """Seed all generators that a program draws from; this process has no other use for them."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - it is the program that uses it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def main() -> None:
    """Answer the parent until it is gone; what a program prints goes to stderr."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = PeerWorker(sys.stdin.buffer, stdout)
    while True:
        try:
            reply, found = worker.timed(*receive(worker.stdin))
        except EOFError:
            return
        send(stdout, reply, *found)


if __name__ == "__main__":
    main()
