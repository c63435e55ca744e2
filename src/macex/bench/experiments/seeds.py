"""The tables again with other seeds: other splits, other models, other draws."""

from __future__ import annotations

from statistics import mean, stdev

from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT, NEAREST, method
from macex.bench.plan import Plan
from macex.bench.report.document import Section, Table
from macex.bench.tasks import Task

MOST = 100


def tasks(plan: Plan) -> list[Task]:
    """One counterfactual for up to a hundred queries of each cell, for every seed.

    Methods that work in another process take long, and are left out.
    """
    quick = [one for one in plan.chosen() if not one.outside]
    return plan.answers(plan.models, quick, seeds=range(plan.seeds), most=MOST)


def show(findings: Findings) -> Section:
    """Means over cells, with their spread over seeds, and how often the default is sparsest."""
    seeds = findings.plan.seeds
    section = Section(f"Seeds: {seeds}")
    if seeds < 2:
        section.blocks.append("One seed was run; --seeds 5 runs five.")
        return section
    headings = ("method", "validity", "sparsity", "proximity", "distance")
    table = Table("Mean over cells, and its standard deviation over seeds", headings)
    for name in _quick(findings):
        table.add(name, *(_spread(findings, name, metric) for metric in headings[1:]))
    section.blocks.append(table)
    best = Table("Seeds in which a method leads, of all cells and seeds", ("metric", "leads", "of"))
    best.add("default has the fewest changes", *_leads(findings, DEFAULT, "sparsity", -1))
    best.add("nearest has the best proximity", *_leads(findings, NEAREST, "proximity", 1))
    section.blocks.append(best)
    return section


def _quick(findings: Findings) -> list[str]:
    return [name for name in findings.methods() if not method(name).outside]


def _spread(findings: Findings, name: str, metric: str) -> str:
    means = []
    for seed in range(findings.plan.seeds):
        found = [findings.figures(*cell, name, seed=seed) for cell in findings.cells()]
        values = [getattr(one, metric) for one in found if one is not None]
        if values:
            means.append(mean(values))
    if len(means) < 2:
        return "-"
    return f"{mean(means):.3f} ± {stdev(means):.3f}"


def _leads(findings: Findings, name: str, metric: str, sign: int) -> tuple[int, int]:
    """In how many cells and seeds no method's mean is better by more than a rounding."""
    leads = total = 0
    for seed in range(findings.plan.seeds):
        for cell in findings.cells():
            common = [
                findings.values(metric, *cell, other, seed=seed) for other in _quick(findings)
            ]
            shared = set.intersection(*(set(values) for values in common)) if common else set()
            own = findings.values(metric, *cell, name, seed=seed)
            if not shared or not own:
                continue
            means = [mean(values[query] for query in shared) for values in common]
            mine = mean(own[query] for query in shared)
            leads += sign * mine >= max(sign * value for value in means) - 1e-9
            total += 1
    return leads, total
