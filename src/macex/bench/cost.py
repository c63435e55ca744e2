"""What answers cost: many Adult rows at once, and one at a time with a model that costs nothing."""

from __future__ import annotations

import time
from statistics import median
from typing import NamedTuple

import numpy as np
import pandas as pd

from macex.bench.cells import Cell, Cells
from macex.bench.claims import Claim, at_most
from macex.bench.metered import Metered
from macex.bench.tables import Report
from macex.datasets import Dataset, load
from macex.explainer import Explainer
from macex.schema import Array

MOST_CALLS = 60
MOST_MILLISECONDS = 10


class Spent(NamedTuple):
    """What a batch cost: calls and rows of the model, CPU seconds in all and in the model."""

    calls: int
    rows: int
    cpu: float
    model_cpu: float
    wall: float

    @property
    def engine_cpu(self) -> float:
        """CPU seconds outside the model."""
        return self.cpu - self.model_cpu


def run(cells: Cells, report: Report, batch: int = 1000, singles: int = 200) -> list[Claim]:
    """Print both tables and return what they show."""
    return [*_many(cells, report, batch), *_one(report, singles)]


def _many(cells: Cells, report: Report, batch: int) -> list[Claim]:
    table = report.table(
        f"{batch:,} Adult queries at once: CPU seconds of all threads",
        *("cell", "calls", "rows", "in all", "model", "engine", "ratio", "wall s"),
    )
    claims = []
    for kind in cells.models:
        report.progress(f"cost: adult / {kind}")
        cell = cells.get("adult", kind)
        if cell is None:
            continue
        spent = spend(cell, batch)
        ratio = spent.engine_cpu / spent.model_cpu
        table.add(cell.name, *spent[:4], spent.engine_cpu, ratio, spent.wall)
        claims += [
            at_most(f"{cell.name}, {batch:,} queries: model calls", spent.calls, MOST_CALLS),
            at_most(f"{cell.name}, {batch:,} queries: engine's CPU over the model's", ratio, 1),
        ]
    return claims


def spend(cell: Cell, batch: int) -> Spent:
    """Explain a batch of a cell's rows and take the meter's reading."""
    metered = Metered(cell.model)
    explainer = Explainer(metered, cell.train)
    rows = cell.queries(batch)
    metered.reset()
    cpu, wall = time.process_time(), time.perf_counter()
    explainer.explain(rows)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Spent(metered.calls, metered.rows, cpu, metered.cpu, wall)


def cheap(frame: pd.DataFrame) -> Array:
    """A made-up score of Adult rows: a few operations on columns."""
    married = (frame["marital_status"] == "Married").to_numpy()
    hours = frame["hours_per_week"].to_numpy()
    age = frame["age"].to_numpy()
    score: Array = 1 / (1 + np.exp(5.5 - 2 * married - hours / 20 - age / 30))
    return score


def _one(report: Report, singles: int) -> list[Claim]:
    report.progress("cost: one query at a time")
    wall, cpu = milliseconds(load("adult"), singles)
    title = f"One Adult query at a time, {singles} in all, with a model of a few array operations"
    table = report.table(title, "", "ms", "cpu ms")
    for label, share in (("median", 0.5), ("nine in ten", 0.9)):
        table.add(label, float(np.quantile(wall, share)), float(np.quantile(cpu, share)))
    sentence = "ms for one Adult query with a cheap model, median"
    return [at_most(sentence, median(wall), MOST_MILLISECONDS)]


def milliseconds(dataset: Dataset, singles: int) -> tuple[list[float], list[float]]:
    """The time of each of `singles` calls with one row, by the clock and of the CPU."""
    train, _ = dataset.split()
    explainer = Explainer(cheap, dataset.frame.iloc[train], classes=("no", "yes"))
    rows = dataset.frame.iloc[dataset.rows(singles)]
    wall, cpu = [], []
    for place in range(singles):
        row = rows.iloc[[place]]
        clock, worked = time.perf_counter(), time.process_time()
        explainer.explain(row)
        wall.append(1000 * (time.perf_counter() - clock))
        cpu.append(1000 * (time.process_time() - worked))
    return wall, cpu
