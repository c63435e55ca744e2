"""Figure 2: how often each column changes, against how much it matters by SHAP values.

The SHAP values are XGBoost's own, exact for trees; those of a column's one-hot parts are added up
before their size is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.charts import bars
from macex.bench.report.document import ReportPicture, ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop

MODEL = "XGBoost"
SAMPLE = 1000
DRAWN = "adult"


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """SHAP values of every dataset, and the answers of table 1."""
    if MODEL not in plan.models:
        return []
    values = [
        BenchTask("importance", name, MODEL, stop=min(SAMPLE, plan.sizes[name]))
        for name in plan.here
    ]
    return [*values, *plan.answers([MODEL], plan.chosen())]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Mean |SHAP| of each column over the test rows."""
    from xgboost import DMatrix

    cell = workshop.cell(task)
    columns, trees = cell.model[0], cell.model[-1]
    seen: Any = columns.transform(cell.queries(task.stop))
    parts = trees.get_booster().predict(DMatrix(seen), pred_contribs=True)[:, :-1]
    origin = [name.split("__", 1)[1] for name in columns.get_feature_names_out()]
    named: dict[str, list[int]] = {str(name): [] for name in cell.dataset.frame.columns}
    for at, part in enumerate(origin):
        named[_column(part, list(named))].append(at)
    sizes = {name: float(np.abs(parts[:, at].sum(axis=1)).mean()) for name, at in named.items()}
    return TaskOutcome(task, [{"importance": sizes}])


def _column(part: str, names: list[str]) -> str:
    """The column that a part of the one-hot matrix stems from.

    >>> _column("marital_status_Married", ["marital", "marital_status"])
    'marital_status'
    """
    fitting = [name for name in names if part == name or part.startswith(f"{name}_")]
    return max(fitting, key=len)


def changes(findings: Findings, dataset: str, name: str) -> dict[str, float]:
    """How often each column changes, per answered query."""
    records = findings.records(dataset, MODEL, name).values()
    answered = [record["counterfactuals"][0] for record in records if record["found"]]
    counts: dict[str, float] = {}
    for one in answered:
        for column in one["columns"]:
            counts[column] = counts.get(column, 0) + 1 / len(answered)
    return counts


def correlation(findings: Findings, dataset: str, name: str) -> float | None:
    """Spearman's rank correlation of changes and importance over a dataset's columns."""
    found = findings.of("importance", dataset, MODEL)
    counts = changes(findings, dataset, name)
    if not found or not found[0].records or not counts:
        return None
    sizes = found[0].records[0]["importance"]
    often = [counts.get(column, 0.0) for column in sizes]
    if len(set(often)) < 2:
        return None
    return float(spearmanr(often, list(sizes.values())).statistic)


def show(findings: Findings) -> ReportSection:
    """Adult's columns one by one, and the rank correlation of every dataset."""
    section = ReportSection("Figure 2: changes and importance, XGBoost")
    found = findings.of("importance", DRAWN, MODEL)
    names = findings.methods()
    if found and found[0].records:
        sizes = found[0].records[0]["importance"]
        table = ReportTable(f"{DRAWN}: changes per query", ("column", "mean abs SHAP", *names))
        often = {name: changes(findings, DRAWN, name) for name in names}
        for column in sorted(sizes, key=lambda column: -sizes[column]):
            table.add(column, sizes[column], *(often[n].get(column, 0.0) for n in names))
        section.blocks.append(table)
        section.blocks.append(ReportPicture(f"{DRAWN}: mean abs SHAP", bars(list(sizes.items()))))
        section.blocks += [
            ReportPicture(
                f"{DRAWN}: changes per query, {name}",
                bars([(c, often[name].get(c, 0.0)) for c in sizes]),
            )
            for name in names
        ]
    table = ReportTable(
        "Rank correlation of changes and importance", ("method", *findings.plan.here)
    )
    for name in names:
        table.add(name, *(correlation(findings, dataset, name) for dataset in findings.plan.here))
    section.blocks.append(table)
    section.blocks.append(
        "The paper prints no number for Figure 2; it reads it as consistent, which a rank "
        "correlation above 0 is."
    )
    return section
