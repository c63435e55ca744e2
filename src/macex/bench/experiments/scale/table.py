"""The experiment of rows by the million: its tasks, its tables and what should hold."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from macex.bench.claims import Claim, at_least, at_most
from macex.bench.experiments.scale import night, pace
from macex.bench.experiments.scale.crowd import FRAME
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop, own_cpu

DATASET = "adult"
QUERIES = 15 * FRAME
OTHERS_QUERIES = 3 * FRAME
SHARED = 20_000  # rows that two processes are compared with
ROWS = 1_000_000
ONE, WORKERS, FLAT, NIGHT = "one process", "two processes", "long run", "file"
LEAST_PACE = {"XGBoost": 800, "MLP": 2000}
LEAST_GAIN = 1.7
MOST_GROWTH = 1.1
MOST_SECONDS = 45 * 60
MOST_MEGABYTES = 2048
FULL_SIZE = 1_000_000  # the size that the limits of a night are meant for

MEASURES: dict[str, Callable[[BenchTask, Workshop], TaskOutcome]] = {
    ONE: pace.one_process,
    WORKERS: pace.workers,
    FLAT: pace.flat,
    NIGHT: night.measure,
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """`plan.queries` sets how many rows pace is measured with, `plan.rows` the largest run."""
    if DATASET not in plan.here:
        return []
    queries, most = plan.queries or QUERIES, plan.rows or ROWS
    pacing = [
        BenchTask("scale", DATASET, model, DEFAULT, stop=stop, point=point)
        for model in plan.models
        for point, stop in ((ONE, queries), (WORKERS, min(queries, SHARED)))
    ]
    pacing += [
        BenchTask("scale", DATASET, kind, DEFAULT, stop=min(queries, OTHERS_QUERIES), point=ONE)
        for kind in pace.OTHERS
    ]
    if night.MODEL not in plan.models:
        return pacing
    return pacing + [
        BenchTask("scale", DATASET, night.MODEL, DEFAULT, stop=most, point=point)
        for point in (FLAT, NIGHT)
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """What a task's point stands for."""
    return MEASURES[task.point](task, workshop)


def _at(findings: Findings, point: str) -> list[TaskOutcome]:
    return [o for o in findings.kind("scale") if o.task.point == point and o.error is None]


def show(findings: Findings) -> ReportSection:
    """A table for each question."""
    return ReportSection(
        "Rows by the million",
        [_paces(findings), _gains(findings), _growth(findings), _nights(findings)],
    )


def _paces(findings: Findings) -> ReportTable:
    paces = ("rows a second", "usually", "one thread")
    table = ReportTable(
        "Adult by one process, frame by frame of 4,096 rows: the quickest frame, the median one, "
        "the quickest on one thread; then means on one thread, where "
        '"model alone" is what the model takes for the same rows when it is given frames',
        ("model", "rows", *paces, "cpu ms a row", "asking", "own", "model alone", "own / alone"),
    )
    for outcome in _at(findings, ONE):
        cost = outcome.cost
        own, share = own_cpu(cost)
        each = 1000 / cost["queries"]
        table.add(
            outcome.task.model,
            round(cost["queries"]),
            *(cost["quickest"], cost["usual"], cost["one_thread"]),
            each * cost["cpu"],
            *(each * cost["model_cpu"], each * own, each * cost["alone_cpu"]),
            share,
        )
    return table


def _gains(findings: Findings) -> ReportTable:
    table = ReportTable(
        "Rows a second by one process and by two, all at work: medians of pairs of runs next to "
        "each other in time",
        ("model", "rows", "one", "two", "gain"),
    )
    for outcome in _at(findings, WORKERS):
        one, two = (median(pair[jobs] for pair in outcome.records) for jobs in ("jobs1", "jobs2"))
        table.add(outcome.task.model, outcome.task.stop, one, two, _gain(outcome))
    return table


def _gain(outcome: TaskOutcome) -> float:
    """How many times as fast two processes are as one."""
    return median(pair["jobs2"] / pair["jobs1"] for pair in outcome.records)


def _growth(findings: Findings) -> ReportTable:
    headings = ("rows so far", "cpu ms a row", "by a fresh one", "ratio")
    table = ReportTable(
        f"CPU time a row ({night.MODEL}) of one long run, and of a fresh explainer that answers "
        "the same thousand rows at the same time",
        headings,
    )
    for outcome in _at(findings, FLAT):
        for record in outcome.records:
            own, fresh = record["cpu_ms"], record["fresh_ms"]
            table.add(f"{record['rows']:,}", own, fresh, own / fresh)
    return table


def _nights(findings: Findings) -> ReportTable:
    headings = ("rows", "minutes", "rows a second", "peak MB", "same bytes")
    table = ReportTable(
        f"File to file by {night.JOBS} processes ({night.MODEL}), killed twice on the way", headings
    )
    for outcome in _at(findings, NIGHT):
        record, rows = outcome.records[0], outcome.task.stop
        table.add(
            f"{rows:,}",
            record["seconds"] / 60,
            rows / record["seconds"],
            round(record["peak_mb"]),
            "yes" if record["same"] else "NO",
        )
    return table


def claims(findings: Findings) -> list[Claim]:
    """Pace, gain, flatness, and a million rows within 45 minutes and 2 GiB."""
    found = []
    for outcome in _at(findings, ONE):
        cost, model = outcome.cost, outcome.task.model
        _, share = own_cpu(cost)
        if model in LEAST_PACE:
            pace_of = f"{model}: Adult rows a second, quickest frame of 4,096"
            found += [
                at_least(pace_of, cost["quickest"], LEAST_PACE[model]),
                at_most(f"{model}: engine's CPU over the model's for the same rows", share, 1),
            ]
    for outcome in _at(findings, WORKERS):
        claim = f"{outcome.task.model}: two processes against one, median of pairs of runs"
        found.append(at_least(claim, _gain(outcome), LEAST_GAIN))
    for outcome in _at(findings, FLAT):
        claim = (
            f"cost of a row in a run of {outcome.records[-1]['rows']:,}, where it is highest, "
            "against a fresh run of a thousand"
        )
        dearest = max(record["cpu_ms"] / record["fresh_ms"] for record in outcome.records)
        found.append(at_most(claim, dearest, MOST_GROWTH, "x"))
    for outcome in _at(findings, NIGHT):
        found += _night_claims(outcome)
    return found


def _night_claims(outcome: TaskOutcome) -> list[Claim]:
    record, rows = outcome.records[0], outcome.task.stop
    name = f"{rows:,} rows file to file"
    allowed = MOST_SECONDS * rows / FULL_SIZE
    return [
        Claim(f"{name}, killed twice: the same bytes", record["same"], "parts made again"),
        at_most(f"{name}: peak memory", record["peak_mb"], MOST_MEGABYTES, " MB"),
        at_most(f"{name}: seconds", record["seconds"], max(allowed, 120)),
    ]
