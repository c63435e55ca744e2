"""The three searches without fallback, and REINFORCE under three readings of its penalty."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Literal

from macex.bench.cells import Cell, Cells
from macex.bench.claims import Claim
from macex.bench.figures import Figures, figures
from macex.bench.tables import Report
from macex.explainer import Explainer
from macex.explanation import Explanation
from macex.stages.search.reinforce import Reinforce

Reading = Literal["batch", "mean", "columns"]

SEARCHES = ("exhaustive", "reinforce", "gradientless")
READINGS: tuple[Reading, ...] = ("batch", "mean", "columns")


def run(cells: Cells, report: Report, queries: int = 50, seeds: int = 3) -> list[Claim]:
    """Print both tables; they compare, and claim nothing."""
    here = list(cells)
    compare_searches(here, report, queries)
    compare_readings(here, report, queries, seeds)
    return []


def compare_searches(cells: Sequence[Cell], report: Report, queries: int) -> None:
    """A line for every cell and search, then the means of each search."""
    searches = "search".rjust(max(map(len, SEARCHES)))
    headings = ("cell", searches, "valid", "changes", "proximity", "under .05", "rows", "calls")
    table = report.table("Each search alone (fallback=False)", *headings)
    found: dict[str, list[Figures]] = {method: [] for method in SEARCHES}
    for cell in cells:
        for method in SEARCHES:
            report.progress(f"searches: {cell.name}, {method}")
            explainer = Explainer(cell.model, cell.train, method=method, fallback=False)
            reached = figures(explainer.explain(cell.queries(queries)), cell.dataset.name)
            table.add(cell.name, method, *_line(reached))
            found[method].append(reached)
    for method, of_cells in found.items():
        if of_cells:
            table.add("mean", method, *_line(Figures(*map(mean, zip(*of_cells, strict=True)))))


def _line(reached: Figures) -> tuple[float | str, ...]:
    return (*reached[:4], f"{reached.rows:.0f}", f"{reached.calls:.1f}")


def compare_readings(cells: Sequence[Cell], report: Report, queries: int, seeds: int) -> None:
    """Validity, changes and proximity of each reading, over the rows that all of them answer."""
    headings = [
        f"{name} {reading}" for name in ("valid", "changes", "prox") for reading in READINGS
    ]
    title = f"REINFORCE: the penalty against the batch, the mean, or per column; {seeds} seeds"
    table = report.table(title, "cell", *headings)
    lines = []
    for cell in cells:
        report.progress(f"readings: {cell.name}")
        answers = [_answers(cell, reading, queries, seeds) for reading in READINGS]
        shared = [
            all(item.counterfactuals for item in of_row) for of_row in zip(*answers, strict=True)
        ]
        validity = [
            mean(float(item.status == "found") for item in of_reading) for of_reading in answers
        ]
        common = [
            figures(
                [item for item, keep in zip(of_reading, shared, strict=True) if keep],
                cell.dataset.name,
            )
            for of_reading in answers
        ]
        line = [*validity, *(f.sparsity for f in common), *(f.proximity for f in common)]
        table.add(cell.name, *line)
        lines.append(line)
    if lines:
        table.add("mean", *(f"{mean(column):.3f}" for column in zip(*lines, strict=True)))


def _answers(cell: Cell, reading: Reading, queries: int, seeds: int) -> list[Explanation]:
    """The answers of all seeds, one after the other."""
    rows = cell.queries(queries)
    method = Reinforce(weigh=reading)
    return [
        item
        for seed in range(seeds)
        for item in Explainer(
            cell.model, cell.train, method=method, fallback=False, random_state=seed
        ).explain(rows)
    ]
