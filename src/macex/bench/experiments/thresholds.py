"""What exact answers for trees cost, and what they prove: Adult with XGBoost.

Once as the pipeline on the raw frame of the other tables, once with XGBoost's own categories, and
once on a frame that is one-hot encoded already, where a call has the least to do before the trees.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import mean, median
from typing import Any

import pandas as pd

from macex.bench.claims import Claim, at_most
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop, timed
from macex.datasets import Dataset
from macex.explainer import Explainer

DATASET, MODEL = "adult", "XGBoost"
QUERIES = 500
SINGLES = 100
MOST_MILLISECONDS = 20
FORMS = ("pipeline", "own categories", "one-hot frame")
WAYS = ("both", "thresholds")


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Each form of the frame with each way to make candidates."""
    if DATASET not in plan.here or MODEL not in plan.models:
        return []
    count = plan.count(DATASET, most=QUERIES)
    return [
        BenchTask("thresholds", DATASET, MODEL, way, stop=count, point=form)
        for form in FORMS
        for way in WAYS
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Explain rows at once, and some of them one at a time."""
    model, train, asked = _setting(task, workshop)
    explainer = Explainer(model, train, candidates=task.method)
    explainer.explain(asked.head(1))
    batch, found = timed(partial(explainer.explain, asked), time.perf_counter)
    alone = [
        timed(partial(explainer.explain, asked.iloc[[place]]), time.perf_counter)[0]
        for place in range(min(SINGLES, len(asked)))
    ]
    answered = [item for item in found if item.counterfactuals]
    record = {
        "alone": 1000 * median(alone),
        "batch": 1000 * batch / len(asked),
        "rows": mean(float(item.cost.rows) for item in found),
        "changes": mean(float(item.counterfactuals[0].sparsity) for item in answered),
        "proved": mean(
            float(item.minimal and item.minimal_over == "all values") for item in answered
        ),
    }
    return TaskOutcome(task, [record])


def show(findings: Findings) -> ReportSection:
    """A line for each form of the frame and way."""
    headings = ("frame", "candidates", "ms alone", "ms batch", "rows", "changes", "proved")
    table = ReportTable("Exact answers for trees: Adult / XGBoost", headings)
    for outcome in findings.kind("thresholds"):
        if outcome.error is None:
            table.add(outcome.task.point, outcome.task.method, *outcome.records[0].values())
    return ReportSection("Exact answers for trees", [table])


def claims(findings: Findings) -> list[Claim]:
    """An exact answer takes no more than twenty milliseconds."""
    return [
        at_most(
            f"exact answers, {outcome.task.point}: ms a query, {when}",
            outcome.records[0][when],
            MOST_MILLISECONDS,
        )
        for outcome in findings.kind("thresholds")
        if outcome.error is None and outcome.task.method == "thresholds"
        for when in ("alone", "batch")
    ]


def _setting(task: BenchTask, workshop: Workshop) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """The model, its training rows and the rows to explain."""
    cell = workshop.cell(task)
    if task.point == "pipeline":
        return cell.model, cell.train, cell.queries(task.stop)
    dataset = workshop.cells.dataset(task.dataset)
    if task.point == "own categories":
        frame = dataset.frame.astype(dict.fromkeys(dataset.categorical, "category"))
    else:
        frame = pd.get_dummies(dataset.frame, dtype="float32").astype("float32")
    return *_fitted(dataset, frame), frame.iloc[dataset.rows(task.stop)]


def _fitted(dataset: Dataset, frame: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    from xgboost import XGBClassifier

    at, _ = dataset.split()
    trees = XGBClassifier(n_estimators=100, max_depth=6, random_state=0, enable_categorical=True)
    return trees.fit(frame.iloc[at], dataset.label[at]), frame.iloc[at]
