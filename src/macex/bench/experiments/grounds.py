"""What believable answers rest on, each by itself: stability, plausibility, and relations.

Stability: how many first answers for refused rows still hold on models fitted to bootstrap samples.
Plausibility: how often a row that was not learnt from looks more real than the same with one cell,
or two, of other rows. Relations: in how many tables whose columns were shuffled, so that nothing
holds between them, one is found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from statistics import fmean as mean
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from macex.bench.cells import FAVOURABLE, MODELS, Cell, fitted, pipeline
from macex.bench.claims import Claim, at_least, at_most, everywhere
from macex.bench.experiments.believable import BALANCED, FEWEST, PLAIN, PREFERRED, refits
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.structured import TABLES, structured
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.datasets import Dataset
from macex.schema import Array, Schema
from macex.stages.distance import learn_scales
from macex.stages.plausibility.distance import reference
from macex.stages.plausibility.measure import learn_realness
from macex.stages.selection import PLAUSIBLE
from macex.structure import find_structure

KIND = "grounds"
STABILITY, REAL, CHANCE = "stability", "plausibility", "relations"
REFUSED = 200
FRESH = 500  # rows that are told from swapped ones
SHUFFLES = 40  # of each table
CELLS = (1, 2)  # that are swapped
LEARNED, DISTANCE = "learned", "distance"
EDGE = 0.55  # a score below is near the threshold
LIGHTGBM = "LightGBM"
REAL_TARGET = {"adult": (0.68, 0.72), "customers": (0.80, 0.84)}
HOLDING = {"customers": (0.85, 1.0), "loans": (0.65, 1.15)}  # at so many times the changes


def lightgbm(dataset: Dataset) -> Any:
    """100 rounds of 31 leaves, not yet fitted."""
    from lightgbm import LGBMClassifier

    trees = LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1, random_state=0)
    return pipeline(dataset, "passthrough", trees)


TREES = {LIGHTGBM: lightgbm, "XGBoost": MODELS["XGBoost"]}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Stability on the made-up tables, plausibility and relations on all tables."""
    few = plan.queries
    asked = REFUSED if few is None else min(few, REFUSED)
    stable = [
        BenchTask(KIND, name, model, method, stop=asked, point=STABILITY)
        for name in TABLES
        for model in TREES
        for method in (PLAIN, FEWEST, BALANCED)
        if "XGBoost" in plan.models
    ]
    tables = [*plan.here, *TABLES]
    fresh = FRESH if few is None else min(few, FRESH)
    real = [
        BenchTask(KIND, name, "", measure_, stop=fresh, point=REAL)
        for name in tables
        for measure_ in (LEARNED, DISTANCE)
    ]
    shuffles = SHUFFLES if few is None else min(few, SHUFFLES)
    return [
        *stable,
        *real,
        *(BenchTask(KIND, name, stop=shuffles, point=CHANCE) for name in tables),
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """One of the three."""
    if task.point == STABILITY:
        return TaskOutcome(task, _stability(_cell(task.dataset, task.model), task))
    made = task.dataset in TABLES
    dataset = structured(task.dataset) if made else workshop.cells.dataset(task.dataset)
    found = _told_apart if task.point == REAL else _by_chance
    return TaskOutcome(task, [found(dataset, task)])


@lru_cache(maxsize=2)
def _cell(name: str, kind: str) -> Cell:
    return fitted(structured(name), kind, TREES[kind])


def _stability(cell: Cell, task: BenchTask) -> list[dict[str, Any]]:
    """What became of the first answers for refused rows."""
    test = cell.dataset.frame.iloc[cell.dataset.split(cell.seed)[1]]
    refused = 1 - FAVOURABLE.get(cell.dataset.name, 0)
    rows = test[np.asarray(cell.model.predict(test)) == refused].head(task.stop)
    explainer = PREFERRED[task.method](cell.model, cell.train, task.seed)
    found = [one for one in explainer.explain(rows) if one.counterfactuals]
    first = [one.counterfactuals[0] for one in found]
    answers = pd.concat([one.row for one in first]).astype(cell.train.dtypes.to_dict())
    share = explainer.plausibility(answers, 1 - refused)
    models = refits(cell, TREES[cell.kind])
    held = np.mean([np.asarray(one.predict(answers)) != refused for one in models], axis=0)
    return [
        {
            "held": float(held[at]),
            "sparsity": one.sparsity,
            "edge": bool(one.score < EDGE),
            "unusual": bool(share[at] < PLAUSIBLE),
            "rows": found[at].cost.rows,
        }
        for at, one in enumerate(first)
    ]


def _told_apart(dataset: Dataset, task: BenchTask) -> dict[str, float]:
    """The area under the curve of real and swapped rows, and what learning took."""
    from sklearn.metrics import roc_auc_score

    train, test = (dataset.frame.iloc[at] for at in dataset.split(task.seed))
    schema = Schema.infer(train)
    codes, fresh = (schema.read(frame).codes for frame in (train, test.head(task.stop)))
    scales = learn_scales(schema, codes)
    began = time.process_time()
    real: Callable[[Array], Array] = (
        learn_realness(codes, scales.discrete, scales.by_name)
        if task.method == LEARNED
        else reference(scales, codes).share
    )
    spent, draw = time.process_time() - began, np.random.default_rng(0)
    truth = np.repeat([1, 0], len(fresh))
    areas = {
        str(cells): float(
            roc_auc_score(truth, real(np.concatenate([fresh, _swapped(fresh, codes, cells, draw)])))
        )
        for cells in CELLS
    }
    return {**areas, "cpu": spent}


def _swapped(rows: Array, source: Array, cells: int, draw: Generator) -> Array:
    """Rows with so many cells, each another than before, of random training rows."""
    swapped = rows.copy()
    for row in swapped:
        left = cells
        for place in draw.permutation(rows.shape[1]):
            others = source[source[:, place] != row[place], place]
            if left and len(others):
                row[place] = draw.choice(others)
                left -= 1
    return swapped


def _by_chance(dataset: Dataset, task: BenchTask) -> dict[str, float]:
    """How many tables of independent columns show a relation; truth values are none."""
    wrong = 0
    for seed in range(task.stop):
        draw = np.random.default_rng(seed)
        rows = dataset.frame.sample(min(len(dataset.frame), 4000), random_state=seed)
        shuffled = pd.DataFrame({name: draw.permutation(rows[name].to_numpy()) for name in rows})
        schema = Schema.infer(shuffled)
        found = find_structure(schema, schema.read(shuffled).codes)
        wrong += any(relation.kind != "flag" for relation in found)
    return {"tables": float(task.stop), "wrong": float(wrong)}


def show(findings: Findings) -> ReportSection:
    """A table for each of the three."""
    held = ReportTable("Answers for refused rows", ("cell", "method", "rows", *HELD))
    for outcome in _of(findings, STABILITY):
        name = f"{outcome.task.dataset} / {outcome.task.model}"
        means = (mean(float(one[part]) for one in outcome.records) for part in HELD.values())
        held.add(name, outcome.task.method, len(outcome.records), *means)
    real = ReportTable(
        "Real rows told from swapped ones",
        ("table", "measure", "one cell", "two cells", "CPU s of learning"),
    )
    for outcome in _of(findings, REAL):
        real.add(outcome.task.dataset, outcome.task.method, *outcome.records[0].values())
    chance = ReportTable("Shuffled columns", ("table", "shuffles", "with a relation"))
    for outcome in _of(findings, CHANCE):
        chance.add(outcome.task.dataset, *(int(one) for one in outcome.records[0].values()))
    text = (
        f"holds on refits: share of 5 models fitted to bootstrap samples that decide the same. "
        f"under {EDGE}: share of answers with a lower score. unusual: under 0.05 by the learned "
        f"measure, and for {PLAIN} by distance. Swapped rows have one or two cells of other rows; "
        "the number is the area under the curve, 0.5 for a guess. Shuffled columns: relations in "
        "tables each of whose columns was put into another order."
    )
    return ReportSection("What believable answers rest on", [text, held, real, chance])


HELD = {
    "holds on refits": "held",
    "changes": "sparsity",
    f"under {EDGE}": "edge",
    "unusual": "unusual",
    "rows a query": "rows",
}


def claims(findings: Findings) -> list[Claim]:
    """What the measures were made to reach."""
    return [*_holding(findings), *_telling(findings), *_chance(findings)]


def _holding(findings: Findings) -> list[Claim]:
    said = []
    for name, (least, times) in HOLDING.items():
        both = [
            [one for o in findings.of(KIND, name, LIGHTGBM, method) for one in o.records]
            for method in (BALANCED, PLAIN)
        ]
        if all(both):
            held = mean(one["held"] for one in both[0])
            more = mean(one["sparsity"] for one in both[0]) / mean(o["sparsity"] for o in both[1])
            said += [
                at_least(f"first answers that hold on refits, {name}", held, least),
                at_most(f"their changes over those of {PLAIN}, {name}", more, times),
            ]
    return said


def _telling(findings: Findings) -> list[Claim]:
    areas = {(o.task.dataset, o.task.method): o.records[0] for o in _of(findings, REAL)}
    said = [
        at_least(f"real or swapped, {name}, {cells} of its cells", areas[name, LEARNED][cells], one)
        for name, least in REAL_TARGET.items()
        if (name, LEARNED) in areas
        for cells, one in zip(map(str, CELLS), least, strict=True)
    ]
    below = [
        (f"{name}, {cells}", areas[name, DISTANCE][cells] - areas[name, LEARNED][cells])
        for name in dict.fromkeys(name for name, _ in areas)
        if (name, LEARNED) in areas and (name, DISTANCE) in areas
        for cells in map(str, CELLS)
    ]
    return [*said, everywhere("the learned measure tells no worse than distance", below)]


def _chance(findings: Findings) -> list[Claim]:
    counts = [outcome.records[0] for outcome in _of(findings, CHANCE)]
    if not counts:
        return []
    share = sum(one["wrong"] for one in counts) / sum(one["tables"] for one in counts)
    return [at_most("tables of independent columns with a relation", share, 0.01)]


def _of(findings: Findings, point: str) -> list[TaskOutcome]:
    return [o for o in findings.kind(KIND) if o.task.point == point and o.records]
