"""Runs tasks, here or in several processes, and keeps every outcome as it comes.

Tasks that share a fitted model go to one process, one after the other. A task that raises is an
outcome with the message, and the rest goes on; so it does when a whole process dies.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing import connection
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from macex.bench.cells import BenchCells
from macex.bench.code import code_version
from macex.bench.methods import read_plugin
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop

Measure = Callable[[BenchTask, Workshop], TaskOutcome]
Report = Callable[[TaskOutcome], None]

DIED = "the process that measured it died"


@dataclass(frozen=True)
class BenchJob:
    """What a process is told: where data are, whose methods to load, how to measure each kind."""

    measures: Callable[[], dict[str, Measure]]
    folder: str | None = None
    plugins: Sequence[Path] = ()

    def workshop(self) -> Workshop:
        """A workshop of its own."""
        return Workshop(BenchCells(self.folder))


def run(
    tasks: Iterable[BenchTask],
    results: Results,
    job: BenchJob,
    *,
    jobs: int = 1,
    workshop: Workshop | None = None,
    report: Report = lambda _: None,
) -> None:
    """Do the tasks that are not done."""
    groups = grouped(task for task in dict.fromkeys(tasks) if not results.done(task))
    if not groups:
        return
    if jobs == 1:
        shop = workshop or job.workshop()
        outcomes: Iterator[TaskOutcome] = chain.from_iterable(
            measured(group, job, shop) for group in groups
        )
    else:
        outcomes = _in_processes(groups, job, jobs)
    for outcome in outcomes:
        results.add(outcome)
        report(outcome)


def grouped(tasks: Iterable[BenchTask]) -> list[list[BenchTask]]:
    """Tasks by the model they share, in the order in which the models are first asked for."""
    groups: dict[tuple[str, str, int], list[BenchTask]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return list(groups.values())


def measured(
    group: Iterable[BenchTask], job: BenchJob, workshop: Workshop
) -> Iterator[TaskOutcome]:
    """One outcome after the other, on one thread."""
    measures = job.measures()
    for task in group:
        began = time.process_time()
        try:
            with threadpool_limits(1):
                outcome = measures[task.kind](task, workshop)
        except Exception as error:  # noqa: BLE001  # whatever a method does, the rest goes on
            outcome = TaskOutcome(task, error=f"{type(error).__name__}: {error}")
        outcome.cost["task_cpu"] = time.process_time() - began
        yield replace(outcome, code=code_version())


def _in_processes(
    groups: Iterable[list[BenchTask]], job: BenchJob, jobs: int
) -> Iterator[TaskOutcome]:
    """The outcomes of all groups as they come, from a process for each group.

    Where a process dies, the task it was at gets that as its error, and another does the rest.
    """
    waiting, running = deque(groups), dict[Any, list[BenchTask]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                group = waiting.popleft()
                running[_started(group, job)] = list(group)
            for inbox in connection.wait(list(running)):
                outcome = _received(inbox, running[inbox])
                if outcome is not None:
                    running[inbox].remove(outcome.task)
                    yield outcome
                if outcome is None or (outcome.error == DIED):
                    left = running.pop(inbox)
                    waiting.extend([left] if left else [])
    finally:
        for inbox in running:
            inbox.close()


def _started(group: list[BenchTask], job: BenchJob) -> Any:
    """The end of a pipe on which a new process tells the outcomes of a group."""
    context = multiprocessing.get_context("spawn")
    inbox, outbox = context.Pipe(duplex=False)
    context.Process(target=_work, args=(group, job, outbox), daemon=True).start()
    outbox.close()
    return inbox


def _received(inbox: Any, left: list[BenchTask]) -> TaskOutcome | None:
    """The next outcome; None where all were told."""
    try:
        outcome: TaskOutcome = inbox.recv()
        return outcome
    except EOFError:
        inbox.close()
        return TaskOutcome(left[0], error=DIED) if left else None


def _work(group: list[BenchTask], job: BenchJob, outbox: Any) -> None:
    for path in job.plugins:
        read_plugin(path)
    for outcome in measured(group, job, job.workshop()):
        outbox.send(outcome)
