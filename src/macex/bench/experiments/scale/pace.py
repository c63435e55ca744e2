"""How fast rows are explained: by one process, by two, and whether more rows cost more each."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from copy import deepcopy
from statistics import mean, median
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from macex.bench.cells import Cell, fitted, pipeline
from macex.bench.experiments.scale.crowd import crowd
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import BenchClock, Workshop, alone
from macex.datasets import Dataset
from macex.explainer import Explainer
from macex.scale.frames import explain_frames

CHUNKS = 40  # that a comparison of workers is cut into
PAIRS = 6  # of runs by one process and by two
WARM = 6  # chunks after which all workers are at work
CHUNK = 1_000  # rows of a chunk where a long run is compared with a short one
SIZES = (10_000, 100_000)
PROBES = 50  # chunks up to each size that are compared, about


def one_process(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Seconds in all and in the model, of frames of 4,096 rows, and the pace of the quickest one.

    What else a machine does can only make a frame slower, so it is the quickest that tells the pace
    of a quiet machine. All is measured on one thread; the pace also with the threads that the model
    would take by itself.
    """
    cell = workshop.cell(task) if task.model not in OTHERS else _other(task, workshop)
    explainer = Explainer(cell.model, cell.train)
    frames = list(crowd(cell.dataset, task.stop))
    explainer.explain(frames[0].head(100))
    clock = BenchClock(cell)
    narrow = _paces(clock, explainer, frames)
    with threadpool_limits(os.cpu_count()):
        paces = _paces(BenchClock(cell), explainer, frames)
    found = {"quickest": max(paces), "usual": median(paces), "one_thread": max(narrow)}
    return TaskOutcome(task, [], clock.cost | found | {"alone_cpu": alone(cell, frames)})


def _paces(clock: BenchClock, explainer: Explainer, frames: list[pd.DataFrame]) -> list[float]:
    """Rows a second, frame by frame."""
    paces = []
    for frame in frames:
        before = clock.cost["seconds"]
        clock.ask(explainer, frame, 1)
        paces.append(len(frame) / (clock.cost["seconds"] - before))
    return paces


def linear(dataset: Dataset) -> Any:
    """A logistic regression, not yet fitted."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    return pipeline(dataset, StandardScaler(), LogisticRegression(max_iter=300))


def forest(dataset: Dataset) -> Any:
    """100 trees of depth 12, not yet fitted."""
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(100, max_depth=12, random_state=0)
    return pipeline(dataset, "passthrough", trees)


OTHERS = {"linear": linear, "forest": forest}


def _other(task: BenchTask, workshop: Workshop) -> Cell:
    """A cell of a model that the paper's tables do not have."""
    return fitted(workshop.cells.dataset(task.dataset), task.model, OTHERS[task.model])


def workers(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Rows a second by one process and by two next to it in time, once all are at work.

    A pair is a record: the speed of a machine that others use goes up and down, and a lucky moment
    of one core is no moment of two.
    """
    cell = workshop.cell(task)
    explainer = Explainer(cell.model, cell.train)
    frames = list(crowd(cell.dataset, task.stop, size=max(1, task.stop // CHUNKS)))
    turns = [(1, 2) if turn % 2 else (2, 1) for turn in range(PAIRS)]
    pairs = [{f"jobs{jobs}": steady(explainer, frames, jobs) for jobs in turn} for turn in turns]
    return TaskOutcome(task, pairs)


def steady(explainer: Explainer, frames: list[pd.DataFrame], jobs: int) -> float:
    """Rows a second after the first few chunks."""
    ends = [time.perf_counter() for _ in explain_frames(explainer, frames, jobs=jobs)]
    rows = sum(len(frame) for frame in frames[WARM + 1 :])
    return rows / max(ends[-1] - ends[WARM], 1e-9)


def flat(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """CPU a row of an explainer that answers many rows, and of a fresh one for the same rows.

    A fresh one answers some of the chunks again, next to it in time: a machine whose speed goes
    up and down is no price that grows. Each record has the means of those up to its `rows` since
    the record before.
    """
    cell = workshop.cell(task)
    explainer = Explainer(cell.model, cell.train)
    unused = deepcopy(explainer)
    warm = next(crowd(cell.dataset, 100))
    explainer.explain(warm)
    ends = [size for size in SIZES if size < task.stop] + [task.stop]
    pairs: dict[int, list[tuple[float, float]]] = {end: [] for end in ends}
    for turn, frame in enumerate(crowd(cell.dataset, task.stop, size=CHUNK)):
        seen = min(task.stop, (turn + 1) * CHUNK)
        end = next(end for end in ends if seen <= end)
        if turn % max(1, end // CHUNK // PROBES) and seen < end:
            _drain(explain_frames(explainer, [frame]))
            continue
        fresh = deepcopy(unused)
        fresh.explain(warm)
        first, second, third, last = (
            _cpu_ms(asked, frame) for asked in (explainer, fresh, fresh, explainer)
        )
        pairs[end].append(((first + last) / 2, (second + third) / 2))
    records = [
        {
            "rows": end,
            "cpu_ms": mean(one for one, _ in found),
            "fresh_ms": mean(two for _, two in found),
        }
        for end, found in pairs.items()
        if found
    ]
    return TaskOutcome(task, records)


def _cpu_ms(explainer: Explainer, frame: pd.DataFrame) -> float:
    """Milliseconds of CPU a row."""
    began = time.process_time()
    _drain(explain_frames(explainer, [frame]))
    return 1000 * (time.process_time() - began) / len(frame)


def _drain(made: Iterable[Any]) -> None:
    for _ in made:
        pass
