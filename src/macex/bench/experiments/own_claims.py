"""What macex's default should show beside every other method, held against this run."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from statistics import mean

from macex.bench.claims import Claim, at_least, everywhere
from macex.bench.comparing import (
    Beats,
    behind,
    nearer,
    nearer_if_plausible,
    overtaken,
    ranked_before,
)
from macex.bench.experiments import diverse
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT, NEAREST, NICE, OMNIXAI_RL, method
from macex.bench.plan import BLOCK
from macex.bench.record.paper import printed

MOST_OVERTAKEN = 0.05
NEARER = "a baseline is nearer than the default with no more changes"
READINGS = (
    (NEARER, nearer),
    (f"{NEARER}, implausible answers against plausible ones apart", nearer_if_plausible),
    (
        "a baseline's answer is better in the default's order: changes, plausible, distance",
        ranked_before,
    ),
)
DICE = "DiCE random"


def one_counterfactual(findings: Findings) -> list[Claim]:
    """Sparsity, proximity, and who is nearer with no more changes."""
    names = [name for name in findings.methods() if not method(name).optional]
    rivals = [name for name in names if method(name).rival]
    models = findings.plan.models
    return [
        everywhere(
            "default: fewest changes or tied against every method, on the queries both solved",
            behind(findings, "sparsity", DEFAULT, names, models),
        ),
        everywhere(
            'prefer="nearest": best proximity or tied, in all cells but one',
            behind(findings, "proximity", NEAREST, names, models),
            spare=1,
        ),
        *(_seldom_overtaken(findings, rivals, reading, beats) for reading, beats in READINGS),
    ]


def _seldom_overtaken(findings: Findings, rivals: list[str], reading: str, beats: Beats) -> Claim:
    shares = [
        (f"{dataset} / {model}", overtaken(findings, DEFAULT, rivals, model, dataset, beats))
        for dataset, model in findings.cells()
    ]
    return everywhere(
        f"share of queries where {reading}: at most 5 %",
        [(cell, share) for cell, share in shares if not isnan(share)],
        MOST_OVERTAKEN,
    )


def several(findings: Findings) -> list[Claim]:
    """Three diverse counterfactuals."""
    n, model = diverse.WANTED, diverse.MODEL
    names = findings.methods(n=n)
    short, idle = [], []
    behind_paper = []
    for dataset, _ in findings.cells([model]):
        found = findings.figures(dataset, model, n=n)
        if found is None:
            continue
        short.append((dataset, _lacking(findings, dataset, names)))
        idle.append((dataset, found.idle))
        paper = printed("6", "diversity", "MACE-RL", dataset)
        if paper is not None:
            behind_paper.append((dataset, paper - found.diversity_changed))
    return [
        everywhere(
            "three: three different column sets, or as many as any method finds whose changes are "
            "all needed, every query",
            short,
        ),
        everywhere("three: share of answers with a change that is not needed", idle),
        everywhere(
            "three: lowest sparsity of the set or tied",
            behind(findings, "sparsity", DEFAULT, names, [model], n),
        ),
        everywhere(
            "three: diversity (changed by either) at least MACE-RL's printed, in all but one",
            behind_paper,
            spare=1,
        ),
    ]


def _lacking(findings: Findings, dataset: str, names: Sequence[str]) -> float:
    """The share of queries where some method finds more sets than the default."""
    sets = {name: _column_sets(findings, dataset, name) for name in names}
    mine = sets.get(DEFAULT, {})
    lost = [
        query
        for query, own in mine.items()
        if any(len(found.get(query, ())) > len(own) for found in sets.values())
    ]
    return len(lost) / len(mine) if mine else 0.0


def _column_sets(findings: Findings, dataset: str, name: str) -> dict[int, set[frozenset[str]]]:
    """The sets of columns that a method changes, by query, where each change is needed."""
    records = findings.records(dataset, diverse.MODEL, name, n=diverse.WANTED)
    return {
        query: {frozenset(one["columns"]) for one in record["counterfactuals"] if not one["idle"]}
        for query, record in records.items()
    }


def time(findings: Findings) -> list[Claim]:
    """Times faster than other programs in this run, all by the CPU that they took.

    Each is timed inside its own process. They answer one row after the other; in a batch they take
    as long for each.
    """
    return [
        claim
        for name, least in ((DICE, (10, 50)), (OMNIXAI_RL, (10, 50)), (NICE, (1, 1)))
        for claim in _faster(findings, name, least)
    ]


def _faster(findings: Findings, name: str, least: tuple[float, float]) -> list[Claim]:
    ratios: dict[str, list[float]] = {"alone": [], "answers": []}
    for cell in findings.cells():
        theirs = findings.per_query("alone", *cell, name).get("cpu")
        for kind, rows in (("alone", 1), ("answers", BLOCK)):
            ours = findings.per_query(kind, *cell, DEFAULT, least=rows)
            if ours and theirs:
                ratios[kind].append(theirs / ours["cpu"])
    nan = float("nan")
    alone, batch = (mean(ratios[kind]) if ratios[kind] else nan for kind in ("alone", "answers"))
    one, many = "one row at a time", f"batches of {BLOCK} against one row at a time"
    return [
        at_least(f"times faster than {name} by CPU, {one}, mean of cells", alone, least[0], "x"),
        at_least(f"times faster than {name} by CPU, {many}, mean of cells", batch, least[1], "x"),
    ]
