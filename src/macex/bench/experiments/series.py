"""Table 7: time series. It is measured where `macex.SeriesExplainer` exists."""

from __future__ import annotations

from macex.bench.findings import Findings
from macex.bench.plan import Plan
from macex.bench.record.paper import printed_tables
from macex.bench.report.document import Section, Table
from macex.bench.tasks import Task


def tasks(plan: Plan) -> list[Task]:
    """None: the series sets are not part of a run."""
    del plan
    return []


def show(findings: Findings) -> Section:
    """What the paper prints, and that nothing was measured beside it."""
    del findings
    known = printed_tables()["7"]
    table = Table("Sparsity / seconds per query, as printed", ("method", *known["goals"]))
    for name, changes in known["sparsity"].items():
        seconds = known["seconds"][name]
        pairs = zip(changes, seconds, strict=True)
        table.add(name, *(f"{few} / {time}" for few, time in pairs))
    text = "The series sets were not run: this version of macex has no explainer of series."
    return Section("Table 7: time series", [text, table])
