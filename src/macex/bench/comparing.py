"""Who leads: methods held against each other on the queries that all of them solved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from macex.bench.findings import Findings
from macex.bench.statistics import Difference, paired

SIGN = {"sparsity": 1, "proximity": -1, "distance": 1}  # times the metric: lower is better


def shared(findings: Findings, cell: tuple[str, str], names: Iterable[str], n: int = 1) -> set[int]:
    """The queries of a cell that every method solved."""
    solved = [set(findings.values("sparsity", *cell, name, n=n)) for name in names]
    return set.intersection(*solved) if solved else set()


def asked(findings: Findings, cell: tuple[str, str], names: Iterable[str], n: int = 1) -> list[str]:
    """Those of the methods that solved any query of a cell."""
    return [name for name in names if findings.values("sparsity", *cell, name, n=n)]


def behind(
    findings: Findings,
    metric: str,
    name: str,
    rivals: Sequence[str],
    models: Sequence[str],
    n: int = 1,
) -> list[tuple[str, float]]:
    """For each cell by how much a method is behind its best rival; 0 where first or tied.

    All are compared on the queries that all of them solved. The rival is named beside the cell.
    """
    found = []
    for cell in findings.cells(models):
        there = asked(findings, cell, [name, *rivals], n)
        if name not in there or len(there) < 2:
            continue
        queries = shared(findings, cell, there, n)
        gaps = {
            rival: _gap(findings, metric, cell, name, rival, queries, n)
            for rival in there
            if rival != name
        }
        ahead = {rival: gap.mean for rival, gap in gaps.items() if gap.pairs and gap.low > 0}
        worst = max(ahead, key=lambda rival: ahead[rival], default=None)
        label = " / ".join(cell)
        found.append((label, 0.0) if worst is None else (f"{label} by {worst}", ahead[worst]))
    return found


def _gap(
    findings: Findings,
    metric: str,
    cell: tuple[str, str],
    name: str,
    rival: str,
    queries: set[int],
    n: int,
) -> Difference:
    """By how much a method is worse than its rival."""
    sign = SIGN[metric]
    mine, theirs = (
        {q: sign * v for q, v in findings.values(metric, *cell, one, n=n).items() if q in queries}
        for one in (name, rival)
    )
    return paired(mine, theirs)


def overtaken(
    findings: Findings, name: str, rivals: Sequence[str], model: str, dataset: str
) -> float:
    """The share of a cell's queries where a rival is nearer with no more changes; NaN for none."""
    mine = findings.records(dataset, model, name)
    if not mine:
        return float("nan")
    lost = set()
    for rival in rivals:
        for query, record in findings.records(dataset, model, rival).items():
            if query in mine and mine[query]["found"] and record["found"]:
                ours, theirs = mine[query]["counterfactuals"][0], record["counterfactuals"][0]
                nearer = theirs["proximity"] > ours["proximity"] + 1e-6
                if nearer and theirs["sparsity"] <= ours["sparsity"]:
                    lost.add(query)
    compared = {q for rival in rivals for q in findings.records(dataset, model, rival)} & set(mine)
    return len(lost) / len(compared) if compared else float("nan")
