"""Whole populations on Adult and Titanic: plans, bias, robustness. `python -m macex.bench.cohort`.

Plans are held against the best of all: every pair of moves is scored on a sample, and the best five
actions of one or two moves are found exactly, by integer programming.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.bench.cells import Cell, Cells, xgboost
from macex.bench.tables import Report, Table
from macex.cohort.covering import Trials
from macex.cohort.moves import common_moves
from macex.cohort.population import crowd, opened
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.schema import Array

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


def run(cells: Cells, report: Report, robust_rows: int = ROBUST_ROWS) -> None:
    """Print the tables."""
    adult, titanic = cells.get("adult", "XGBoost"), cells.get("titanic", "XGBoost")
    if adult is None:
        return
    explainer = Explainer(adult.model, adult.train)
    plans(explainer, adult, report)
    for cell in (adult, titanic):
        if cell is not None:
            biases(cell, report)
    robustness(explainer, adult, report, robust_rows)


def unseen(cell: Cell) -> pd.DataFrame:
    """All test rows."""
    return cell.dataset.frame.iloc[cell.dataset.split()[1]]


def rejected(cell: Cell) -> pd.DataFrame:
    """The test rows that the model decides against."""
    rows = unseen(cell)
    return rows[cell.model.predict(rows) == 0]


def plans(explainer: Explainer, cell: Cell, report: Report) -> None:
    """Five actions of at most two changes for all rejected rows, and against the optimum."""
    rows = rejected(cell)
    table = report.table(
        f"{ACTIONS} actions of at most {CHANGES} changes, {len(rows)} rejected rows of Adult",
        *("may change", "flipped", "share", "seconds", "sample", "plan", "best of all pairs"),
    )
    spaced = np.linspace(0, len(rows) - 1, SAMPLE).astype(int)
    for name, constraints in KINDS.items():
        report.progress(f"plans: {name}")
        began = time.perf_counter()
        found = explainer.plan(rows, want=1, constraints=constraints)
        seconds = time.perf_counter() - began
        few = rows.iloc[spaced]
        sample = explainer.plan(few, want=1, constraints=constraints)
        table.add(
            name,
            found.flipped,
            f"{100 * found.coverage:.1f} %",
            f"{seconds:.0f}",
            len(few),
            sample.flipped,
            best_of_all(explainer, few, constraints),
        )
        report.note(f"{name}:\n{found}")


def best_of_all(explainer: Explainer, rows: pd.DataFrame, constraints: Constraints) -> int:
    """How many rows the best five of all actions of one or two moves flip."""
    population = opened(crowd(explainer, rows, 1, constraints))
    trials = Trials(population, common_moves(population.space))
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


def biases(cell: Cell, report: Report) -> None:
    """What protected columns do, in sentences."""
    columns = [c for c in PROTECTED if c in cell.train.columns]
    report.progress(f"bias: {cell.name}")
    explainer = Explainer(cell.model, cell.train)
    rows = unseen(cell)
    found = explainer.bias(rows, protected=columns, want=1)
    table = report.table(
        f"Decisions that one column alone changes, {len(rows)} test rows of {cell.name}",
        *("column", "share", "low", "high"),
    )
    for column, share in found.flips:
        ends = (share.value, share.low or 0.0, share.high or 0.0)
        table.add(column, *(f"{100 * end:.2f} %" for end in ends))
    report.note("\n".join(found.reading()))


def robustness(explainer: Explainer, cell: Cell, report: Report, count: int) -> None:
    """Answers that must hold with five refits, under a sixth."""
    *others, sixth = [_refit(cell, seed) for seed in range(1, REFITS + 2)]
    rows = rejected(cell).iloc[:count]
    table = report.table(
        f"Answers for {len(rows)} rejected rows of Adult, under a refit that nobody asked",
        *("accepted if", "found", "still valid", "changes", "robustness", "seconds"),
    )
    asked: dict[str, dict[str, Any]] = {
        "valid (default)": {"robust": 0},
        "robust=0.9": {"robust": 0.9},
        "also= five refits": {"also": others},
        "both": {"robust": 0.9, "also": others},
    }
    for name, options in asked.items():
        report.progress(f"robustness: {name}")
        began = time.perf_counter()
        found = explainer.explain(rows, want=1, **options)
        _add(table, name, found, sixth, time.perf_counter() - began)


def _refit(cell: Cell, seed: int) -> Any:
    """The same kind of model on rows drawn again with replacement."""
    train, label = cell.train, cell.dataset.label[cell.dataset.split()[0]]
    drawn = np.random.default_rng(seed).integers(0, len(train), len(train))
    return xgboost(cell.dataset).fit(train.iloc[drawn], label[drawn])


def _add(table: Table, name: str, found: Explanations, sixth: Any, seconds: float) -> None:
    best = [item.counterfactuals[0] for item in found if item.counterfactuals]
    valid = sixth.predict(pd.concat([answer.row for answer in best])) == 1
    measured = [answer.robustness for answer in best if answer.robustness is not None]
    table.add(
        name,
        len(best),
        f"{100 * valid.mean():.1f} %",
        float(np.mean([answer.sparsity for answer in best])),
        float(np.mean(measured)) if measured else None,
        f"{seconds:.0f}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m macex.bench.cohort", description=__doc__)
    parser.add_argument("--data", metavar="FOLDER", help="where the datasets' files are")
    parser.add_argument("--robust-rows", type=int, default=ROBUST_ROWS)
    asked = parser.parse_args(arguments)
    run(Cells(asked.data), Report(), asked.robust_rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
