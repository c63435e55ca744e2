"""Tables 1 (XGBoost) and 2 (MLP): one counterfactual for each query."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from macex.bench.cells import FAVOURABLE
from macex.bench.figures import BY_MEDIAN, Figures, figures
from macex.bench.findings import Findings
from macex.bench.methods import DEFAULT
from macex.bench.plan import BenchPlan
from macex.bench.record.paper import beside_paper
from macex.bench.report.charts import scatter
from macex.bench.report.document import ReportPicture, ReportSection, ReportTable
from macex.bench.statistics import paired
from macex.bench.tasks import BenchTask

NUMBER = {"XGBoost": "1", "MLP": "2"}
FIRST = 20  # what all methods are asked, but for DiCE's gradient method


def tasks_of(model: str) -> Callable[[BenchPlan], list[BenchTask]]:
    """What a table of one model needs."""
    return lambda plan: plan.answers([model], plan.chosen())


def show_of(model: str) -> Callable[[Findings], ReportSection]:
    """The section of one model."""
    return lambda findings: show(findings, model)


def show(findings: Findings, model: str) -> ReportSection:
    """Validity, sparsity and proximity beside the paper's, comparisons, directions, a plot."""
    names = [name for name in findings.methods() if any(_cells(findings, model, name))]
    number = NUMBER.get(model, "of")
    text = (
        "The tables beside the paper's are over each method's own queries. Compare methods by the "
        f"means over the first {FIRST} queries and by the paired differences after them."
    )
    section = ReportSection(f"Table {number}: one counterfactual, {model}", [text])
    for metric, title in (
        ("own", "Validity, the method's own"),
        ("sparsity", "Sparsity"),
        ("proximity", "Proximity"),
    ):
        section.blocks.append(_beside_paper(findings, model, names, metric, title))
    section.blocks += [
        _plain(findings, model, names),
        _compared(findings, model, names, "sparsity"),
        _compared(findings, model, names, "proximity"),
        _directions(findings, model, names),
        *_plots(findings, model, names),
    ]
    return section


def _cells(findings: Findings, model: str, name: str, first: int | None = None) -> list[Figures]:
    found = [findings.figures(dataset, model, name, first=first) for dataset in findings.plan.here]
    return [one for one in found if one is not None]


def _beside_paper(
    findings: Findings, model: str, names: list[str], metric: str, title: str
) -> ReportTable:
    def measured(dataset: str, name: str) -> float | None:
        found = findings.figures(dataset, model, name)
        return None if found is None else float(getattr(found, metric))

    methods = [one for one in findings.plan.chosen() if one.name in names]
    printed_as = NUMBER.get(model), "validity" if metric == "own" else metric
    title = f"{title}: paper / measured / ratio"
    return beside_paper(title, findings.plan.here, methods, printed_as, measured)


def _plain(findings: Findings, model: str, names: list[str]) -> ReportTable:
    """What the paper does not print: means over the datasets, on the rows that all were asked."""
    table = ReportTable(
        f"Means over the datasets, the first {FIRST} queries of each",
        [
            *("method", "queries", "valid with fallback", "distance", "plausibility", "under .05"),
            *("LOF outliers", "isolation outliers", "to a real row"),
        ],
    )
    for name in names:
        cells = _cells(findings, model, name, FIRST)
        shown = ("validity", "distance", "plausibility", "implausible", "lof", "isolation", "real")
        table.add(
            name, sum(cell.queries for cell in cells), *(_mean(cells, metric) for metric in shown)
        )
    return table


def _mean(cells: list[Figures], metric: str) -> float | None:
    known = [value for cell in cells if (value := getattr(cell, metric)) == value]
    return mean(known) if known else None


def _compared(findings: Findings, model: str, names: list[str], metric: str) -> ReportTable:
    """The default minus each other method on the queries both solved."""
    lower = "lower is sparser" if metric == "sparsity" else "higher is nearer"
    title = f"{metric.capitalize()}, default minus method on queries both solved; {lower}"
    table = ReportTable(title, ("method", *findings.plan.here))
    for name in names:
        if name == DEFAULT:
            continue
        line = []
        for dataset in findings.plan.here:
            own = findings.values(metric, dataset, model, DEFAULT)
            gap = paired(own, findings.values(metric, dataset, model, name))
            line.append(f"{gap}{' tied' if gap.pairs and gap.tied else ''}")
        table.add(name, *line)
    return table


def _directions(findings: Findings, model: str, names: list[str]) -> ReportTable:
    """Each cell in two: to the class people want, and from it."""
    title = "By direction: sparsity / proximity (queries)"
    table = ReportTable(title, ("method", "direction", *findings.plan.here))
    for name in names:
        for direction in ("to", "from"):
            line = [_direction(findings, d, model, name, direction) for d in findings.plan.here]
            table.add(name, direction, *line)
    return table


def _direction(findings: Findings, dataset: str, model: str, name: str, direction: str) -> str:
    wanted = FAVOURABLE.get(dataset, 1)
    records = [
        record
        for record in findings.records(dataset, model, name).values()
        if (record["label"] == wanted) == (direction == "from")
    ]
    found = figures(records)
    if not any(record["found"] for record in records):
        return "-"
    return f"{found.sparsity:.2f} / {found.proximity:.2f} ({found.queries})"


def _plots(findings: Findings, model: str, names: list[str]) -> list[ReportPicture]:
    """Fewer changes to the left, nearer rows above."""
    pictures = []
    for dataset in findings.plan.here:
        points = {}
        for name in names:
            found = findings.figures(dataset, model, name)
            if found is not None and found.validity:
                points[name] = (found.sparsity, found.proximity_of(dataset))
        middle = "median" if dataset in BY_MEDIAN else "mean"
        title = f"{dataset} / {model}: changes and {middle} proximity"
        pictures.append(ReportPicture(title, scatter(points, "changed columns", "proximity")))
    return pictures
