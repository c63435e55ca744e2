"""Tables 4 (Adult) and 5 (Titanic): the printed examples, found in the data and explained again.

REINFORCE with the paper's settings and without fine-tuning gives three counterfactuals and the
strongest actions. The paper does not say which classifier it explained: both are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.findings import Findings
from macex.bench.methods import REINFORCE, ours
from macex.bench.plan import BenchPlan
from macex.bench.record.paper import printed_tables
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.errors import DataError

DATASET = {"4": "adult", "5": "titanic@paper"}
SHOWN = 3
ACTIONS = 4


def tasks_of(table: str) -> Callable[[BenchPlan], list[BenchTask]]:
    """One task for each model, where the dataset is asked for and can be read."""

    def tasks(plan: BenchPlan) -> list[BenchTask]:
        name = DATASET[table]
        if name.partition("@")[0] not in plan.here:
            return []
        return [BenchTask("examples", name, model, point=table) for model in plan.models]

    return tasks


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Find the printed rows and explain them."""
    cell = workshop.cell(task)
    explainer = ours({**REINFORCE, "finetune": None})(cell.model, cell.train, task.seed)
    records = []
    for example in printed_tables()[task.point]:
        row, differing = nearest_row(cell.dataset.frame, example["query"])
        found = explainer.explain(row, n=SHOWN)[0]
        records.append(
            {
                "query": _cells(row),
                "differing": differing,
                "label": cell.dataset.labels[int(found.label)],
                "changes": [
                    {change.column: _said(change.after) for change in one.changes}
                    for one in found.counterfactuals
                ],
                "actions": {one.column: _said(one.value) for one in found.actions[:ACTIONS]},
            }
        )
    return TaskOutcome(task, records)


def nearest_row(frame: pd.DataFrame, printed: Mapping[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    """The row that agrees with a printed one in most columns, and where it does not."""
    missing = sorted(printed.keys() - set(frame.columns))
    if missing:
        raise DataError(f"the printed example has columns {missing} that the data lack")
    wrong = np.column_stack([_differs(frame[name], value) for name, value in printed.items()])
    at = int(wrong.sum(axis=1).argmin())
    names = [name for name, off in zip(printed, wrong[at], strict=True) if off]
    return frame.iloc[[at]], names


def _differs(column: pd.Series[Any], value: Any) -> Any:
    if isinstance(value, str):
        return (column != value).to_numpy()
    return np.abs(column.to_numpy(float) - value) > 1e-3


def show_of(table: str) -> Callable[[Findings], ReportSection]:
    """The section of one table."""
    return lambda findings: show(findings, table)


def show(findings: Findings, table: str) -> ReportSection:
    """Printed and found counterfactuals, one below the other."""
    dataset = DATASET[table].partition("@")[0].capitalize()
    section = ReportSection(f"Table {table}: printed examples, {dataset}")
    for outcome in findings.kind("examples"):
        if outcome.task.point != table:
            continue
        for number, (example, record) in enumerate(
            zip(printed_tables()[table], outcome.records, strict=False), 1
        ):
            section.blocks.append(_example(outcome.task.model, number, example, record))
            if record["differing"]:
                section.blocks.append(
                    f"No row of the data is the printed one; the nearest differs in "
                    f"{', '.join(record['differing'])}."
                )
    if not section.blocks:
        section.blocks.append("Not run: the dataset was not asked for, or cannot be read here.")
    return section


def _example(
    model: str, number: int, example: Mapping[str, Any], record: Mapping[str, Any]
) -> ReportTable:
    title = f"{model}, example {number}: printed as {example['label']}, here {record['label']}"
    table = ReportTable(title, ("", "paper", "measured", "ratio"), prose=True)
    table.add("query", _listed(example["query"]), _listed(record["query"]))
    table.lines[-1] = (*table.lines[-1], "-")
    for at in range(SHOWN):
        mine: Mapping[str, Any] = record["changes"][at] if at < len(record["changes"]) else {}
        theirs = example["counterfactuals"][at]
        ratio = f"{len(mine) / len(theirs):.2f}" if mine else "-"
        table.add(f"counterfactual {at + 1}", _listed(theirs), _listed(mine), ratio)
    common = len(example["actions"].keys() & record["actions"].keys())
    share = f"{common} of {len(example['actions'])} columns"
    table.add("top 4 actions", _listed(example["actions"]), _listed(record["actions"]), share)
    return table


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _cells(row: pd.DataFrame) -> dict[str, Any]:
    return {str(name): _said(row[name].iloc[0]) for name in row}


def _said(value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    return plain if isinstance(plain, (int, float, bool)) else str(plain)
