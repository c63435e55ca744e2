"""The default on every cell: what it finds, and what a query costs alone and in a batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import mean

from macex.bench.cells import Cell
from macex.bench.claims import Claim, at_least, at_most, everywhere
from macex.bench.figures import Alone, Figures, alone, figures
from macex.bench.reference import ROWS
from macex.bench.tables import Report
from macex.explainer import Explainer

MOST_ROWS = 600
MOST_CALLS = 8
LEAST_PROVED = 0.9


def measure_default(
    cells: Sequence[Cell], report: Report, queries: int
) -> tuple[dict[str, Figures], list[Claim]]:
    """Print a line per cell; the figures by the cell's name, and the claims they bear out."""
    table = report.table(
        f"The default, {queries} queries a cell",
        *("cell", "own", "valid", "changes", "proximity", "under .05", "proved"),
        *("rows", "calls", "ms alone", "cpu ms", "ms batch"),
    )
    found: dict[str, Figures] = {}
    costs: dict[str, Alone] = {}
    for cell in cells:
        report.progress(f"default: {cell.name}")
        rows = cell.queries(queries)
        own = Explainer(cell.model, cell.train, fallback=False).explain(rows)
        explainer = Explainer(cell.model, cell.train)
        began = time.perf_counter()
        reached = figures(explainer.explain(rows), cell.dataset.name)
        batch = 1000 * (time.perf_counter() - began) / len(rows)
        cost = alone(cell.model, cell.train, rows)
        table.add(
            cell.name,
            figures(own, cell.dataset.name).validity,
            *reached[:5],
            f"{cost.rows:.0f}",
            f"{cost.calls:.1f}",
            f"{cost.milliseconds:.1f}",
            f"{cost.cpu:.1f}",
            f"{batch:.1f}",
        )
        found[cell.name], costs[cell.name] = reached, cost
    on_record = ", ".join(f"{tool} {low} to {high}" for tool, (low, high) in ROWS.items())
    report.note(
        "own: validity without fallback; under .05: share of implausible answers; proved: share "
        "proved to change the fewest columns over seen or all values; rows and calls are counted "
        "at the model for queries asked one at a time. Proximity on Credit is a median. Rows on "
        f"record: {on_record}."
    )
    return found, _claims(found, costs)


def _claims(found: dict[str, Figures], costs: dict[str, Alone]) -> list[Claim]:
    if not found:
        return []
    return [
        everywhere("validity is 1.00", ((name, 1 - f.validity) for name, f in found.items())),
        at_most("rows per query, mean of cells", mean(c.rows for c in costs.values()), MOST_ROWS),
        at_most(
            "calls for a query alone, mean of cells",
            mean(c.calls for c in costs.values()),
            MOST_CALLS,
        ),
        at_least(
            "share of answers proved minimal over seen values",
            mean(f.proved for f in found.values()),
            LEAST_PROVED,
        ),
    ]
