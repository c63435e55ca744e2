"""How good the answers are: the default, beside the optimum and beside other tools."""

from __future__ import annotations

from macex.bench.cells import Cells
from macex.bench.claims import Claim
from macex.bench.quality.default import measure_default
from macex.bench.quality.nearest import measure_nearest
from macex.bench.quality.plausibility import measure_reinforce
from macex.bench.quality.sparsity import measure_optimum
from macex.bench.tables import Report

__all__ = ["run"]


def run(cells: Cells, report: Report, queries: int = 50) -> list[Claim]:
    """Print the four tables of quality and return what they show."""
    report.progress("quality: fitting models")
    here = list(cells)
    defaults, claims = measure_default(here, report, queries)
    return [
        *claims,
        *measure_optimum(here, report, queries, defaults),
        *measure_nearest(here, report, queries),
        *measure_reinforce(here, report, queries, defaults),
    ]
