"""Does what is not done, cell by cell: builds methods, asks them, and has the answers measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from macex.bench.arena.asking import ArenaQuestion, ArenaReply, StrangerError, ask
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
Reply = ArenaReply | Exception


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
    """Ask every method of a cell, and measure all their answers together."""
    cells, first = ArenaCells(job.folder, job.added), group[0]
    began, asked_for = time.process_time(), []
    replies: list[Reply] = []
    try:
        with threadpool_limits(1):
            referee = ArenaReferee(cells.get(first.dataset, first.model, first.split))
    except Exception as error:  # noqa: BLE001  # the other cells go on
        for task in group:
            write_part(job.out, task, [{**_common(task, job), **no_cell(error)}])
            yield task, 0.0
        return
    with threadpool_limits(1):
        for task in group:
            start = time.process_time()
            replies.append(put(task, referee, job.own))
            asked_for.append(time.process_time() - start)
        lines = measured(group, referee, replies)
    shared = (time.process_time() - began - sum(asked_for)) / len(group)
    for task, mine, seconds in zip(group, lines, asked_for, strict=True):
        took = seconds + shared
        write_part(job.out, task, [{**line, **_common(task, job), "took": took} for line in mine])
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
    """The lines of one task."""
    return measured([task], referee, [put(task, referee, own)])[0]


def put(task: ArenaTask, referee: ArenaReferee, own: str | None = None) -> Reply:
    """What a method answers, or what it raised."""
    cell, rows = referee.cell, _rows(task, referee)
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
            return ask(question)
    except Exception as error:  # noqa: BLE001  # the other methods go on
        return error


def measured(
    tasks: Sequence[ArenaTask], referee: ArenaReferee, replies: Sequence[Reply]
) -> list[list[Line]]:
    """The lines of tasks of one cell; what went wrong with one is a line for every query."""
    rows, told = _rows(tasks[0], referee), zip(tasks, replies, strict=True)
    heads = [
        [one.head(task.n) for one in reply.answers] if isinstance(reply, ArenaReply) else []
        for task, reply in told
    ]
    good = [place for place, frames in enumerate(heads) if frames]
    judged: dict[int, list[Line] | Exception] = {}
    try:
        judged.update(zip(good, _judged(referee, rows, [heads[p] for p in good]), strict=True))
    except Exception:  # noqa: BLE001  # some frames cannot be measured: whose?
        judged.update((place, _alone(referee, rows, heads[place])) for place in good)
    return [_lines(judged.get(place, []), reply, len(rows)) for place, reply in enumerate(replies)]


def _judged(
    referee: ArenaReferee, rows: pd.DataFrame, replies: Sequence[Sequence[pd.DataFrame]]
) -> list[list[Line]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return referee.together(rows, replies)


def _alone(
    referee: ArenaReferee, rows: pd.DataFrame, frames: Sequence[pd.DataFrame]
) -> list[Line] | Exception:
    try:
        return _judged(referee, rows, [frames])[0]
    except Exception as error:  # noqa: BLE001  # the other methods go on
        return error


def _lines(judged: list[Line] | Exception, reply: Reply, count: int) -> list[Line]:
    """Measured lines with what the answers cost, or what went wrong."""
    if isinstance(reply, ArenaReply) and isinstance(judged, list):
        return [{**line, **reply.costs[line["query"]]} for line in judged]
    error = next(one for one in (reply, judged) if isinstance(one, Exception))
    nothing = {"rank": 0, "valid": False, "error": said(error)}
    return [{"query": query, **nothing} for query in range(count)]


def _rows(task: ArenaTask, referee: ArenaReferee) -> pd.DataFrame:
    cell = referee.cell.cell
    return cell.queries(min(task.queries, len(cell.dataset.split(task.split)[1])))
