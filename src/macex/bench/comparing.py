"""Who leads: methods held against each other, pair by pair, on the queries that both solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from macex.bench.findings import Findings
from macex.bench.statistics import PairedDifference, paired
from macex.stages.selection import PLAUSIBLE

SIGN = {
    "sparsity": 1,
    "proximity": -1,
    "distance": 1,
    "plausibility": -1,
    "lof": 1,
    "isolation": 1,
    "real": 1,
}  # times the metric: lower is better
CLOSE = 1e-6

Answer = dict[str, Any]
Beats = Callable[[Answer, Answer], bool]


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
) -> PairedDifference:
    """By how much the first method of a pair is worse than the second."""
    sign = SIGN[metric]
    first, second = (
        {query: sign * value for query, value in findings.values(metric, *cell, one, n=n).items()}
        for one in pair
    )
    return paired(first, second)


def nearer(theirs: Answer, ours: Answer) -> bool:
    """Whether an answer is nearer, by the paper's measure, and has no more changes."""
    near: bool = theirs["proximity"] > ours["proximity"] + CLOSE
    return near and theirs["sparsity"] <= ours["sparsity"]


def nearer_if_plausible(theirs: Answer, ours: Answer) -> bool:
    """The same, but an implausible answer does not beat a plausible one."""
    return nearer(theirs, ours) and (_implausible(ours) or not _implausible(theirs))


def ranked_before(theirs: Answer, ours: Answer) -> bool:
    """Whether an answer comes first in the default's order: changes, plausible, distance."""
    one, other = ((each["sparsity"], _implausible(each)) for each in (theirs, ours))
    near: bool = theirs["distance"] < ours["distance"] - CLOSE
    return one < other or (one == other and near)


def _implausible(answer: Answer) -> bool:
    known: float | None = answer["plausibility"]
    return known is not None and known < PLAUSIBLE


def overtaken(
    findings: Findings,
    name: str,
    rivals: Sequence[str],
    model: str,
    dataset: str,
    beats: Beats = nearer,
) -> float:
    """The share of a cell's queries where a rival's answer beats a method's; NaN for none.

    Unless another reading is given, the nearer answer with no more changes beats the other.
    """
    mine = findings.records(dataset, model, name)
    if not mine:
        return float("nan")
    lost = set()
    for rival in rivals:
        for query, record in findings.records(dataset, model, rival).items():
            if query in mine and mine[query]["found"] and record["found"]:
                ours, theirs = mine[query]["counterfactuals"][0], record["counterfactuals"][0]
                if beats(theirs, ours):
                    lost.add(query)
    compared = {q for rival in rivals for q in findings.records(dataset, model, rival)} & set(mine)
    return len(lost) / len(compared) if compared else float("nan")
