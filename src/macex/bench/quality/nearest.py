"""`prefer="nearest"` beside the nearest valid row there is, and beside other tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from macex.bench.cells import Cell
from macex.bench.claims import Claim, everywhere
from macex.bench.figures import BY_MEDIAN, figures
from macex.bench.optimum import NearestOptimum
from macex.bench.reference import NEAREST, listed, nearest
from macex.bench.tables import Report
from macex.explainer import Explainer
from macex.explanation import Explanations

MOST_EXCESS = 0.1


class Compared(NamedTuple):
    """Mean distances of the answers and of the optimum, over the queries where it is known."""

    answer: float
    optimum: float
    known: float

    @property
    def excess(self) -> float:
        """By which share the answers are farther."""
        return self.answer / self.optimum - 1


def measure_nearest(cells: Sequence[Cell], report: Report, queries: int) -> list[Claim]:
    """Print a line per cell, and return the claims; Credit stays apart."""
    table = report.table(
        'Proximity with prefer="nearest", the optimum on the same models, and figures on record',
        *("cell", "changes", "nearest", "optimum", "known", "excess", "optimum on record"),
        "best tool on record",
    )
    here, on_record = [], []
    for cell in cells:
        report.progress(f"nearest: {cell.name}")
        found = Explainer(cell.model, cell.train, prefer="nearest").explain(cell.queries(queries))
        reached = figures(found, cell.dataset.name)
        compared = None if cell.dataset.name in BY_MEDIAN else compare(cell, found)
        record = listed(NEAREST, cell.dataset.name, cell.kind)
        rival = nearest(cell.dataset.name, cell.kind)
        table.add(
            cell.name,
            *(reached.sparsity, reached.proximity),
            compared and -compared.optimum,
            compared and compared.known,
            compared and f"{compared.excess:.1%}",
            record and record.proximity,
            rival and f"{rival[1].proximity:.2f} {rival[0]}",
        )
        if compared:
            here.append((cell.name, compared.excess))
        if record:
            on_record.append((cell.name, reached.proximity / record.proximity - 1))
    report.note(
        "known: share of queries whose optimum could be computed by scoring all nearer rows"
    )
    return [
        everywhere("nearest: within 10 % of the optimum on the same models", here, MOST_EXCESS),
        everywhere("nearest: within 10 % of the optimum on record", on_record, MOST_EXCESS),
    ]


def compare(cell: Cell, found: Explanations) -> Compared | None:
    """The answers against the optimum over seen values; None where it is known for no query."""
    optimum = NearestOptimum(cell.model, cell.dataset, cell.train)
    pairs = []
    for item in found:
        if not item.counterfactuals:
            continue
        reached = -item.counterfactuals[0].proximity
        least = optimum.distance(item.query, reached)
        if least is not None:
            pairs.append((reached, least))
    if not pairs:
        return None
    answers, optima = zip(*pairs, strict=True)
    return Compared(sum(answers) / len(pairs), sum(optima) / len(pairs), len(pairs) / len(found))
