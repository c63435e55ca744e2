"""Table 6: three diverse counterfactuals for each query, with the MLP."""

from __future__ import annotations

from macex.bench.figures import Figures
from macex.bench.findings import Findings
from macex.bench.methods import Method
from macex.bench.plan import BenchPlan
from macex.bench.record.paper import beside_paper
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask

MODEL = "MLP"
WANTED = 3
NOTE = (
    "A counterfactual that is missing counts 0 in diversity. The paper's values only make sense as "
    "shares of the columns that either of two counterfactuals changes; that reading rewards "
    "near-duplicates, so two others stand beside it: shares of all columns, and the Jaccard "
    "distance of the two sets of changed columns. A change is idle if the answer is valid without "
    "it; the last number is the share of answers that have one."
)


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """The methods that can give several."""
    return plan.answers([MODEL], [one for one in plan.chosen() if one.several], n=WANTED)


def show(findings: Findings) -> ReportSection:
    """Sparsity, diversity and time beside the paper's, then the other readings of diversity."""
    section = ReportSection("Table 6: three diverse counterfactuals, MLP")
    section.blocks += [
        _beside_paper(findings, "sparsity", "Sparsity of the set"),
        _beside_paper(findings, "diversity", "Diversity over columns changed by either of two"),
        _seconds(findings),
        _readings(findings),
        NOTE,
    ]
    return section


def _found(findings: Findings, dataset: str, name: str) -> Figures | None:
    return findings.figures(dataset, MODEL, name, n=WANTED)


def _beside_paper(findings: Findings, metric: str, title: str) -> ReportTable:
    field = "diversity_changed" if metric == "diversity" else metric

    def measured(dataset: str, name: str) -> float | None:
        found = _found(findings, dataset, name)
        return None if found is None else float(getattr(found, field))

    title = f"{title}: paper / measured / ratio"
    return beside_paper(title, findings.plan.here, _asked(findings), ("6", metric), measured)


def _asked(findings: Findings) -> list[Method]:
    names = findings.methods(n=WANTED)
    return [one for one in findings.plan.chosen() if one.name in names]


def _seconds(findings: Findings) -> ReportTable:
    def measured(dataset: str, name: str) -> float | None:
        return findings.per_query("answers", dataset, MODEL, name, WANTED).get("time")

    title = "Seconds per query in batches of up to 100: paper / measured / ratio"
    methods = _asked(findings)
    return beside_paper(title, findings.plan.here, methods, ("6", "seconds"), measured, 4)


def _readings(findings: Findings) -> ReportTable:
    title = "Diversity over all columns / of column sets / returned / with an idle change"
    table = ReportTable(title, ("method", *findings.plan.here))
    for name in findings.methods(n=WANTED):
        line = []
        for dataset in findings.plan.here:
            found = _found(findings, dataset, name)
            parts = found and (
                found.diversity_all,
                found.diversity_sets,
                found.returned,
                found.idle,
            )
            line.append(" / ".join(f"{part:.2f}" for part in parts) if parts else "-")
        table.add(name, *line)
    return table
