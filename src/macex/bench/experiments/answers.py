"""The measurement behind most tables: a method answers a block of a cell's queries."""

from __future__ import annotations

from typing import Any

import pandas as pd

from macex.bench.judge import Record
from macex.bench.methods import Build
from macex.bench.plan import BLOCK
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import BenchClock, Workshop, frames, remarks

EMPTY: Record = {"found": 0, "returned": 0, "own": False, "proved": False, "counterfactuals": []}


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Ask for a block at once, and judge what comes; the first block by all measures."""
    return measure_with(task, workshop, None)


def measure_with(task: BenchTask, workshop: Workshop, build: Build | None) -> TaskOutcome:
    """The same with a method that is no entry of the registry."""
    cell, built = workshop.cell(task), workshop.built(task, build)
    rows = cell.queries(task.stop, task.start)
    clock = BenchClock(cell)
    try:
        records = _answered(task, workshop, clock, built.explainer, rows)
    except Exception:  # noqa: BLE001  # a method may fail on one query: find which
        clock = BenchClock(cell)
        records = [
            _alone(task, workshop, clock, built.explainer, rows.iloc[[at]])
            for at in range(len(rows))
        ]
    return TaskOutcome(task, records, {**clock.cost, "setup": built.seconds})


def _answered(
    task: BenchTask, workshop: Workshop, clock: BenchClock, explainer: Any, rows: pd.DataFrame
) -> list[Record]:
    found = clock.ask(explainer, rows, task.n)
    said = remarks(found, len(rows))
    early = task.start < BLOCK and task.n == 1
    records = workshop.judge(task)(rows, frames(found, len(rows)), task.n, outliers=early)
    return [{**record, **remark} for record, remark in zip(records, said, strict=True)]


def _alone(
    task: BenchTask, workshop: Workshop, clock: BenchClock, explainer: Any, row: pd.DataFrame
) -> Record:
    try:
        return _answered(task, workshop, clock, explainer, row)[0]
    except Exception as error:  # noqa: BLE001  # it is counted, not fatal
        label = workshop.cell(task).model.predict(row)[0]
        return {
            **EMPTY,
            "label": label.item() if hasattr(label, "item") else label,
            "diversity": [0.0, 0.0, 0.0],
            "error": f"{type(error).__name__}: {error}",
        }
