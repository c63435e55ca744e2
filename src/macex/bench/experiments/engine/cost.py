"""What answers cost: many Adult rows at once, and one at a time with a model that costs nothing."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from macex.bench.claims import Claim, at_most
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import BenchClock, Workshop, alone, own_cpu
from macex.explainer import Explainer
from macex.schema import Array

DATASET = "adult"
CHEAP = "cheap"
BATCH = 1000
SINGLES = 200
WARM = 20  # rows that are asked about before: what a goal needs is learnt with its first question
MOST_CALLS = 60
MOST_MILLISECONDS = 10


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """A thousand rows for each model, and two hundred one by one, however few cells are asked."""
    if DATASET not in plan.here:
        return []
    return [
        *(BenchTask("cost", DATASET, model, DEFAULT, stop=BATCH) for model in plan.models),
        BenchTask("cost", DATASET, CHEAP, DEFAULT, stop=SINGLES),
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """One call for all rows, or with the cheap model a call for each."""
    if task.model == CHEAP:
        return TaskOutcome(task, [singles(task, workshop)])
    cell = workshop.cell(task)
    clock, rows = BenchClock(cell), cell.queries(task.stop)
    workshop.built(task).explainer.explain(rows.head(WARM))
    clock.ask(workshop.built(task).explainer, rows, 1)
    return TaskOutcome(task, [], clock.cost | {"alone_cpu": alone(cell, [rows])})


def singles(task: BenchTask, workshop: Workshop) -> dict[str, list[float]]:
    """Milliseconds of each call with one row, by the clock and of the CPU."""
    dataset = workshop.cells.dataset(task.dataset)
    train, _ = dataset.split(task.seed)
    explainer = Explainer(cheap, dataset.frame.iloc[train], classes=("no", "yes"))
    rows = dataset.frame.iloc[dataset.rows(task.stop, task.seed)]
    spent: dict[str, list[float]] = {"ms": [], "cpu": []}
    for place in range(len(rows)):
        row = rows.iloc[[place]]
        clock, worked = time.perf_counter(), time.process_time()
        explainer.explain(row)
        spent["ms"].append(1000 * (time.perf_counter() - clock))
        spent["cpu"].append(1000 * (time.process_time() - worked))
    return spent


def cheap(frame: pd.DataFrame) -> Array:
    """A made-up score of Adult rows that costs next to nothing: arithmetic on two columns."""
    hours, age = frame["hours_per_week"].to_numpy(), frame["age"].to_numpy()
    score: Array = 1 / (1 + np.exp(5.5 - hours / 15 - age / 20))
    return score


def show(findings: Findings) -> ReportSection:
    """Both tables."""
    headings = (
        "cell",
        "queries",
        "calls",
        "rows",
        "cpu s",
        "asking",
        "own",
        "model",
        "own / model",
    )
    many = ReportTable(
        'Adult queries at once: CPU seconds; "asking" is what the model took, "model" what it '
        "takes for the same rows when it is given frames",
        (*headings, "s"),
    )
    for outcome in _batches(findings):
        cost = outcome.cost
        own, share = own_cpu(cost)
        many.add(
            f"{DATASET} / {outcome.task.model}",
            *(round(cost[name]) for name in ("queries", "calls", "rows")),
            *(cost["cpu"], cost["model_cpu"], own, cost["alone_cpu"], share),
            cost["seconds"],
        )
    one = ReportTable(
        "One Adult query at a time, with a model of a few array operations", ("", "ms", "cpu ms")
    )
    for outcome in findings.of("cost", DATASET, CHEAP, DEFAULT):
        spent = outcome.records[0]
        for label, share in (("median", 0.5), ("nine in ten", 0.9)):
            one.add(label, *(float(np.quantile(spent[name], share)) for name in ("ms", "cpu")))
    return ReportSection("The engine's cost", [many, one])


def _batches(findings: Findings) -> list[TaskOutcome]:
    return [o for o in findings.kind("cost") if o.task.model != CHEAP and o.error is None]


def claims(findings: Findings) -> list[Claim]:
    """Few calls, less time than the model, and ten milliseconds for a question."""
    found = []
    for outcome in _batches(findings):
        cost, name = outcome.cost, f"{DATASET} / {outcome.task.model}, {outcome.task.stop} queries"
        found += [
            at_most(f"{name}: model calls", cost["calls"], MOST_CALLS),
            at_most(
                f"{name}: engine's CPU over the model's for the same rows", own_cpu(cost)[1], 1
            ),
        ]
    for outcome in findings.of("cost", DATASET, CHEAP, DEFAULT):
        middle = float(np.median(outcome.records[0]["ms"]))
        sentence = "ms by the clock for one Adult query with a cheap model, median"
        found.append(at_most(sentence, middle, MOST_MILLISECONDS))
    return found
