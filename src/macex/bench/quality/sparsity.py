"""The default's number of changes beside the fewest possible and beside other tools'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from macex.bench.cells import Cell
from macex.bench.claims import Claim, at_most, everywhere
from macex.bench.figures import Figures, figures
from macex.bench.reference import FEWEST, listed, sparsest
from macex.bench.tables import Report
from macex.explainer import Explainer
from macex.stages.search.exhaustive import Exhaustive

BUDGET = 70_000  # enough for all triples of Breast
MOST_EXCESS = 2.0  # percent


def measure_optimum(
    cells: Sequence[Cell], report: Report, queries: int, defaults: Mapping[str, Figures]
) -> list[Claim]:
    """Search all values seen in training with a large budget, and hold the default against it."""
    table = report.table(
        "Changed columns: the default, the optimum on the same models, and figures on record",
        *("cell", "default", "optimum", "proved", "rows", "optimum on record"),
        "best tool on record",
    )
    optima: dict[str, Figures] = {}
    for cell in cells:
        report.progress(f"optimum: {cell.name}")
        method = Exhaustive(max_rows=BUDGET)
        explainer = Explainer(cell.model, cell.train, candidates="domain", method=method)
        best = figures(explainer.explain(cell.queries(queries)), cell.dataset.name)
        record = listed(FEWEST, cell.dataset.name, cell.kind)
        rival = sparsest(cell.dataset.name, cell.kind)
        table.add(
            cell.name,
            defaults[cell.name].sparsity,
            best.sparsity,
            best.proved,
            f"{best.rows:,.0f}",
            record and record.sparsity,
            rival and f"{rival[1].sparsity:.2f} {rival[0]}",
        )
        optima[cell.name] = best
    return _claims(cells, defaults, optima)


def _claims(
    cells: Sequence[Cell], defaults: Mapping[str, Figures], optima: Mapping[str, Figures]
) -> list[Claim]:
    changes = {cell.name: defaults[cell.name].sparsity for cell in cells}
    here = [changes[name] / min(changes[name], best.sparsity) for name, best in optima.items()]
    on_record = [
        changes[cell.name] / figure.sparsity
        for cell in cells
        if (figure := listed(FEWEST, cell.dataset.name, cell.kind))
    ]
    above = [
        (f"{cell.name} by {rival[0]}", changes[cell.name] - rival[1].sparsity)
        for cell in cells
        if (rival := sparsest(cell.dataset.name, cell.kind))
    ]
    unsure = [(name, best.sparsity - changes[name]) for name, best in optima.items()]
    return [
        at_most("changes above the optimum on the same models", _excess(here), MOST_EXCESS, " %"),
        at_most("changes above the optimum on record", _excess(on_record), MOST_EXCESS, " %"),
        everywhere("no tool on record that answered all rows changes fewer columns", above),
        everywhere('candidates="domain" changes no more columns than the default', unsure),
    ]


def _excess(ratios: Sequence[float]) -> float:
    """The mean excess in percent."""
    return 100 * (mean(ratios) - 1) if ratios else float("nan")
