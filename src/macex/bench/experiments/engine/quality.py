"""How good the answers are: the default, beside the optimum and beside other tools on record."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from macex.bench.claims import Claim, at_least, at_most, everywhere
from macex.bench.experiments.engine.optimum import NearestOptimum
from macex.bench.figures import BY_MEDIAN, Figures
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT, NEAREST, method
from macex.bench.plan import Plan
from macex.bench.record import others
from macex.bench.record.others import ALL_ROWS, IMPLAUSIBLE, MACE_RL, Figure, listed
from macex.bench.report.document import Section, Table
from macex.bench.tasks import Outcome, Task
from macex.bench.workshop import Workshop

ASKED = (DEFAULT, NEAREST, "reinforce", "optimum")
MOST_ROWS = 600
MOST_CALLS = 8
LEAST_PROVED = 0.9
MOST_EXCESS = 2.0  # percent more changes
FARTHER = 0.1
LEAST_CELLS = 8

Cell = tuple[str, str]


def tasks(plan: Plan) -> list[Task]:
    """Four methods on the rows that are on record, the default alone, and the nearest optimum."""
    asked = plan.answers(plan.models, map(method, ASKED), most=ALL_ROWS)
    cells = [
        (dataset, model, plan.count(dataset, most=ALL_ROWS))
        for dataset in plan.here
        for model in plan.models
    ]
    return [
        *asked,
        *(Task("alone", dataset, model, DEFAULT, stop=stop) for dataset, model, stop in cells),
        *(
            Task("nearest optimum", dataset, model, NEAREST, stop=stop)
            for dataset, model, stop in cells
            if dataset not in BY_MEDIAN
        ),
    ]


def measure(task: Task, workshop: Workshop) -> Outcome:
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
    return Outcome(task, records)


def show(findings: Findings) -> Section:
    """Four tables, a line for every cell."""
    return Section(
        f"The engine beside optimum and record, {ALL_ROWS} queries a cell",
        [_default(findings), _NOTE, _sparsity(findings), _nearest(findings), _reinforce(findings)],
    )


_NOTE = (
    "own: validity without fallback; under .05: share of implausible answers; proved: share proved "
    "to change the fewest columns over seen or all values; rows and calls are counted at the model "
    "for queries asked one at a time. Proximity on Credit is a median. On record: other tools on "
    "the same set-up, with models fitted by other versions of the libraries."
)


def _all(findings: Findings, name: str) -> dict[Cell, Figures]:
    """The figures of every cell on the rows that are on record, however many others were asked."""
    found = {cell: findings.figures(*cell, name, first=ALL_ROWS) for cell in findings.cells()}
    return {cell: one for cell, one in found.items() if one is not None}


def _proved(findings: Findings, cell: Cell, name: str = DEFAULT) -> float:
    records = findings.records(*cell, name)
    answered = [
        float(r["proved"]) for query, r in records.items() if r["found"] and query < ALL_ROWS
    ]
    return mean(answered) if answered else float("nan")


def _default(findings: Findings) -> Table:
    table = Table(
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


def _sparsity(findings: Findings) -> Table:
    table = Table(
        "Changed columns: the default, the optimum on the same models, and on record",
        ("cell", "default", "optimum", "proved", "optimum on record", "best tool on record"),
    )
    best = _all(findings, "optimum")
    for cell, found in _all(findings, DEFAULT).items():
        record, rival = listed(others.FEWEST, *cell), others.sparsest(*cell)
        optimum = best.get(cell)
        table.add(
            _named(cell),
            found.sparsity,
            optimum and optimum.sparsity,
            _proved(findings, cell, "optimum"),
            record and record.sparsity,
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


def _nearest(findings: Findings) -> Table:
    table = Table(
        'Proximity with prefer="nearest", the optimum on the same models, and on record',
        [
            *("cell", "changes", "nearest", "optimum", "known", "excess"),
            *("optimum on record", "best tool on record"),
        ],
    )
    for cell, found in _all(findings, NEAREST).items():
        against = _excess(findings, cell)
        record, rival = listed(others.NEAREST, *cell), others.nearest(*cell)
        table.add(
            _named(cell),
            *(found.sparsity, found.proximity_of(cell[0])),
            *((-against[1], against[2]) if against else (None, None)),
            against and f"{against[0] / against[1] - 1:.1%}",
            record and record.proximity,
            rival and f"{rival[1].proximity:.2f} {rival[0]}",
        )
    return table


def _reinforce(findings: Findings) -> Table:
    table = Table(
        "Share of answers under 0.05, and REINFORCE beside OmniXAI's MACE-RL (on record)",
        ("cell", "default", "reinforce", "MACE-RL", "changes", "MACE-RL", "proximity", "MACE-RL"),
    )
    defaults = _all(findings, DEFAULT)
    for cell, found in _all(findings, "reinforce").items():
        record = listed(MACE_RL, *cell)
        table.add(
            _named(cell),
            *(defaults[cell].implausible, found.implausible, IMPLAUSIBLE.get(cell)),
            *(found.sparsity, record and record.sparsity),
            *(found.proximity_of(cell[0]), record and record.proximity),
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
    here = [
        found.sparsity / min(found.sparsity, best[cell].sparsity)
        for cell, found in defaults.items()
        if cell in best
    ]
    record = [
        found.sparsity / figure.sparsity
        for cell, found in defaults.items()
        if (figure := listed(others.FEWEST, *cell))
    ]
    above = [
        (f"{_named(cell)} by {rival[0]}", found.sparsity - rival[1].sparsity)
        for cell, found in defaults.items()
        if (rival := others.sparsest(*cell))
    ]
    percent = [100 * (mean(ratios) - 1) if ratios else float("nan") for ratios in (here, record)]
    return [
        at_most("changes above the optimum on the same models", percent[0], MOST_EXCESS, " %"),
        at_most("changes above the optimum on record", percent[1], MOST_EXCESS, " %"),
        everywhere("no tool on record that answered all rows changes fewer columns", above),
    ]


def _near_claims(findings: Findings) -> list[Claim]:
    found = _all(findings, NEAREST)

    def here(cell: Cell, _: Figures) -> float | None:
        against = _excess(findings, cell)
        return None if against is None else against[0] / against[1] - 1

    def on_record(cell: Cell, reached: Figures) -> float | None:
        record = listed(others.NEAREST, *cell)
        return None if record is None else reached.proximity / record.proximity - 1

    words = "nearest: within 10 % of the optimum"
    return [
        everywhere(f"{words} on the same models", _gaps(found, here), FARTHER),
        everywhere(f"{words} on record", _gaps(found, on_record), FARTHER),
    ]


def _reinforce_claims(findings: Findings, defaults: dict[Cell, Figures]) -> list[Claim]:
    found = _all(findings, "reinforce")
    limits = {cell: IMPLAUSIBLE.get(cell, one.implausible) for cell, one in found.items()}
    kept = sum(defaults[cell].implausible <= limit + 1e-9 for cell, limit in limits.items())
    sentence = (
        "cells with no more implausible answers than MACE-RL on record, or where nothing is on "
        "record than our reinforce"
    )
    pairs: list[tuple[float, float, Figure]] = [
        (one.sparsity, -one.proximity_of(cell[0]), record)
        for cell, one in found.items()
        if (record := listed(MACE_RL, *cell))
    ]
    if not pairs:
        return []
    changes, steps, records = zip(*pairs, strict=True)
    fewest = round(mean(record.sparsity for record in records), 3)
    nearest = round(-mean(record.proximity for record in records), 3)
    return [
        at_least(sentence, kept, min(LEAST_CELLS, len(found))),
        at_most("reinforce: changed columns, against MACE-RL on record", mean(changes), fewest),
        at_most("reinforce: distance (minus proximity), likewise", mean(steps), nearest),
    ]


def _named(cell: Cell) -> str:
    return " / ".join(cell)
