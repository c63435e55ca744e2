"""Plausibility of the default and of REINFORCE, and REINFORCE beside the authors' own code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from macex.bench.cells import Cell
from macex.bench.claims import Claim, at_least, at_most
from macex.bench.figures import Figures, figures
from macex.bench.reference import IMPLAUSIBLE, MACE_RL, Figure, listed
from macex.bench.tables import Report
from macex.explainer import Explainer

LEAST_CELLS = 8


def measure_reinforce(
    cells: Sequence[Cell], report: Report, queries: int, defaults: Mapping[str, Figures]
) -> list[Claim]:
    """Print a line per cell, and return the claims."""
    table = report.table(
        "Share of answers under 0.05, and REINFORCE beside OmniXAI's MACE-RL (on record)",
        *("cell", "default", "reinforce", "MACE-RL", "changes", "MACE-RL", "proximity", "MACE-RL"),
    )
    found: dict[str, Figures] = {}
    for cell in cells:
        report.progress(f"reinforce: {cell.name}")
        explainer = Explainer(cell.model, cell.train, method="reinforce")
        reached = figures(explainer.explain(cell.queries(queries)), cell.dataset.name)
        record = listed(MACE_RL, cell.dataset.name, cell.kind)
        table.add(
            cell.name,
            defaults[cell.name].implausible,
            reached.implausible,
            IMPLAUSIBLE.get((cell.dataset.name, cell.kind)),
            *(reached.sparsity, record and record.sparsity),
            *(reached.proximity, record and record.proximity),
        )
        found[cell.name] = reached
    return [*_plausible(cells, defaults, found), *_against_record(cells, found)]


def _plausible(
    cells: Sequence[Cell], defaults: Mapping[str, Figures], found: Mapping[str, Figures]
) -> list[Claim]:
    """Against the published shares where there are any, elsewhere against our own REINFORCE."""
    if not cells:
        return []
    limits = {
        cell.name: IMPLAUSIBLE.get((cell.dataset.name, cell.kind), found[cell.name].implausible)
        for cell in cells
    }
    kept = sum(defaults[name].implausible <= limit + 1e-9 for name, limit in limits.items())
    published = [cell for cell in cells if (cell.dataset.name, cell.kind) in IMPLAUSIBLE]
    kept_there = sum(
        defaults[cell.name].implausible <= limits[cell.name] + 1e-9 for cell in published
    )
    sentence = (
        "cells with no more implausible answers than MACE-RL as published, or where nothing is "
        f"published than our reinforce (published: {kept_there} of {len(published)})"
    )
    return [at_least(sentence, kept, min(LEAST_CELLS, len(cells)))]


def _against_record(cells: Sequence[Cell], found: Mapping[str, Figures]) -> list[Claim]:
    """REINFORCE against MACE-RL: means over the cells."""
    pairs: list[tuple[Figures, Figure]] = [
        (found[cell.name], record)
        for cell in cells
        if (record := listed(MACE_RL, cell.dataset.name, cell.kind))
    ]
    if not pairs:
        return []
    changes = mean(ours.sparsity for ours, _ in pairs)
    steps = -mean(ours.proximity for ours, _ in pairs)
    return [
        at_most(
            "reinforce: changed columns, against MACE-RL on record",
            changes,
            round(mean(record.sparsity for _, record in pairs), 3),
        ),
        at_most(
            "reinforce: distance (minus proximity), against MACE-RL on record",
            steps,
            round(-mean(record.proximity for _, record in pairs), 3),
        ),
    ]
