"""Growth curves: time, model calls and memory against the size of the problem.

One thing grows at a time, on made-up tables with a model that costs next to nothing, so that what
grows is macex's own. Seconds are those of the CPU, on one thread.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from math import log
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from macex.bench import synthetic
from macex.bench.claims import Claim, at_most
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.charts import curves
from macex.bench.report.document import ReportPicture, ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop, timed
from macex.explainer import Explainer
from macex.scale.frames import explain_frames

MEGABYTE = 2**20
ALONE = 20
TOGETHER = 10_000  # queries of a call: more of them are asked frame by frame
BATCHES, FEW_ASKED = 5, 1000  # times that a batch of few queries is asked: the middle one counts
TRACED = 100_000  # queries whose memory is looked at: further frames take no more
MOST_RATIO = 1.5
FEW, MANY = 10, 10_000
NARROW, WIDE, WIDEST = 150, 1000, 3000  # columns
MOST_WIDE_MS, MOST_WIDE_MB, MOST_SLOPE = 60, 500, 1.1


class Shape(NamedTuple):
    """The size of a problem."""

    queries: int = 100
    rows: int = 10_000
    columns: int = 10
    categories: int = 10
    classes: int = 2


AXES: dict[str, Sequence[int]] = {
    "queries": (1, 10, 100, 1000, 10_000, 100_000, 1_000_000),
    "rows": (1_000, 10_000, 100_000, 1_000_000, 2_000_000),
    "columns": (5, 15, 50, 150, 500, 1000, 3000),
    "categories": (2, 10, 100, 1000, 10_000, 100_000),
    "classes": (2, 5, 10, 20, 50),
}
BASES = {"categories": Shape(rows=100_000), "columns": Shape(rows=2_000, queries=40)}
HEADINGS = {
    "build": "build s",
    "build_memory": "build MB",
    "alone": "ms alone",
    "batch": "ms batch",
    "calls": "calls",
    "rows": "rows a query",
    "memory": "peak MB",
}
DRAWN = (("batch", "ms a query in a batch"), ("calls", "model calls"), ("memory", "peak MB"))


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """A task for each point of each curve, whatever the plan selects."""
    del plan
    return [
        BenchTask("growth", dataset=f"growth of {axis}", point=f"{axis}={size}")
        for axis, sizes in AXES.items()
        for size in sizes
    ]


def shape_of(task: BenchTask) -> Shape:
    """The problem that a task stands for.

    >>> shape_of(BenchTask("growth", point="columns=50"))
    Shape(queries=40, rows=2000, columns=50, categories=10, classes=2)
    """
    axis, _, size = task.point.partition("=")
    return BASES.get(axis, Shape())._replace(**{axis: int(size)})


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Build and explain, timed by the CPU; then again, with an eye on memory."""
    del workshop
    shape = shape_of(task)
    train = synthetic.table(shape.rows, shape.columns, shape.categories)
    asked = train.sample(shape.queries, random_state=0, replace=shape.queries > shape.rows)
    counted = CountedModel(shape.classes)
    built, explainer = timed(partial(build, train, counted, shape.classes))
    explainer.explain(asked.head(1))
    alone = [
        timed(partial(explainer.explain, asked.iloc[[at]]))[0]
        for at in range(min(ALONE, len(asked)))
    ]
    batches = []
    for _ in range(BATCHES if len(asked) <= FEW_ASKED else 1):
        counted.calls, counted.rows = 0, 0
        batches.append(timed(partial(ask, explainer, asked))[0])
    record = {
        "build": built,
        "alone": 1000 * median(alone),
        "batch": 1000 * median(batches) / len(asked),
        "calls": counted.calls,
        "rows": counted.rows / len(asked),
        "memory": peak(partial(ask, explainer, asked.head(TRACED))),
        "build_memory": peak(partial(build, train, counted, shape.classes)),
    }
    return TaskOutcome(task, [record])


class CountedModel:
    """The cheap model, which counts what it is asked."""

    def __init__(self, classes: int) -> None:
        self.score = synthetic.model if classes == 2 else synthetic.model_of(classes)
        self.calls, self.rows = 0, 0

    def __call__(self, frame: pd.DataFrame) -> Any:
        """The model's scores."""
        self.calls, self.rows = self.calls + 1, self.rows + len(frame)
        return self.score(frame)


def ask(explainer: Explainer, rows: pd.DataFrame) -> None:
    """Explain rows; of very many no answers are kept."""
    if len(rows) <= TOGETHER:
        explainer.explain(rows)
        return
    frames = (rows.iloc[at : at + TOGETHER] for at in range(0, len(rows), TOGETHER))
    for _ in explain_frames(explainer, frames):
        pass


def build(train: pd.DataFrame, model: Any, classes: int) -> Explainer:
    """The explainer of a cheap model."""
    names = ("no", "yes") if classes == 2 else tuple(f"class{at:02d}" for at in range(classes))
    return Explainer(model, train, classes=names)


def peak(work: Callable[[], Any]) -> float:
    """The most memory, in MB, that the work allocates at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def points(findings: Findings, axis: str) -> dict[int, dict[str, float]]:
    """The records of one curve by size."""
    return {
        int(outcome.task.point.partition("=")[2]): outcome.records[0]
        for outcome in findings.kind("growth")
        if outcome.task.point.startswith(f"{axis}=") and outcome.records
    }


def show(findings: Findings) -> ReportSection:
    """A table and three curves for each thing that grows."""
    section = ReportSection("Growth")
    for axis in AXES:
        found = points(findings, axis)
        if not found:
            continue
        rest = {k: v for k, v in BASES.get(axis, Shape())._asdict().items() if k != axis}
        title = f"{axis} ({', '.join(f'{name} {size:,}' for name, size in rest.items())})"
        table = ReportTable(title, (axis, *HEADINGS.values()))
        for size, record in found.items():
            table.add(f"{size:,}", *(_said(name, record[name]) for name in HEADINGS))
        section.blocks.append(table)
        section.blocks += [
            ReportPicture(
                f"{title}: {said}",
                curves({said: [(s, r[name]) for s, r in found.items()]}, axis, said),
            )
            for name, said in DRAWN
        ]
    return section


def _said(name: str, value: float) -> str:
    return f"{value:.0f}" if name in ("calls", "rows") else f"{value:.2f}"


def claims(findings: Findings) -> list[Claim]:
    """Categories cost nothing, and columns hardly more than in proportion."""
    return [*_of_categories(points(findings, "categories")), *_of_columns(findings)]


def _of_categories(found: dict[int, dict[str, float]]) -> list[Claim]:
    """A column of ten thousand categories costs no more than one of ten."""
    if FEW not in found or MANY not in found:
        return []
    few, many = found[FEW], found[MANY]
    said = {
        "alone": "ms per query alone",
        "batch": "ms per query in a batch",
        "memory": "memory to explain",
        "build_memory": "memory to build",
    }
    span = f"{MANY:,} categories against {FEW}"
    return [
        at_most(f"{span}: {words}", many[name] / few[name], MOST_RATIO, "x")
        for name, words in said.items()
    ]


def _of_columns(findings: Findings) -> list[Claim]:
    """A thousand columns are answered soon and in little memory; the price grows with columns."""
    found, made = points(findings, "columns"), []
    if WIDE in found:
        name = f"{WIDE:,} columns: "
        made += [
            at_most(f"{name}ms per query in a batch", found[WIDE]["batch"], MOST_WIDE_MS),
            at_most(f"{name}memory to explain", found[WIDE]["memory"], MOST_WIDE_MB, " MB"),
        ]
    if NARROW in found and WIDEST in found:
        rise = log(found[WIDEST]["batch"] / found[NARROW]["batch"]) / log(WIDEST / NARROW)
        span = f"{NARROW} to {WIDEST:,} columns"
        made.append(at_most(f"{span}: slope of ms per query in a batch", rise, MOST_SLOPE))
    return made
