"""Who leads: methods held against each other, pair by pair, on the queries that both solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from macex.bench.findings import Findings
from macex.bench.statistics import Difference, paired
from macex.stages.selection import PLAUSIBLE

SIGN = {"sparsity": 1, "proximity": -1, "distance": 1}  # times the metric: lower is better


def behind(
    findings: Findings,
    metric: str,
    name: str,
    rivals: Sequence[str],
    models: Sequence[str],
    n: int = 1,
) -> list[tuple[str, float]]:
    """For each cell by how much a method is behind its best rival; 0 where first or tied.

    Two methods are compared on the queries that both solved. The rival is named beside the cell.
    """
    found = []
    for cell in findings.cells(models):
        label = " / ".join(cell)
        gaps = {rival: _gap(findings, metric, cell, (name, rival), n) for rival in rivals}
        compared = {rival: gap for rival, gap in gaps.items() if gap.pairs and rival != name}
        ahead = {rival: gap.mean for rival, gap in compared.items() if gap.low > 0}
        worst = max(ahead, key=lambda rival: ahead[rival], default=None)
        if worst is not None:
            found.append((f"{label} by {worst}", ahead[worst]))
        elif compared:
            found.append((label, 0.0))
    return found


def _gap(
    findings: Findings, metric: str, cell: tuple[str, str], pair: tuple[str, str], n: int
) -> Difference:
    """By how much the first method of a pair is worse than the second."""
    sign = SIGN[metric]
    first, second = (
        {query: sign * value for query, value in findings.values(metric, *cell, one, n=n).items()}
        for one in pair
    )
    return paired(first, second)


def overtaken(
    findings: Findings,
    name: str,
    rivals: Sequence[str],
    model: str,
    dataset: str,
    *,
    plausible: bool = False,
) -> float:
    """The share of a cell's queries where a rival is nearer with no more changes; NaN for none.

    With `plausible` a rival's implausible answer does not count against a plausible one.
    """
    mine = findings.records(dataset, model, name)
    if not mine:
        return float("nan")
    lost = set()
    for rival in rivals:
        for query, record in findings.records(dataset, model, rival).items():
            if query in mine and mine[query]["found"] and record["found"]:
                ours, theirs = mine[query]["counterfactuals"][0], record["counterfactuals"][0]
                nearer = theirs["proximity"] > ours["proximity"] + 1e-6
                fair = not plausible or _implausible(ours) or not _implausible(theirs)
                if nearer and theirs["sparsity"] <= ours["sparsity"] and fair:
                    lost.add(query)
    compared = {q for rival in rivals for q in findings.records(dataset, model, rival)} & set(mine)
    return len(lost) / len(compared) if compared else float("nan")


def _implausible(answer: dict[str, Any]) -> bool:
    known: float | None = answer["plausibility"]
    return known is not None and known < PLAUSIBLE
