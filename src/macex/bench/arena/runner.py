"""Does what is not done, cell by cell: builds methods, asks them, and has the answers measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from macex.bench.arena.cells import ArenaCell, ArenaCells
from macex.bench.arena.entries import asked, entries, fingerprint
from macex.bench.arena.layout import ArenaTask, done, write_part
from macex.bench.arena.memory import MemoryPeak
from macex.bench.arena.referee import ArenaReferee, Line
from macex.bench.arena.tables import ArenaTable
from macex.bench.code import code_version
from macex.bench.workshop import BenchClock, frames
from macex.explanation import Explanations

TIME_A_QUERY = 5.0  # seconds


@dataclass(frozen=True)
class ArenaJob:
    """What every process of a run needs to know."""

    out: Path
    folder: str | None = None
    own: str | None = None
    added: tuple[ArenaTable, ...] = ()

    def code(self, method: str) -> str:
        """The version of the code that a method's results rest on."""
        return code_version() + fingerprint(method, self.own)


Tell = Callable[[ArenaTask, float], None]


def run(tasks: Sequence[ArenaTask], job: ArenaJob, jobs: int, tell: Tell) -> None:
    """Do the tasks that are not done; `tell` hears of each, with its CPU seconds."""
    for task, seconds in _outcomes(_groups(tasks, job), job, jobs):
        tell(task, seconds)


def undone(tasks: Sequence[ArenaTask], job: ArenaJob) -> list[ArenaTask]:
    """What is still to do."""
    return sorted(
        task for task in dict.fromkeys(tasks) if not done(job.out, task, job.code(task.method))
    )


def _groups(tasks: Sequence[ArenaTask], job: ArenaJob) -> list[list[ArenaTask]]:
    """The tasks of each cell, which one process does with one fitted model."""
    todo = undone(tasks, job)
    return [list(group) for _, group in groupby(todo, lambda t: (t.dataset, t.model, t.split))]


def _outcomes(
    groups: list[list[ArenaTask]], job: ArenaJob, jobs: int
) -> Iterator[tuple[ArenaTask, float]]:
    if jobs == 1 or len(groups) < 2:
        for group in groups:
            yield from _done(group, job)
        return
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for told in work(delayed(_together)(group, job) for group in groups):
        yield from told


def _together(group: list[ArenaTask], job: ArenaJob) -> list[tuple[ArenaTask, float]]:
    return list(_done(group, job))


def _done(group: Sequence[ArenaTask], job: ArenaJob) -> Iterator[tuple[ArenaTask, float]]:
    cells = ArenaCells(job.folder, job.added)
    cell = cells.get(group[0].dataset, group[0].model, group[0].split)
    referee = ArenaReferee(cell)
    for task in group:
        began = time.process_time()
        lines = measure(task, cell, referee, job.own)
        took = time.process_time() - began
        common = {**task.keys, "took": took, "code": job.code(task.method)}
        write_part(job.out, task, [{**line, **common} for line in lines])
        yield task, took


def measure(
    task: ArenaTask, cell: ArenaCell, referee: ArenaReferee, own: str | None = None
) -> list[Line]:
    """The lines of one task; what a method raises is a line for every query."""
    most = len(cell.cell.dataset.split(task.split)[1])
    rows = cell.cell.queries(min(task.queries, most))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's libraries
            return _lines(task, cell, referee, own, rows)
    except Exception as error:  # noqa: BLE001  # the other methods go on
        nothing = {"rank": 0, "valid": False, "error": f"{type(error).__name__}: {error}"}
        return [{"query": query, **nothing} for query in range(len(rows))]


def _lines(
    task: ArenaTask, cell: ArenaCell, referee: ArenaReferee, own: str | None, rows: Any
) -> list[Line]:
    began = time.process_time()
    made = entries(own)[task.method](cell.model, cell.train, task.seed)
    setup = time.process_time() - began
    options = {
        "n": task.n,
        "want": cell.wants(rows),
        "constraints": cell.table.constraints,
        "max_rows": task.budget,
        "timeout_s": TIME_A_QUERY * len(rows),
    }
    clock, memory = BenchClock(cell.cell), MemoryPeak()
    found = clock.asked(made, rows, lambda: asked(made, rows, options))
    taken = memory.mib()
    close = getattr(made, "close", None)
    if close is not None:
        close()
    lines = referee(rows, [one.head(task.n) for one in frames(found, len(rows))])
    shared = {"seconds": clock.cost["cpu"] / len(rows), "setup": setup, "memory": taken}
    costs = _costs(found, clock, len(rows))
    return [{**line, **shared, **costs[line["query"]]} for line in lines]


def _costs(found: Any, clock: BenchClock, count: int) -> list[dict[str, float]]:
    """Rows and calls of each query: its own where they are known, else the mean of the meter."""
    if isinstance(found, Explanations):
        return [{"rows": one.cost.rows, "calls": one.cost.calls} for one in found]
    return [{"rows": clock.cost["rows"] / count, "calls": clock.cost["calls"]}] * count
