"""Very many training rows: how fast and how well neighbours are found, and what fitting takes.

Recall is the share of the rows found that are no farther than the last of the true nearest ones,
for rows that the index has never seen. Seconds are those of the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from macex.bench import synthetic
from macex.bench.claims import Claim, at_least, at_most
from macex.bench.findings import Findings
from macex.bench.fitting import fitted_apart
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop, timed
from macex.schema import Array, Schema
from macex.stages.approximate import Approximate, approximate, recall, sampled
from macex.stages.neighbors import NeighborIndex, learn_bins

SEARCHED = (("ivf", 100_000), ("hnsw", 100_000), ("ivf", 1_000_000))
FITTED = (1_000_000, 10_000_000)
COUNT = 30
BATCH, JUDGED, COMPARED = 1000, 200, 20
FIXED = ("number1", "letter2")
LEAST_RECALL, MOST_MILLISECONDS, MOST_SECONDS, MOST_MEMORY = 0.99, 3, 300, 8
HEADINGS = {
    "build": "build s",
    "batch": "ms in a batch",
    "alone": "ms alone",
    "exact": "ms comparing all",
    "recall": "recall",
    "some_recall": "recall, 2 of 10 columns fixed",
    "some_batch": "ms, 2 of 10 columns fixed",
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """A task for each index and size, whatever the plan selects."""
    del plan
    return [
        *(
            BenchTask("neighbours", dataset="neighbours", method=kind, point=f"rows={rows}")
            for kind, rows in SEARCHED
        ),
        *(BenchTask("fitting", dataset="fitting", point=f"rows={rows}") for rows in FITTED),
    ]


def measure_fitting(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """An explainer fitted in a process of its own."""
    del workshop
    return TaskOutcome(task, [fitted_apart(_rows(task))])


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """An index built, and asked about rows that it does not hold."""
    del workshop
    world = World.of(_rows(task))
    built, made = timed(partial(approximate, world.index, task.method, 0, COUNT))
    if made is None:
        raise TypeError("an index was asked for by name")
    every, some = np.ones(len(world.names), bool), ~np.isin(world.names, FIXED)
    record = {"build": built, "alone": _alone(made, world, every), **_exact(made, world)}
    record["batch"], record["recall"] = _searched(made, world, every)
    record["some_batch"], record["some_recall"] = _searched(made, world, some)
    return TaskOutcome(task, [record])


@dataclass(frozen=True)
class World:
    """Training rows by bin, the rows of the larger label among them, and queries of the other."""

    names: Array
    index: NeighborIndex
    goal: Array
    asked: Array

    @staticmethod
    def of(rows: int) -> World:
        """A made-up world of so many training rows."""
        train, fresh = synthetic.table(rows), synthetic.table(10 * BATCH, seed=1)
        schema = Schema.infer(train)
        codes = schema.read(train).codes
        bins = learn_bins(schema, codes, 10)
        discrete = np.array([column.discrete for column in schema.columns])
        index = NeighborIndex(bins(codes), discrete, (synthetic.model(train) > 0.5).astype(int))
        goal = index.distinct[index.group[index.distinct] == 0]
        other = fresh[synthetic.model(fresh) > 0.5].head(BATCH)
        return World(np.array(schema.names), index, goal, bins(schema.read(other).codes))


def _searched(made: Approximate, world: World, match: Array) -> tuple[float, float]:
    """Milliseconds a query in a batch, and the recall."""
    side = made.side(world.goal, match)
    spent, _ = timed(partial(made.nearest, world.asked, side, COUNT))
    sample = sampled(made, world.asked[:JUDGED], world.goal, COUNT, match)
    return 1000 * spent / len(world.asked), recall(made, [sample], COUNT)


def _alone(made: Approximate, world: World, match: Array) -> float:
    """Milliseconds a query, one by one."""
    side = made.side(world.goal, match)
    spent = [
        timed(partial(made.nearest, world.asked[at : at + 1], side, COUNT))[0]
        for at in range(JUDGED)
    ]
    return 1000 * float(np.median(spent))


def _exact(made: Approximate, world: World) -> dict[str, float]:
    """Milliseconds a query where all rows are compared, one by one."""
    side = made.index.side(world.goal, np.ones(len(world.names), bool))
    spent = [
        timed(partial(made.index.nearest, world.asked[at : at + 1], side, COUNT))[0]
        for at in range(COMPARED)
    ]
    return {"exact": 1000 * float(np.median(spent))}


def _rows(task: BenchTask) -> int:
    return int(task.point.partition("=")[2])


def show(findings: Findings) -> ReportSection:
    """A table of searches and one of fitting."""
    section = ReportSection("Very many training rows")
    searches = ReportTable(f"{COUNT} neighbours", ("index", "rows", *HEADINGS.values()))
    for outcome in findings.kind("neighbours"):
        for record in outcome.records:
            numbers = (f"{record[name]:.4g}" for name in HEADINGS)
            searches.add(outcome.task.method, f"{_rows(outcome.task):,}", *numbers)
    fits = ReportTable(
        "An explainer fitted, and asked about 100 rows",
        ("rows", "fit s", "ms a row", "recall", "table GiB", "most memory GiB"),
    )
    for outcome in findings.kind("fitting"):
        for record in outcome.records:
            named = ("fit", "explain", "recall", "table", "memory")
            fits.add(f"{_rows(outcome.task):,}", *(f"{record[name]:.4g}" for name in named))
    section.blocks += [table for table in (searches, fits) if table.lines]
    return section


def claims(findings: Findings) -> list[Claim]:
    """A million rows are searched well, fast and soon; ten million fit into memory."""
    found = {
        (o.task.kind, o.task.method, _rows(o.task)): o.records[0]
        for kind in ("neighbours", "fitting")
        for o in findings.kind(kind)
        if o.records
    }
    made: list[Claim] = []
    search = found.get(("neighbours", "ivf", 1_000_000))
    if search:
        said = "1,000,000 rows: "
        made += [
            at_least(f"{said}recall at {COUNT}", search["recall"], LEAST_RECALL),
            at_least(f"{said}recall on some columns", search["some_recall"], LEAST_RECALL),
            at_most(f"{said}ms a query in a batch", search["batch"], MOST_MILLISECONDS),
            at_most(f"{said}seconds to build", search["build"], MOST_SECONDS),
        ]
    fit = found.get(("fitting", "", 10_000_000))
    if fit:
        made.append(at_most("10,000,000 rows fitted: GiB", fit["memory"], MOST_MEMORY))
    return made
