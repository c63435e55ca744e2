"""Findings made by hand: records without a run, so that what a table says is known beforehand."""

from __future__ import annotations

from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome


def record(*changes, label=0, own=True, proximity=None, diversity=0.0, idle=0):
    """A query with a counterfactual for each set of changed columns."""
    return {
        "label": label,
        "returned": len(changes),
        "found": len(changes),
        "own": own,
        "proved": True,
        "diversity": [0.0, diversity, 0.0],
        "counterfactuals": [
            {
                "sparsity": len(columns),
                "proximity": -float(len(columns)) if proximity is None else proximity,
                "distance": float(len(columns)),
                "plausibility": 0.5,
                "columns": list(columns),
                "idle": idle,
            }
            for columns in changes
        ],
    }


def findings(answers, *, tables=("2",), model="MLP", dataset="loans", n=1, costs=None):
    """What a run found: a list of records for each method, or an error; costs for each."""
    tasks, results = [], Results()
    for method, records in answers.items():
        task = BenchTask("answers", dataset, model, method, n=n, stop=len(records))
        outcome = (
            TaskOutcome(task, error=records)
            if isinstance(records, str)
            else TaskOutcome(task, list(records), (costs or {}).get(method, {}))
        )
        results.add(outcome)
        tasks.append(task)
    plan = BenchPlan(tables, [dataset], [model], list(answers), sizes={dataset: 100})
    return Findings(plan, tasks, results)
