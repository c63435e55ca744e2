"""Ablations: MACE-RL with one thing changed at a time, without fallback."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from macex.bench.experiments import answers
from macex.bench.figures import figures
from macex.bench.findings import Findings
from macex.bench.methods import REINFORCE, ours
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.statistics import difference
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.stages.candidates import Neighbors
from macex.stages.search.reinforce import Reinforce

USUAL = "MACE-RL"
MOST = 50

VARIANTS: dict[str, Mapping[str, Any]] = {
    USUAL: {},
    "K = 10 neighbours (30)": {"candidates": Neighbors(k=10)},
    "K = 100 neighbours (30)": {"candidates": Neighbors(k=100)},
    "s = 3 columns (10)": {"candidates": Neighbors(columns=3)},
    "s = 5 columns (10)": {"candidates": Neighbors(columns=5)},
    "m = 1 value (3)": {"candidates": Neighbors(values=1)},
    "m = 10 values (3)": {"candidates": Neighbors(values=10)},
    "w = 2 columns (8)": {"method": Reinforce(max_columns=2)},
    "w = 4 columns (8)": {"method": Reinforce(max_columns=4)},
    "lambda against the batch (per column)": {"method": Reinforce(weigh="batch")},
    "lambda against the mean (per column)": {"method": Reinforce(weigh="mean")},
    "step 5 as printed (scored)": {"method": Reinforce(path="printed")},
    "E without single changes (with)": {"method": Reinforce(singles=False)},
    "eq. 5 and Algorithm 2 as printed": {
        "method": Reinforce(weigh="batch", path="printed", singles=False)
    },
    "5 epochs (15)": {"method": Reinforce(epochs=5)},
    "45 epochs (15)": {"method": Reinforce(epochs=45)},
    "batch of 10 (40)": {"method": Reinforce(batch=10)},
    "batch of 160 (40)": {"method": Reinforce(batch=160)},
    "no fine-tuning": {"finetune": None},
    "fine-tuning by sections (ours)": {"finetune": "section"},
    "candidates of the domain": {"candidates": "domain"},
    "refine first, then select (ours)": {"selection": "diverse"},
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Every variant on up to fifty queries of every cell."""
    return [
        BenchTask("ablation", dataset, model, name, stop=plan.count(dataset, most=MOST))
        for dataset in plan.here
        for model in plan.models
        for name in VARIANTS
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """The answers of a variant."""
    options = {**REINFORCE, "fallback": False, **VARIANTS[task.method]}
    return answers.measure_with(task, workshop, ours(options))


def show(findings: Findings) -> ReportSection:
    """Each variant beside MACE-RL, on the queries that both solved."""
    headings = ("variant", "validity", "changes", "proximity", "under .05", "rows", "ms")
    table = ReportTable("Means over cells", (*headings, "changes - MACE-RL", "distance - MACE-RL"))
    for name in VARIANTS:
        cells = [
            (cell, records)
            for cell in findings.cells()
            if (records := findings.records(*cell, name, kind="ablation"))
        ]
        if not cells:
            continue
        found = [figures(records.values()) for _, records in cells]
        cost = [findings.per_query("ablation", *cell, name) for cell, _ in cells]
        table.add(
            name,
            mean(one.validity for one in found),
            mean(one.sparsity for one in found),
            mean(one.middle_proximity for one in found),
            mean(one.implausible for one in found),
            round(mean(one["rows"] for one in cost)),
            1000 * mean(one["cpu"] for one in cost),
            *(_gap(findings, name, metric) for metric in ("sparsity", "distance")),
        )
    note = (
        "In brackets what MACE-RL uses. Proximity is the median over a cell's queries; rows and "
        "milliseconds of CPU are per query in batches. The last two columns pair queries that both "
        "solved, over all cells, with 95 % intervals."
    )
    return ReportSection("Ablations of MACE-RL", [table, note])


def _gap(findings: Findings, name: str, metric: str) -> str:
    first, second = [], []
    for cell in findings.cells():
        mine = findings.records(*cell, name, kind="ablation")
        usual = findings.records(*cell, USUAL, kind="ablation")
        for query in mine.keys() & usual.keys():
            if mine[query]["found"] and usual[query]["found"]:
                first.append(mine[query]["counterfactuals"][0][metric])
                second.append(usual[query]["counterfactuals"][0][metric])
    return "" if name == USUAL else str(difference(first, second))
