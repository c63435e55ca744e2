"""Does what is not done, cell by cell: builds methods, asks them, and has the answers measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from macex.bench.arena.asking import ArenaQuestion, StrangerError, ask
from macex.bench.arena.cells import ArenaCells
from macex.bench.arena.entries import fingerprint
from macex.bench.arena.layout import NO_CELL, ArenaTask, done, write_part
from macex.bench.arena.referee import ArenaReferee, Line
from macex.bench.arena.tables import ArenaTable
from macex.bench.code import code_version

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
    cells, first = ArenaCells(job.folder, job.added), group[0]
    began = time.process_time()
    try:
        with threadpool_limits(1):
            referee = ArenaReferee(cells.get(first.dataset, first.model, first.split))
    except Exception as error:  # noqa: BLE001  # the other cells go on
        for task in group:
            write_part(job.out, task, [{**_common(task, job), **no_cell(error)}])
            yield task, 0.0
        return
    for task in group:  # the first pays for the model
        with threadpool_limits(1):
            lines = measure(task, referee, job.own)
        took, began = time.process_time() - began, time.process_time()
        common = {**_common(task, job), "took": took}
        write_part(job.out, task, [{**line, **common} for line in lines])
        yield task, took


def _common(task: ArenaTask, job: ArenaJob) -> Line:
    return {**task.keys, "code": job.code(task.method)}


def no_cell(error: Exception) -> Line:
    """The line of a task whose cell has no model: no method is asked about it."""
    return {"query": NO_CELL, "rank": 0, "valid": False, "error": said(error)}


def said(error: Exception) -> str:
    """What an error says of itself, and of which kind it is."""
    return str(error) if isinstance(error, StrangerError) else f"{type(error).__name__}: {error}"


def measure(task: ArenaTask, referee: ArenaReferee, own: str | None = None) -> list[Line]:
    """The lines of one task; what a method raises is a line for every query."""
    cell = referee.cell
    most = len(cell.cell.dataset.split(task.split)[1])
    rows = cell.cell.queries(min(task.queries, most))
    options = {
        "n": task.n,
        "want": cell.wants(rows),
        "constraints": cell.table.constraints,
        "max_rows": task.budget,
        "timeout_s": TIME_A_QUERY * len(rows),
    }
    told = (cell.cell, task.method, own, task.seed, rows, options)
    question = ArenaQuestion(*told, learnt=referee.learnt)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's libraries
            found = ask(question)
            lines = referee(rows, [one.head(task.n) for one in found.answers])
    except Exception as error:  # noqa: BLE001  # the other methods go on
        nothing = {"rank": 0, "valid": False, "error": said(error)}
        return [{"query": query, **nothing} for query in range(len(rows))]
    return [{**line, **found.costs[line["query"]]} for line in lines]
