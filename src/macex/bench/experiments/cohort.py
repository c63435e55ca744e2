"""Whole populations on Adult and Titanic: plans, bias, robustness.

Plans are held against the best of all: every pair of moves is scored on a sample, and the best five
actions of one or two moves are found exactly, by integer programming.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.baselines import ares, globe_ce
from macex.bench.cells import Cell, xgboost
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.cohort.cover import ActionTrials
from macex.cohort.moves import common_moves
from macex.cohort.population import crowd, opened
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.schema import Array

MODEL = "XGBoost"
ACTIONS, CHANGES = 5, 2
SAMPLE = 250
AT_ONCE = 2000  # actions that are scored together
REFITS = 5
ROBUST_ROWS = 400
PROTECTED = ("gender", "race", "sex", "ticket_class")  # of Adult and of Titanic
KINDS = {
    "any change": Constraints(),
    "age, gender, race, marital status fixed": Constraints(
        fixed=("age", "gender", "race", "marital_status")
    ),
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Plans and robustness on Adult, bias on Titanic, too."""
    if MODEL not in plan.models:
        return []
    asked = {"adult": ("plans", "bias", "robustness"), "titanic": ("bias",)}
    return [
        BenchTask("cohort", dataset, MODEL, stop=plan.count(dataset, most=ROBUST_ROWS), point=part)
        for dataset, parts in asked.items()
        if dataset in plan.here
        for part in parts
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """The lines of one table."""
    cell = workshop.cell(task)
    explainer = Explainer(cell.model, cell.train)
    if task.point == "plans":
        return TaskOutcome(task, plans(explainer, cell))
    if task.point == "bias":
        return TaskOutcome(task, biases(explainer, cell))
    return TaskOutcome(task, robustness(explainer, cell, task.stop))


def show(findings: Findings) -> ReportSection:
    """A table for every part."""
    titles = {
        "plans": f"{ACTIONS} actions of at most {CHANGES} changes for all rejected rows",
        "bias": "Decisions that one column alone changes",
        "robustness": "Answers under a refit that nobody asked",
    }
    section = ReportSection("Whole populations")
    for outcome in findings.kind("cohort"):
        if outcome.error is None and outcome.records:
            title = f"{titles[outcome.task.point]}: {outcome.task.dataset}"
            table = ReportTable(title, tuple(outcome.records[0]))
            for record in outcome.records:
                table.add(*record.values())
            section.blocks.append(table)
    return section


def unseen(cell: Cell) -> pd.DataFrame:
    """All test rows."""
    return cell.dataset.frame.iloc[cell.dataset.split()[1]]


def rejected(cell: Cell) -> pd.DataFrame:
    """The test rows that the model decides against."""
    rows = unseen(cell)
    return rows[cell.model.predict(rows) == 0]


def plans(explainer: Explainer, cell: Cell) -> list[dict[str, Any]]:
    """Five actions of at most two changes for all rejected rows, and against the optimum."""
    rows = rejected(cell)
    few = rows.iloc[np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(int)]
    lines = []
    for name, constraints in KINDS.items():
        began = time.perf_counter()
        found = explainer.plan(rows, want=1, constraints=constraints)
        lines.append(
            {
                "may change": name,
                "rows": len(rows),
                "flipped": found.flipped,
                "share": f"{100 * found.coverage:.1f} %",
                "seconds": time.perf_counter() - began,
                "sample": len(few),
                "plan": most_flipped(explainer, few, constraints),
                "best of all pairs": best_of_all(explainer, few, constraints),
                **others(explainer, few, constraints),
            }
        )
    return lines


def most_flipped(explainer: Explainer, rows: pd.DataFrame, constraints: Constraints) -> int:
    """How many rows a plan flips that looks at nothing else."""
    plan = explainer.plan(rows, want=1, constraints=constraints, slack=0, plausible=False)
    return plan.flipped


def others(
    explainer: Explainer, rows: pd.DataFrame, constraints: Constraints
) -> dict[str, int | float]:
    """Rows flipped by the default plan, by AReS and by GLOBE-CE, and at which mean distance."""
    plan = explainer.plan(rows, want=1, constraints=constraints)
    asked: dict[str, Any] = {"want": 1, "constraints": constraints, "actions": ACTIONS}
    found = [ares(explainer, rows, **asked), globe_ce(explainer, rows, **asked)]
    cost = sum(a.cost * a.flips for a in plan.actions) / max(1, sum(a.flips for a in plan.actions))
    lines: dict[str, int | float] = {"default plan": plan.flipped, "its cost": round(cost, 2)}
    for one in found:
        lines[one.method] = int(one.flipped.sum())
        lines[f"cost of {one.method}"] = round(one.cost, 2)
    return lines


def best_of_all(explainer: Explainer, rows: pd.DataFrame, constraints: Constraints) -> int:
    """How many rows the best five of all actions of one or two moves flip."""
    population = opened(crowd(explainer.engine, rows, 1, constraints))
    trials = ActionTrials(population, common_moves(population.space))
    unit = trials.moves.unit
    every: list[tuple[int, ...]] = [(at,) for at in range(len(unit))]
    every += [pair for pair in combinations(range(len(unit)), 2) if unit[pair[0]] != unit[pair[1]]]
    for start in range(0, len(every), AT_ONCE):
        trials.score(every[start : start + AT_ONCE])
    return most_covered(_maximal(np.stack(trials.reached)), ACTIONS)


def _maximal(reached: Array) -> Array:
    """Actions (C, Q) that are not outdone by another in every row."""
    reached = np.unique(reached, axis=0)
    reached = reached[np.argsort(-reached.sum(axis=1), kind="stable")]
    kept: list[Array] = []
    for line in reached:
        if not any((line & ~other).sum() == 0 for other in kept):
            kept.append(line)
    return np.stack(kept)


def most_covered(reached: Array, count: int) -> int:
    """The most rows that `count` of the actions (C, Q) flip together, exactly.

    >>> most_covered(np.array([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1]], bool), 2)
    5
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix, eye, hstack

    actions, rows = reached.shape
    gain = np.concatenate([np.zeros(actions), -np.ones(rows)])
    flipped = hstack([-csr_matrix(reached.T.astype(float)), eye(rows)])
    chosen = np.concatenate([np.ones(actions), np.zeros(rows)])[None]
    bounds = [
        LinearConstraint(flipped, -np.inf, 0),
        LinearConstraint(csr_matrix(chosen), -np.inf, count),
    ]
    solved = milp(gain, constraints=bounds, integrality=np.ones(len(gain)), bounds=Bounds(0, 1))
    return round(-solved.fun)


def biases(explainer: Explainer, cell: Cell) -> list[dict[str, Any]]:
    """How many decisions each protected column alone changes."""
    columns = [c for c in PROTECTED if c in cell.train.columns]
    rows = unseen(cell)
    found = explainer.bias(rows, protected=columns, want=1)
    return [
        {
            "column": column,
            "rows": len(rows),
            **{
                name: f"{100 * (end or 0.0):.2f} %"
                for name, end in (("share", share.value), ("low", share.low), ("high", share.high))
            },
        }
        for column, share in found.flips
    ]


def robustness(explainer: Explainer, cell: Cell, count: int) -> list[dict[str, Any]]:
    """Answers that must hold with five refits, under a sixth."""
    *others, sixth = [_refit(cell, seed) for seed in range(1, REFITS + 2)]
    rows = rejected(cell).iloc[:count]
    asked: dict[str, dict[str, Any]] = {
        "valid (default)": {"robust": 0},
        "robust=0.9": {"robust": 0.9},
        "also= five refits": {"also": others},
        "both": {"robust": 0.9, "also": others},
    }
    lines = []
    for name, options in asked.items():
        began = time.perf_counter()
        found = explainer.explain(rows, want=1, **options)
        seconds = time.perf_counter() - began
        lines.append({"accepted if": name, **_under(found, sixth), "seconds": seconds})
    return lines


def _refit(cell: Cell, seed: int) -> Any:
    """The same kind of model on rows drawn again with replacement."""
    train, label = cell.train, cell.dataset.label[cell.dataset.split()[0]]
    drawn = np.random.default_rng(seed).integers(0, len(train), len(train))
    return xgboost(cell.dataset).fit(train.iloc[drawn], label[drawn])


def _under(found: Explanations, sixth: Any) -> dict[str, Any]:
    """What another model says of the best answers."""
    best = [item.counterfactuals[0] for item in found if item.counterfactuals]
    valid = sixth.predict(pd.concat([answer.row for answer in best])) == 1
    measured = [answer.robustness for answer in best if answer.robustness is not None]
    return {
        "found": len(best),
        "still valid": f"{100 * valid.mean():.1f} %",
        "changes": float(np.mean([answer.sparsity for answer in best])),
        "robustness": float(np.mean(measured)) if measured else None,
    }
