"""Table 3: seconds per query, one row at a time and in batches of a hundred, on one thread.

Building is apart; so are the model's own seconds and the method's.
"""

from __future__ import annotations

from contextlib import suppress

from macex.bench.findings import Findings
from macex.bench.plan import BLOCK, BenchPlan
from macex.bench.record.paper import beside_paper
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import BenchClock, Workshop

ALONE = 20


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """One task for each cell and method; the batches are those of tables 1 and 2."""
    alone = [
        BenchTask("alone", dataset, model, one.name, stop=plan.count(dataset, one, ALONE))
        for dataset in plan.here
        for model in plan.models
        for one in plan.chosen()
    ]
    return [*alone, *plan.answers(plan.models, plan.chosen(), most=BLOCK)]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Ask one row at a time, all of them twice: for each row the quicker question counts.

    The first one fills caches, and what else a machine does can only make one slower. A question
    the method fails on has cost its time all the same.
    """
    cell, built = workshop.cell(task), workshop.built(task)
    rows = cell.queries(task.stop)
    asked: dict[int, list[dict[str, float]]] = {}
    for at in (*range(len(rows)), *range(len(rows))):
        clock = BenchClock(cell)
        with suppress(Exception):
            clock.ask(built.explainer, rows.iloc[[at]], task.n)
        asked.setdefault(at, []).append(clock.cost)
    quicker = [min(both, key=lambda cost: cost["seconds"]) for both in asked.values()]
    cost = {name: sum(one[name] for one in quicker) for name in quicker[0]}
    return TaskOutcome(task, [], {**cost, "setup": built.seconds})


def show(findings: Findings) -> ReportSection:
    """Seconds beside the paper's, then where they go."""
    section = ReportSection("Table 3: time")
    for model in findings.plan.models:
        section.blocks += [
            _beside_paper(findings, model, "alone", "one row at a time"),
            _beside_paper(findings, model, "answers", f"in batches of up to {BLOCK}"),
        ]
    section.blocks.append(_shares(findings))
    section.blocks.append(
        "Seconds of CPU on one thread. One row at a time, each is asked about twice and the "
        "quicker question counts. DiCE, NICE and OmniXAI work in processes of their own and are "
        "timed in there; to that comes what the model took, which macex asks for them with fewer "
        "conversions than they would need. What goes through the pipe is not counted, nor is "
        "building a method; set-up shows that. The paper does not name its machine, so its seconds "
        "are for proportions between methods."
    )
    return section


def _beside_paper(findings: Findings, model: str, kind: str, how: str) -> ReportTable:
    def measured(dataset: str, name: str) -> float | None:
        return findings.per_query(kind, dataset, model, name).get("cpu")

    title = f"{model}, {how}: seconds per query, paper / measured / ratio"
    plan = findings.plan
    return beside_paper(title, plan.here, plan.chosen(), ("3", "seconds"), measured, 4)


def _shares(findings: Findings) -> ReportTable:
    """Means over the cells, in milliseconds of CPU."""
    headings = ("method", "set-up s", "alone cpu ms", "model", "own", "clock", "calls", "rows")
    batch = ("batch cpu ms", "model", "own", "clock")
    table = ReportTable(
        "A query, mean over cells: milliseconds of CPU, and by the clock", (*headings, *batch)
    )
    for name in findings.plan.methods:
        alone = _mean(findings, "alone", name)
        many = _mean(findings, "answers", name)
        if not alone and not many:
            continue
        table.add(
            name,
            alone.get("setup"),
            *_parts(alone),
            alone.get("calls"),
            round(alone["rows"]) if alone else None,
            *_parts(many),
        )
    return table


def _parts(cost: dict[str, float]) -> list[float | None]:
    if not cost:
        return [None] * 4
    own = cost["cpu"] - cost["model_cpu"]
    return [1000 * part for part in (cost["cpu"], cost["model_cpu"], own, cost["seconds"])]


def _mean(findings: Findings, kind: str, method: str) -> dict[str, float]:
    costs = [findings.per_query(kind, *cell, method) for cell in findings.cells()]
    costs = [cost for cost in costs if cost]
    if not costs:
        return {}
    return {name: sum(cost[name] for cost in costs) / len(costs) for name in costs[0]}
