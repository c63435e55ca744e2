"""Exact answers for forests beside programs that solve for them: OCEAN and treecf.

The same forests and the same questions, one row at a time on one thread: the fewest changed columns
(OCEAN, by constraint programming) and the least distance (treecf, by branch and bound), both over
all values and not only over those seen in training. OCEAN may take a minute for a query.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from statistics import fmean as mean
from typing import Any

import pandas as pd

from macex.baselines.peers.process import Refused
from macex.bench.cells import Cell, fitted, pipeline
from macex.bench.claims import Claim, at_least, everywhere
from macex.bench.figures import Record
from macex.bench.findings import Findings
from macex.bench.forests import OCEAN, TREECF, BenchForest, Solver
from macex.bench.judge import Referee
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop, frames
from macex.datasets import Dataset
from macex.explainer import Explainer

MODEL = "XGBoost"
DATASETS = ("adult", "breast", "compas")
FORESTS = {"20 trees of depth 3": (20, 3), "100 trees of depth 6": (100, 6)}
LARGE = "100 trees of depth 6"
QUERIES = 20
FEW = 3  # for OCEAN on the large forest
SECONDS = 60
FEWEST, LEAST = "fewest changes", "least distance"
QUESTIONS = {FEWEST: ("macex", "OCEAN"), LEAST: ("macex nearest", "treecf")}
METRIC = {FEWEST: "sparsity", LEAST: "distance"}

Explain = Callable[[pd.DataFrame], tuple[pd.DataFrame, bool]]


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Both questions to both programs, on a small forest and on that of the tables."""
    if MODEL not in plan.models:
        return []
    return [
        BenchTask(
            "exact", dataset, MODEL, method, stop=plan.count(dataset, most=count), point=forest
        )
        for dataset in plan.here
        if dataset in DATASETS
        for forest in FORESTS
        for methods in QUESTIONS.values()
        for method in methods
        for count in [FEW if (method, forest) == ("OCEAN", LARGE) else QUERIES]
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """One row at a time; what a program gives up on has no answer."""
    cell = _cell(task, workshop)
    began = time.process_time()
    made = _made(task.method, cell)
    setup = made.setup if isinstance(made, Solver) else time.process_time() - began
    if task.stop > FEW:
        with suppress(Refused):
            _answer(made, cell.queries(1))  # the first question costs more
    explain, judge = partial(_answer, made), Referee(cell)
    rows = cell.queries(task.stop)
    records = [_record(explain, made, judge, rows.iloc[[at]]) for at in range(len(rows))]
    return TaskOutcome(task, records, {"setup": setup})


def _cell(task: BenchTask, workshop: Workshop) -> Cell:
    if task.point == LARGE:
        return workshop.cell(task)
    return fitted(workshop.cells.dataset(task.dataset), MODEL, partial(_small, task.point))


def _small(forest: str, dataset: Dataset) -> Any:
    from xgboost import XGBClassifier

    trees, depth = FORESTS[forest]
    model = XGBClassifier(n_estimators=trees, max_depth=depth, random_state=0, n_jobs=1)
    return pipeline(dataset, "passthrough", model)


def _made(method: str, cell: Cell) -> Any:
    if method in ("OCEAN", "treecf"):
        return Solver(OCEAN if method == "OCEAN" else TREECF, BenchForest(cell), SECONDS)
    prefer = "nearest" if method == "macex nearest" else "fewest"
    return Explainer(cell.model, cell.train, candidates="thresholds", prefer=prefer)


def _answer(made: Any, row: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    if isinstance(made, Solver):
        return made.explain(row)
    found = made.explain(row)
    item = found[0]
    return frames(found, 1)[0], item.minimal and item.minimal_over == "all values"


def _record(explain: Explain, made: Any, judge: Referee, row: pd.DataFrame) -> Record:
    """What was found, as the judge has it, and what it took: milliseconds."""
    before, why = _clocks(made), ""
    try:
        answer, proved = explain(row)
    except Refused as error:
        answer, proved, why = row.head(0), False, str(error)
    seconds, cpu = (1000 * (now - then) for now, then in zip(_clocks(made), before, strict=True))
    judged = judge(row, [answer])[0]["counterfactuals"]
    known = {name: judged[0][name] for name in METRIC.values()} if judged else {}
    return {**known, "proved": bool(proved), "clock": seconds, "cpu": cpu, "why": why}


def _clocks(made: Any) -> tuple[float, float]:
    spent: tuple[float, float] | None = getattr(made, "spent", None)
    return (time.perf_counter(), time.process_time()) if spent is None else spent


def show(findings: Findings) -> ReportSection:
    """For each question, forest and dataset: ours and the program's."""
    text = (
        "One row at a time, milliseconds of CPU and by the clock; the programs are timed inside "
        "their processes. `mean` is over the queries that both of a pair answered. Proved: macex "
        "proves the number of changes, treecf the distance, OCEAN the number of changes within "
        f"{SECONDS} seconds. A program that could not be run is named at the end of the page."
    )
    return ReportSection(
        "Exact answers for trees, beside OCEAN and treecf", [text, *_tables(findings)]
    )


def _tables(findings: Findings) -> list[ReportTable]:
    headings = [
        *("dataset, forest", "by", "queries", "valid", "proved", "mean"),
        *("cpu ms", "clock ms", "set-up s"),
    ]
    tables = []
    for question, methods in QUESTIONS.items():
        table = ReportTable(question.capitalize(), headings)
        for dataset, forest in _places(findings):
            both = _both(findings, dataset, forest, question)
            for method in methods:
                records = _records(findings, dataset, forest, method)
                if records:
                    values = [records[query][METRIC[question]] for query in both]
                    table.add(
                        f"{dataset}, {forest}",
                        method,
                        len(records),
                        mean(METRIC[question] in r for r in records.values()),
                        mean(r["proved"] for r in records.values()),
                        mean(values) if values else None,
                        mean(r["cpu"] for r in records.values()),
                        mean(r["clock"] for r in records.values()),
                        _setup(findings, dataset, forest, method),
                    )
        tables.append(table)
    return tables


def _places(findings: Findings) -> list[tuple[str, str]]:
    return list(dict.fromkeys((o.task.dataset, o.task.point) for o in findings.kind("exact")))


def _records(findings: Findings, dataset: str, forest: str, method: str) -> dict[int, Record]:
    outcomes = findings.of("exact", dataset, MODEL, method)
    mine = [outcome for outcome in outcomes if outcome.task.point == forest]
    return {query: record for outcome in mine for query, record in enumerate(outcome.records)}


def _setup(findings: Findings, dataset: str, forest: str, method: str) -> float:
    outcomes = findings.of("exact", dataset, MODEL, method)
    return max(o.cost["setup"] for o in outcomes if o.task.point == forest)


def _both(findings: Findings, dataset: str, forest: str, question: str) -> list[int]:
    """The queries that ours and the program both answered."""
    ours, theirs = (_records(findings, dataset, forest, name) for name in QUESTIONS[question])
    metric = METRIC[question]
    return [
        q for q in sorted(ours.keys() & theirs.keys()) if metric in ours[q] and metric in theirs[q]
    ]


def claims(findings: Findings) -> list[Claim]:
    """No worse than a proved optimum, and how much faster or slower."""
    return [claim for question in QUESTIONS for claim in _claims_of(findings, question)]


def _claims_of(findings: Findings, question: str) -> list[Claim]:
    (ours, theirs), metric = QUESTIONS[question], METRIC[question]
    above, cpu = [], []
    for dataset, forest in _places(findings):
        own, other = (_records(findings, dataset, forest, name) for name in (ours, theirs))
        pairs = [q for q in _both(findings, dataset, forest, question) if other[q]["proved"]]
        if pairs:
            gaps = [own[query][metric] - other[query][metric] for query in pairs]
            above.append((f"{dataset}, {forest}", mean(gap > 1e-6 for gap in gaps)))
        if own.keys() & other.keys():
            cpu += [other[q]["cpu"] / own[q]["cpu"] for q in own.keys() & other.keys()]
    nan = float("nan")
    return [
        everywhere(f"exact, {question}: {ours} is as good wherever {theirs} proves its own", above),
        at_least(
            f"exact, {question}: times faster than {theirs} by CPU, mean of queries",
            mean(cpu) if cpu else nan,
            1,
            "x",
        ),
    ]
