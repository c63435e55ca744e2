"""Whether answers would be believed, and whether they still hold when the model is fitted again.

The ten cells, and three made-up tables whose columns hang together. An answer is unusual if its
plausibility is under 0.05. It breaks the structure if it breaks a relation without exceptions that
its query keeps. A column that is as a relation has it, because another changed, is no change.
Refits are models of the same kind, fitted to bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean as mean
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.cells import MODELS, Cell, Factory, fitted
from macex.bench.claims import Claim, everywhere
from macex.bench.figures import Record
from macex.bench.findings import Findings
from macex.bench.judge import Referee
from macex.bench.metered import PlainModel
from macex.bench.methods import NICE, Build, method, ours
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.structured import TABLES, structured
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import BenchClock, Workshop, frames
from macex.engine.options import PREFERENCES
from macex.explainer import Explainer
from macex.schema import Array
from macex.stages.selection import PLAUSIBLE
from macex.structure.enforcement import Keeping

KIND = "believable"
QUERIES = 40
SLOW = 15  # for methods that are not macex's
REFITS = 5
REFIT_ROWS = 8000  # a network on more rows takes a minute
MADE_MODEL = "XGBoost"
BALANCED, FEWEST = "balanced", "fewest"
PLAIN = "plain"  # nothing but few changes and short distances
PLAINLY = {"prefer": FEWEST, "structure": "ignore", "plausibility": "distance"}
PREFERRED: dict[str, Build] = {
    **{one: ours({"prefer": one}) for one in PREFERENCES},
    PLAIN: ours(PLAINLY),
}
OPTIMUM = "optimum"
OTHERS = ("MACE-RL", "MACE-GLD", NICE, "DiCE random", "DiCE genetic")
COLUMNS = (
    *("queries", "valid", "changes", "over optimum", "unusual", "far", "broken", "lead", "refits"),
    *("distance", "rows", "CPU ms"),
)


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Every preference and the other methods, on every cell and on the made-up tables."""
    cells = [(dataset, model) for dataset in plan.here for model in plan.models]
    cells += [(name, MADE_MODEL) for name in TABLES if MADE_MODEL in plan.models]
    others = [name for name in OTHERS if name in plan.methods]
    return [
        BenchTask(KIND, dataset, model, name, stop=_count(plan, dataset, name))
        for dataset, model in cells
        for name in (*PREFERRED, OPTIMUM, *others)
    ]


def _count(plan: BenchPlan, dataset: str, name: str) -> int:
    most = QUERIES if name in PREFERRED or name == OPTIMUM else SLOW
    size = plan.sizes.get(dataset, QUERIES)
    return min(most, size, most if plan.queries is None else plan.queries)


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """One answer for each query, judged by the model, by its refits and by both measures."""
    cell = _made(task.dataset, task.model) if task.dataset in TABLES else workshop.cell(task)
    build = PREFERRED.get(task.method) or method(task.method).build
    built = build(cell.model, cell.train, task.seed)
    rows, clock = cell.queries(task.stop), BenchClock(cell)
    found = frames(clock.ask(built, rows, 1), len(rows))
    getattr(built, "close", lambda: None)()  # a method may hold a process
    judged = Referee(cell)(rows, found)
    records = _records(cell, rows, found, judged)
    return TaskOutcome(task, records, clock.cost)


@lru_cache(maxsize=2)
def _made(name: str, kind: str) -> Cell:
    return fitted(structured(name), kind, MODELS[kind])


@lru_cache(maxsize=2)
def refits(cell: Cell, factory: Factory | None = None) -> tuple[Any, ...]:
    """Models of the same kind, fitted to bootstrap samples."""
    draw, (train, _) = np.random.default_rng(1), cell.dataset.split(cell.seed)
    samples = [draw.choice(train, min(len(train), REFIT_ROWS)) for _ in range(REFITS)]
    models = []
    for sample in samples:
        model = (factory or MODELS[cell.kind])(cell.dataset)
        models.append(model.fit(cell.dataset.frame.iloc[sample], cell.dataset.label[sample]))
    return tuple(models)


@lru_cache(maxsize=2)
def _measuring(cell: Cell) -> Explainer:
    return Explainer(PlainModel(cell.model), cell.train)


def _records(
    cell: Cell, rows: pd.DataFrame, found: Sequence[pd.DataFrame], judged: Sequence[Record]
) -> list[Record]:
    """What is known of the valid answers; a query without one has an empty record."""
    valid = [at for at, record in enumerate(judged) if record["found"]]
    records: list[Record] = [{} for _ in judged]
    if not valid:
        return records
    dtypes = cell.train.dtypes.to_dict()
    answers = pd.concat([found[at].head(1)[list(dtypes)] for at in valid]).astype(dtypes)
    own = np.asarray(cell.model.predict(rows))[valid]
    held = np.mean([np.asarray(one.predict(answers)) != own for one in refits(cell)], axis=0)
    lead = _lead(cell, answers)
    share = _plausibility(cell, answers)
    changes, broken = _structure(cell, rows.iloc[valid], answers)
    for place, at in enumerate(valid):
        one = judged[at]["counterfactuals"][0]
        records[at] = {
            "sparsity": int(changes[place]),
            "broken": bool(broken[place]),
            "distance": one["distance"],
            "unusual": bool(share[place] < PLAUSIBLE),
            "far": one["plausibility"] is not None and one["plausibility"] < PLAUSIBLE,
            "lead": float(lead[place]),
            "held": float(held[place]),
        }
    return records


def _lead(cell: Cell, answers: pd.DataFrame) -> Array:
    """By how much the best class leads."""
    scores = np.sort(np.asarray(cell.model.predict_proba(answers)), axis=1)
    return np.asarray(scores[:, -1] - scores[:, -2])


def _plausibility(cell: Cell, answers: pd.DataFrame) -> Array:
    explainer, decided = _measuring(cell), np.asarray(cell.model.predict(answers))
    share = np.full(len(answers), np.nan)
    for label in np.unique(decided):
        mine = decided == label
        share[mine] = explainer.plausibility(answers[mine], label)
    return share


def _structure(cell: Cell, rows: pd.DataFrame, answers: pd.DataFrame) -> tuple[Array, Array]:
    """How many columns each answer changes that follow no other, and whether it breaks a relation.

    A column follows if a relation computes it of others that changed, and the answer keeps it.
    """
    explainer = _measuring(cell)
    keeping = Keeping(explainer.structure, explainer.schema)
    before, after = (explainer.schema.read(frame).codes for frame in (rows, answers))
    changed, broken = before != after, np.zeros(len(after), bool)
    counted = changed.copy()
    for kept in keeping.binding:
        holds, held = kept(after), kept(before)
        broken |= held & ~holds
        if kept.follower is not None:
            column, follower = kept.follower
            moved = changed[:, list(follower.columns)].any(axis=1)
            counted[:, column] &= ~(moved & holds & held)
    return np.maximum(counted.sum(axis=1), changed.any(axis=1)), broken


def show(findings: Findings) -> ReportSection:
    """The means of every method over all cells, then cell by cell."""
    text = (
        "Means over the queries with a valid answer. over optimum: changes over those of an "
        "exhaustive search that keeps no structure, for the same queries. unusual: share under "
        "0.05 by the learned measure; far: by distance. broken: share that breaks a relation "
        "without exceptions that its query keeps. lead: of the decided class over the next. "
        f"refits: share of {REFITS} models fitted to bootstrap samples (of at most {REFIT_ROWS} "
        f"rows) that decide the same. {PLAIN}: fewest changes and short distances, and nothing "
        "else. The other methods are given fewer queries."
    )
    methods = list(dict.fromkeys(o.task.method for o in findings.kind(KIND)))
    whole = ReportTable("All cells", ("method", *COLUMNS))
    for name in methods:
        lines = [_figures(findings, cell, name) for cell in _cells(findings)]
        known = [line for line in lines if line is not None]
        if known:
            total = [sum(line[0] for line in known)]
            whole.add(name, *total, *(mean(part) for part in list(zip(*known, strict=True))[1:]))
    each = ReportTable("Cell by cell", ("cell", "method", *COLUMNS))
    for dataset, model in _cells(findings):
        for name in methods:
            line = _figures(findings, (dataset, model), name)
            if line is not None:
                each.add(f"{dataset} / {model}", name, *line)
    return ReportSection("Answers that would be believed, and hold tomorrow", [text, whole, each])


def _cells(findings: Findings) -> list[tuple[str, str]]:
    return list(dict.fromkeys((o.task.dataset, o.task.model) for o in findings.kind(KIND)))


def _figures(findings: Findings, cell: tuple[str, str], method: str) -> tuple[float, ...] | None:
    outcomes = findings.of(KIND, *cell, method)
    records = [record for outcome in outcomes for record in outcome.records]
    valid = [record for record in records if record]
    if not valid:
        return None
    named = ("unusual", "far", "broken", "lead", "held", "distance")
    queries = sum(outcome.cost["queries"] for outcome in outcomes)
    rows = sum(outcome.cost["rows"] for outcome in outcomes) / queries
    own = 1000 * sum(outcome.cost["cpu"] for outcome in outcomes) / queries
    means = (mean(float(one[name]) for one in valid) for name in named)
    changes = mean(float(one["sparsity"]) for one in valid)
    over = _over_optimum(findings, cell, method)
    return (len(records), len(valid) / len(records), changes, over, *means, rows, own)


def _over_optimum(findings: Findings, cell: tuple[str, str], method: str) -> float:
    """The changes of a method over the fewest, for the queries that both answer; 0 for none."""
    mine, least = (_records_of(findings, cell, name) for name in (method, OPTIMUM))
    both = [at for at in mine.keys() & least.keys() if mine[at] and least[at]]
    if not both:
        return 0.0
    return _mean(mine, both, "sparsity") / _mean(least, both, "sparsity")


def claims(findings: Findings) -> list[Claim]:
    """Nobody has fewer changes than `balanced` and fewer unusual answers, or more that hold."""
    wide: dict[str, list[tuple[str, float]]] = {"unusual": [], "held": []}
    for cell in _cells(findings):
        mine = _records_of(findings, cell, BALANCED)
        for name in dict.fromkeys(o.task.method for o in findings.kind(KIND)):
            theirs = _records_of(findings, cell, name)
            both = [at for at in mine.keys() & theirs.keys() if mine[at] and theirs[at]]
            if name == BALANCED or not both:
                continue
            fewer = _mean(mine, both, "sparsity") - _mean(theirs, both, "sparsity")
            better = {
                "unusual": _mean(mine, both, "unusual") - _mean(theirs, both, "unusual"),
                "held": _mean(theirs, both, "held") - _mean(mine, both, "held"),
            }
            for what, gain in better.items():
                wide[what].append((f"{' / '.join(cell)}, {name}", min(fewer, gain)))
    said = {"unusual": "fewer unusual answers", "held": "more answers that hold on refits"}
    return [
        everywhere(f"balanced: nobody has both fewer changes and {said[name]}", rows)
        for name, rows in wide.items()
    ]


def _records_of(findings: Findings, cell: tuple[str, str], method: str) -> dict[int, Record]:
    return findings.records(*cell, method, kind=KIND)


def _mean(records: dict[int, Record], queries: Sequence[int], name: str) -> float:
    return mean(float(records[at][name]) for at in queries)
