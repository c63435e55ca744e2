"""How good the answers are: the default beside the optimum and the best of the other methods.

All explain the same rows of the same fitted models, in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from macex.bench.claims import Claim, at_least, at_most, everywhere
from macex.bench.experiments.engine.optimum import NearestOptimum
from macex.bench.figures import BY_MEDIAN, Figures
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT, NEAREST, OMNIXAI_RL, method
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop

ASKED = (DEFAULT, NEAREST, "reinforce", "optimum")
ROWS = 50
MOST_ROWS = 600
MOST_CALLS = 8
LEAST_PROVED = 0.9
MOST_EXCESS = 2.0  # percent more changes
FARTHER = 0.1
LEAST_CELLS = 8

Cell = tuple[str, str]


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Four of ours and the others on the same rows, the default alone, and the nearest optimum."""
    rivals = [one for one in plan.chosen() if one.rival and (one.most or ROWS) >= ROWS]
    asked = [
        *plan.answers(plan.models, map(method, ASKED), most=ROWS),
        *plan.answers(plan.models, rivals),  # the tasks of tables 1 and 2
    ]
    cells = [
        (dataset, model, plan.count(dataset, most=ROWS))
        for dataset in plan.here
        for model in plan.models
    ]
    return [
        *asked,
        *(BenchTask("alone", dataset, model, DEFAULT, stop=stop) for dataset, model, stop in cells),
        *(
            BenchTask("nearest optimum", dataset, model, NEAREST, stop=stop)
            for dataset, model, stop in cells
            if dataset not in BY_MEDIAN
        ),
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """The answers against the optimum over seen values: distances, None past its budget."""
    cell = workshop.cell(task)
    optimum = NearestOptimum(cell.model, cell.dataset, cell.train)
    found = workshop.built(task).explainer.explain(cell.queries(task.stop))
    records = []
    for item in found:
        if item.counterfactuals:
            reached = -item.counterfactuals[0].proximity
            least = optimum.distance(item.query, reached)
            records.append({"reached": reached, "least": least})
    return TaskOutcome(task, records)


def show(findings: Findings) -> ReportSection:
    """Four tables, a line for every cell."""
    return ReportSection(
        f"The engine beside the optimum and the others, {ROWS} queries a cell",
        [
            _default(findings),
            _NOTE,
            changed_columns(findings),
            _nearest(findings),
            _reinforce(findings),
        ],
    )


_NOTE = (
    "own: validity without fallback; under .05: share of implausible answers; proved: share proved "
    "to change the fewest columns over seen or all values; rows and calls are counted at the model "
    "for queries asked one at a time. Proximity on Credit is a median. Best other: the best of the "
    "other methods that answered all of these queries, on the same fitted models."
)


def _all(findings: Findings, name: str) -> dict[Cell, Figures]:
    """The figures of every cell on the same rows, however many more were asked."""
    found = {cell: findings.figures(*cell, name, first=ROWS) for cell in findings.cells()}
    return {cell: one for cell, one in found.items() if one is not None}


def _proved(findings: Findings, cell: Cell, name: str = DEFAULT) -> float:
    records = findings.records(*cell, name)
    answered = [float(r["proved"]) for query, r in records.items() if r["found"] and query < ROWS]
    return mean(answered) if answered else float("nan")


def _default(findings: Findings) -> ReportTable:
    table = ReportTable(
        "The default",
        [
            *("cell", "own", "valid", "changes", "proximity", "under .05", "proved"),
            *("rows", "calls", "ms alone", "cpu ms", "cpu ms batch"),
        ],
    )
    for cell, found in _all(findings, DEFAULT).items():
        alone = findings.per_query("alone", *cell, DEFAULT)
        batch = findings.per_query("answers", *cell, DEFAULT)
        table.add(
            _named(cell),
            *(found.own, found.validity, found.sparsity, found.proximity_of(cell[0])),
            *(found.implausible, _proved(findings, cell)),
            *(round(alone.get("rows", 0)), f"{alone.get('calls', 0):.1f}"),
            *(f"{1000 * alone.get(name, 0):.1f}" for name in ("seconds", "cpu")),
            f"{1000 * batch['cpu']:.1f}",
        )
    return table


def _rivals(findings: Findings, cell: Cell) -> dict[str, Figures]:
    """The other methods that answered all rows of a cell."""
    found = {
        name: findings.figures(*cell, name, first=ROWS)
        for name in findings.methods()
        if method(name).rival
    }
    asked = findings.plan.count(cell[0], most=ROWS)
    return {
        name: one
        for name, one in found.items()
        if one is not None and one.queries == asked and one.validity == 1
    }


def _sparsest(findings: Findings, cell: Cell) -> tuple[str, Figures] | None:
    rivals = _rivals(findings, cell).items()
    return min(rivals, key=lambda rival: rival[1].sparsity, default=None)


def _nearest_rival(findings: Findings, cell: Cell) -> tuple[str, Figures] | None:
    rivals = _rivals(findings, cell).items()
    return max(rivals, key=lambda rival: rival[1].proximity_of(cell[0]), default=None)


def changed_columns(findings: Findings) -> ReportTable:
    """The default beside the optimum and the best of the other methods, cell by cell."""
    table = ReportTable(
        f"Changed columns, {ROWS} queries a cell, all on the same fitted models: lower is better.",
        ("cell", "default", "optimum", "proved", "best other"),
    )
    best = _all(findings, "optimum")
    for cell, found in _all(findings, DEFAULT).items():
        rival, optimum = _sparsest(findings, cell), best.get(cell)
        table.add(
            _named(cell),
            found.sparsity,
            optimum and optimum.sparsity,
            _proved(findings, cell, "optimum"),
            rival and f"{rival[1].sparsity:.2f} {rival[0]}",
        )
    return table


def _excess(findings: Findings, cell: Cell) -> tuple[float, float, float] | None:
    """Mean distance of answers and of the optimum where it is known, and how often it is."""
    records = [r for o in findings.of("nearest optimum", *cell, NEAREST) for r in o.records]
    known = [record for record in records if record["least"] is not None]
    if not known:
        return None
    return (
        mean(record["reached"] for record in known),
        mean(record["least"] for record in known),
        len(known) / len(records),
    )


def _nearest(findings: Findings) -> ReportTable:
    table = ReportTable(
        'Proximity with prefer="nearest", the optimum, and the best of the others',
        ("cell", "changes", "nearest", "optimum", "known", "excess", "best other"),
    )
    for cell, found in _all(findings, NEAREST).items():
        against, rival = _excess(findings, cell), _nearest_rival(findings, cell)
        table.add(
            _named(cell),
            *(found.sparsity, found.proximity_of(cell[0])),
            *((-against[1], against[2]) if against else (None, None)),
            against and f"{against[0] / against[1] - 1:.1%}",
            rival and f"{rival[1].proximity_of(cell[0]):.2f} {rival[0]}",
        )
    return table


def _reinforce(findings: Findings) -> ReportTable:
    table = ReportTable(
        "REINFORCE beside OmniXAI's MACE-RL: answers under 0.05, changes, proximity",
        ("cell", "default", "reinforce", "OmniXAI", "changes", "OmniXAI", "proximity", "OmniXAI"),
    )
    defaults, theirs = _all(findings, DEFAULT), _all(findings, OMNIXAI_RL)
    for cell, found in _all(findings, "reinforce").items():
        other = theirs.get(cell)
        table.add(
            _named(cell),
            *(defaults[cell].implausible, found.implausible, other and other.implausible),
            *(found.sparsity, other and other.sparsity),
            *(found.proximity_of(cell[0]), other and other.proximity_of(cell[0])),
        )
    return table


def claims(findings: Findings) -> list[Claim]:
    """What the engine should reach."""
    defaults = _all(findings, DEFAULT)
    if not defaults:
        return []
    alone = [findings.per_query("alone", *cell, DEFAULT) for cell in defaults]
    return [
        everywhere("validity is 1.00", _gaps(defaults, lambda _, found: 1 - found.validity)),
        *(
            at_most(f"{name} for a query alone, mean of cells", mean(c[name] for c in alone), most)
            for name, most in (("rows", MOST_ROWS), ("calls", MOST_CALLS))
            if all(alone)
        ),
        at_least(
            "share of answers proved minimal over seen values",
            mean(_proved(findings, cell) for cell in defaults),
            LEAST_PROVED,
        ),
        *_sparse_claims(findings, defaults),
        *_near_claims(findings),
        *_reinforce_claims(findings, defaults),
    ]


def _gaps(
    found: dict[Cell, Figures], gap: Callable[[Cell, Figures], float | None]
) -> list[tuple[str, float]]:
    gaps = {cell: gap(cell, one) for cell, one in found.items()}
    return [(_named(cell), value) for cell, value in gaps.items() if value is not None]


def _sparse_claims(findings: Findings, defaults: dict[Cell, Figures]) -> list[Claim]:
    best = _all(findings, "optimum")
    ratios = [
        found.sparsity / min(found.sparsity, best[cell].sparsity)
        for cell, found in defaults.items()
        if cell in best
    ]
    above = [
        (f"{_named(cell)} by {rival[0]}", found.sparsity - rival[1].sparsity)
        for cell, found in defaults.items()
        if (rival := _sparsest(findings, cell))
    ]
    percent = 100 * (mean(ratios) - 1) if ratios else float("nan")
    return [
        at_most("changes above the optimum on the same models", percent, MOST_EXCESS, " %"),
        everywhere("no other method that answered all rows changes fewer columns", above),
    ]


def _near_claims(findings: Findings) -> list[Claim]:
    found = _all(findings, NEAREST)

    def here(cell: Cell, _: Figures) -> float | None:
        against = _excess(findings, cell)
        return None if against is None else against[0] / against[1] - 1

    farther = [
        (
            f"{_named(cell)} by {rival[0]}",
            rival[1].proximity_of(cell[0]) - one.proximity_of(cell[0]),
        )
        for cell, one in found.items()
        if (rival := _nearest_rival(findings, cell))
    ]
    sentence = "nearest: within 10 % of the optimum on the same models"
    return [
        everywhere(sentence, _gaps(found, here), FARTHER),
        everywhere("nearest: no other method that answered all rows is nearer on average", farther),
    ]


def _reinforce_claims(findings: Findings, defaults: dict[Cell, Figures]) -> list[Claim]:
    """Against the code of the paper's authors, on the same models."""
    found, theirs = _all(findings, "reinforce"), _all(findings, OMNIXAI_RL)
    both = [cell for cell in found if cell in theirs]
    if not both:
        return []
    kept = sum(defaults[cell].implausible <= theirs[cell].implausible + 1e-9 for cell in both)
    sentence = "cells where the default has no more implausible answers than OmniXAI's MACE-RL"
    return [
        at_least(sentence, kept, min(LEAST_CELLS, len(both))),
        at_most(
            "reinforce: changed columns, against OmniXAI's MACE-RL",
            mean(found[cell].sparsity for cell in both),
            round(mean(theirs[cell].sparsity for cell in both), 3),
        ),
        at_most(
            "reinforce: distance (minus proximity), likewise",
            -mean(found[cell].proximity_of(cell[0]) for cell in both),
            round(-mean(theirs[cell].proximity_of(cell[0]) for cell in both), 3),
        ),
    ]


def _named(cell: Cell) -> str:
    return " / ".join(cell)
