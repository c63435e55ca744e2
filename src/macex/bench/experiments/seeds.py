"""The tables again with other seeds: other splits, other models, other draws.

All means are over the same queries for every method: the first hundred of each cell and seed that
all of them solved.
"""

from __future__ import annotations

from statistics import mean, stdev

from macex.bench.claims import Claim, everywhere
from macex.bench.comparing import SIGN
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT, NEAREST, Method, method
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask

MOST = 100
METRICS = {
    "sparsity": "changed columns",
    "proximity": "proximity",
    "distance": "distance",
    "plausibility": "plausibility",
    "lof": "share of outliers by LOF",
    "isolation": "share of outliers by isolation forest",
    "real": "distance to the nearest real row",
}
CLOSE = 1e-9

Cell = tuple[str, str]
Means = dict[str, float]  # of a measure, by method


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """One counterfactual for up to a hundred queries of each cell, for every seed.

    Methods that take too long for a hundred are left out.
    """
    quick = [one for one in plan.chosen() if _quick(one)]
    return plan.answers(plan.models, quick, seeds=range(plan.seeds), most=MOST)


def _quick(one: Method) -> bool:
    return one.most is None or one.most >= MOST


def _names(findings: Findings) -> list[str]:
    return [name for name in findings.methods() if _quick(method(name))]


def show(findings: Findings) -> ReportSection:
    """Means over cells with their spread over seeds, and for each measure who leads."""
    seeds = findings.plan.seeds
    section = ReportSection(f"Seeds: {seeds}")
    if seeds < 2:
        section.blocks.append("One seed was run; --seeds 5 runs five.")
        return section
    section.blocks += [
        f"The same rows for all: those of the first {MOST} of a cell and seed that all solved.",
        _spreads(findings),
        _leaders(findings),
    ]
    return section


def means(findings: Findings, metric: str, cell: Cell, seed: int) -> Means:
    """The mean of a measure for each method, over the queries that all of them solved."""
    values = {
        name: {
            query: value
            for query, value in findings.values(metric, *cell, name, seed=seed).items()
            if query < MOST
        }
        for name in _names(findings)
    }
    shared = set.intersection(*(set(one) for one in values.values())) if values else set()
    if not shared:
        return {}
    return {name: mean(one[query] for query in shared) for name, one in values.items()}


def over_cells(findings: Findings, metric: str, seed: int) -> Means:
    """The mean over cells of these means, for each method."""
    found = [means(findings, metric, cell, seed) for cell in findings.cells()]
    known = [one for one in found if one]
    return {name: mean(one[name] for one in known) for name in _names(findings) if known}


def over_seeds(findings: Findings, metric: str) -> dict[str, list[float]]:
    """The means over cells, seed by seed."""
    found: dict[str, list[float]] = {}
    for seed in range(findings.plan.seeds):
        for name, value in over_cells(findings, metric, seed).items():
            found.setdefault(name, []).append(value)
    return found


def _spreads(findings: Findings) -> ReportTable:
    title = "Mean over cells ± standard deviation over seeds"
    table = ReportTable(title, ("method", "validity", *METRICS))
    by_metric = {metric: over_seeds(findings, metric) for metric in METRICS}
    for name in _names(findings):
        spreads = [_spread(of.get(name, [])) for of in by_metric.values()]
        table.add(name, _spread(_validity(findings, name)), *spreads)
    return table


def _spread(values: list[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values):.3f}" if len(values) > 1 else "-"


def _validity(findings: Findings, name: str) -> list[float]:
    found = []
    for seed in range(findings.plan.seeds):
        cells = [findings.figures(*c, name, seed=seed, first=MOST) for c in findings.cells()]
        known = [one.validity for one in cells if one is not None]
        found += [mean(known)] if known else []
    return found


def _leaders(findings: Findings) -> ReportTable:
    """For each measure the best method, and how often macex's two are behind somebody."""
    table = ReportTable(
        "Who leads each measure, and in how many cells and seeds macex is behind somebody else",
        ("measure", "best mean", "default", "nearest", "default behind", "nearest behind"),
    )
    for metric, words in METRICS.items():
        found = {name: mean(values) for name, values in over_seeds(findings, metric).items()}
        if not found:
            continue
        best = min(found, key=lambda name: SIGN[metric] * found[name])
        table.add(
            words,
            f"{found[best]:.3f} {best}",
            *(f"{found[name]:.3f}" if name in found else None for name in (DEFAULT, NEAREST)),
            *(_behind(findings, metric, name) for name in (DEFAULT, NEAREST)),
        )
    return table


def _behind(findings: Findings, metric: str, name: str) -> str:
    """In how many cells and seeds some other method's mean is better."""
    lost = total = 0
    for seed in range(findings.plan.seeds):
        for cell in findings.cells():
            found = means(findings, metric, cell, seed)
            if name in found:
                signed = {other: SIGN[metric] * value for other, value in found.items()}
                lost += min(signed.values()) < signed[name] - CLOSE
                total += 1
    return f"{lost} of {total}" if total else "-"


def claims(findings: Findings) -> list[Claim]:
    """Who has the best mean over all cells and seeds, by measure."""
    if findings.plan.seeds < 2:
        return []
    return [
        _first(findings, DEFAULT, "sparsity"),
        *(_first(findings, NEAREST, metric) for metric in ("proximity", "distance")),
        *(_first(findings, DEFAULT, metric) for metric in ("lof", "isolation", "real")),
    ]


def _first(findings: Findings, name: str, metric: str) -> Claim:
    found = {one: SIGN[metric] * mean(of) for one, of in over_seeds(findings, metric).items()}
    sentence = f"{name}: the best {METRICS[metric]} over {findings.plan.seeds} seeds, mean of cells"
    if name not in found:
        return Claim(sentence, None, "-")
    excess = [(f"mean by {one}", found[name] - of) for one, of in found.items() if one != name]
    held = everywhere(sentence, excess)
    numbers = sorted(found, key=lambda one: found[one])[:3]
    said = ", ".join(f"{SIGN[metric] * found[one]:.3f} {one}" for one in numbers)
    return Claim(sentence, held.held, f"{SIGN[metric] * found[name]:.3f}; best: {said}")
