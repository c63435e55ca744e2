"""Results on disk: one line of JSON for every finished task, appended as it comes.

A run that was killed leaves whole lines and perhaps half of one, which is passed over; the next run
goes on where it ended, if it is of the same code. A task that failed is tried again, and its last
line counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from macex.bench.code import code_version
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.errors import DataError

FILE = "results.jsonl"


class Results:
    """The outcomes of a run, in memory and in `folder`; without a folder in memory alone."""

    def __init__(self, folder: Path | None = None, *, resume: bool = False) -> None:
        self.path = None if folder is None else folder / FILE
        self.code = code_version()
        self.machines: list[dict[str, Any]] = []
        self._outcomes: dict[BenchTask, TaskOutcome] = {}
        if self.path is None:
            return
        _make(self.path.parent)
        if self.path.exists() and self.path.stat().st_size and not resume:
            raise DataError(
                f"{str(self.path)!r} holds the results of a run: add --resume to go on with it, "
                "or name another folder with --out"
            )
        if self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            try:
                document = json.loads(line)
            except json.JSONDecodeError:
                continue  # half a line, or none
            try:
                self._keep(document)
            except (TypeError, KeyError) as error:
                raise DataError(
                    f"line {number} of {str(path)!r} was not written by this version of macex: "
                    "name another folder with --out"
                ) from error

    def _keep(self, document: Any) -> None:
        if "machine" in document:
            if document["machine"] not in self.machines:
                self.machines.append(document["machine"])
            return
        outcome = TaskOutcome.read(document)
        if outcome.code != self.code:
            raise DataError(
                f"{str(self.path)!r} holds results of other code ({outcome.code or 'unknown'}; "
                f"this is {self.code}), and a page shows one: name another folder with --out"
            )
        self._outcomes[outcome.task] = outcome

    def start(self, machine: dict[str, Any]) -> None:
        """Note by which versions, on what machine, the lines that follow were made."""
        self._write("")  # ends the half line of a killed run
        if machine not in self.machines:
            self.machines.append(machine)
        self._write(json.dumps({"machine": machine}))

    def add(self, outcome: TaskOutcome) -> None:
        """Keep an outcome; it is on disk when this returns.

        It is of this code, unless it says otherwise: then the sources were changed meanwhile.
        """
        if outcome.code not in ("", self.code):
            raise DataError(
                f"the code was changed during the run (from {self.code} to {outcome.code}): begin "
                "anew, with another folder for --out"
            )
        outcome = replace(outcome, code=self.code)
        self._outcomes[outcome.task] = outcome
        self._write(outcome.line())

    def _write(self, line: str) -> None:
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())

    def done(self, task: BenchTask) -> bool:
        """Whether a task is finished, and without an error."""
        return task in self._outcomes and self._outcomes[task].error is None

    def __iter__(self) -> Iterator[TaskOutcome]:
        return iter(self._outcomes.values())

    def __len__(self) -> int:
        return len(self._outcomes)

    def get(self, task: BenchTask) -> TaskOutcome | None:
        """The outcome of a task; None where it was not done."""
        return self._outcomes.get(task)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"--out {str(folder)!r} is no folder to write to: {error}") from error
