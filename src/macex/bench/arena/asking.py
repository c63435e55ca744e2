"""A method is built and asked: here, or in a process of its own where it is a stranger's.

Of a stranger nothing is taken on trust. Its rows are counted where the model is called, which
answers no more of them than the budget allows; and its process is ended when its time is over.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from macex.bench.arena.entries import asked, entries, is_stranger
from macex.bench.arena.memory import MemoryPeak
from macex.bench.cells import Cell
from macex.bench.metered import attach
from macex.bench.workshop import BenchClock, frames
from macex.explainer import Explainer
from macex.explanation import Explanations

BUILDING = 60.0  # seconds that a stranger's process has before its time begins
QUESTION, REPLY = "question.pickle", "reply.pickle"


@dataclass(frozen=True)
class ArenaQuestion:
    """What is asked of one method in one cell."""

    cell: Cell
    method: str
    own: str | None  # the file of a stranger's method
    seed: int
    rows: pd.DataFrame
    options: Mapping[str, Any]
    learnt: Mapping[str, Any] = field(default_factory=dict)
    """What everybody else would learn from the training rows, too: how real rows look."""

    @property
    def most(self) -> int:
        """The most rows that a stranger may ask the model about."""
        return int(self.options["max_rows"]) * len(self.rows)


@dataclass(frozen=True)
class ArenaReply:
    """Frames of answers, one for each row, and what they took, for each row."""

    answers: list[pd.DataFrame]
    costs: list[dict[str, float]]


class StrangerError(Exception):
    """What went wrong in a stranger's process, in words."""


def ask(question: ArenaQuestion) -> ArenaReply:
    """Build the method and ask it; raises what it raises."""
    if is_stranger(question.method):
        return _asked_apart(replace(question, learnt={}))
    return answer(question)


def answer(question: ArenaQuestion, most: int | None = None) -> ArenaReply:
    """The same in this process; the model answers `most` rows."""
    cell, rows = question.cell, question.rows
    began = time.process_time()
    build = entries(question.own)[question.method]
    made = _prepared(build(cell.model, cell.train, question.seed), question.learnt)
    setup = time.process_time() - began
    clock, memory = BenchClock(cell), MemoryPeak()
    with cell.meter.limited(most):
        found = clock.asked(made, rows, lambda: asked(made, rows, question.options))
    taken = memory.mib()
    close = getattr(made, "close", None)
    if close is not None:
        close()
    shared = {"seconds": clock.cost["cpu"] / len(rows), "setup": setup, "memory": taken}
    costs = _costs(found, clock, len(rows), trusted=most is None)
    return ArenaReply(frames(found, len(rows)), [{**shared, **cost} for cost in costs])


def _prepared(made: Any, learnt: Mapping[str, Any]) -> Any:
    """A method that learns nothing more when it is asked, as far as that is known beforehand."""
    if isinstance(made, Explainer):
        made.engine.fitted.learnt.update(learnt)
        made.engine.fitted.prepare()
    return made


def _costs(found: Any, clock: BenchClock, count: int, *, trusted: bool) -> list[dict[str, float]]:
    """Rows and calls of each query: what the method counted itself, or the mean of the meter.

    A stranger's own figures count where they are no less than what the meter saw.
    """
    meter = {"rows": clock.cost["rows"] / count, "calls": clock.cost["calls"]}
    if isinstance(found, Explanations):
        own = [{"rows": float(one.cost.rows), "calls": float(one.cost.calls)} for one in found]
        if trusted or sum(one["rows"] for one in own) >= clock.cost["rows"]:
            return own
    return [meter] * count


def _asked_apart(question: ArenaQuestion) -> ArenaReply:
    """Ask in a new process, and end it when it takes too long."""
    seconds = BUILDING + float(question.options["timeout_s"])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / QUESTION).write_bytes(pickle.dumps(question))
        process = subprocess.Popen(  # noqa: S603  # this Python, this module
            [sys.executable, "-m", __name__, folder], stdout=2, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise StrangerError(f"TimeoutError: stopped after {seconds:.0f} seconds") from None
        finally:
            _end(process)
        reply = Path(folder) / REPLY
        if not reply.exists():
            raise StrangerError(f"its process died with the exit code {code}")
        found = pickle.loads(reply.read_bytes())  # noqa: S301  # written by `work` below
    if isinstance(found, str):
        raise StrangerError(found)
    return ArenaReply(*found)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def work(folder: Path) -> None:
    """Read the question in a folder and write the reply beside it, or the error as text."""
    question: ArenaQuestion = pickle.loads((folder / QUESTION).read_bytes())  # noqa: S301
    cell = replace(question.cell, meter=attach(question.cell.model))
    try:
        made = answer(replace(question, cell=cell), question.most)
        told: Any = (made.answers, made.costs)
    except Exception as error:  # noqa: BLE001  # what a stranger raises is its answer
        told = f"{type(error).__name__}: {error}"
    (folder / REPLY).write_bytes(pickle.dumps(told))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
