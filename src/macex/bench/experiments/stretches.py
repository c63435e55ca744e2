"""Time series beside other methods: how little changes, and whether it holds and looks real.

Queries are test samples that the model decides rightly. Every sample that a method returns is
judged alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import compile_goals
from macex.ask.goals import resolve
from macex.baselines.native_guide import NativeGuide
from macex.baselines.series_evolution import SeriesEvolution
from macex.baselines.series_greedy import SeriesGreedy
from macex.baselines.series_mask import SeriesMask
from macex.bench.claims import Claim, everywhere
from macex.bench.convolutions import ConvolutionalNetwork
from macex.bench.experiments.series import StatisticsForest
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.series_sets import series_set
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset
from macex.schema import Array
from macex.series.explainer import SeriesExplainer
from macex.series.mixtures import NOISE, differs, noise
from macex.series.segments import Segments

KIND = "stretches"
TEXT = """Means of {count} cases a set, and of {few} where it has more than {wide} channels. Shares
of refits differ by about 0.4 from case to case, so their standard error is about {error:.2f}, or
{wider:.2f}. The table can be run alone, by `macex bench --tables series`, and may then be of newer
code than the others.

The models are the forest of table 7 and, on some sets, a convolutional network. Any other class
than the case's own will do. `systole/ECG` is one lead of a recording, in windows of two seconds
that hold two heartbeats or three. Cells are the share of values that differ, stretches the
runs of time points that differ, L2 the root of the summed squares. Noise is the share of 32 samples
with noise, 2 % of each channel's spread, that are decided as the answer is; refits the share of 5
models on bootstrap samples that decide so. Unusual is the share of answers whose plausibility is
under 0.05; seams the share with a step, at the end of a stretch, above 99.9 % of the steps in
training. On the edge is `Segments(stable=0)`."""
QUERIES, FEW, REFITS, NOISY = 40, 10, 5, 32
SPREAD = 0.4  # of the share of refits, from case to case
FOREST, NETWORK = "forest", "network"
NETWORKED = ("aeon/BasicMotions", "natops")  # that a network is fitted to, where torch is
DEFAULT, EDGE, WHOLE = "default", "on the edge", "whole channels"
COMTE, NATIVE, MASKS, WINDOWS = "CoMTE", "Native Guide", "evolution, masks", "evolution, windows"
LEARNT = "M-CELS style"  # it reads gradients
METHODS = (DEFAULT, EDGE, WHOLE, COMTE, NATIVE, MASKS, WINDOWS)
Model = StatisticsForest | ConvolutionalNetwork
MODELS: dict[str, type[Model]] = {FOREST: StatisticsForest, NETWORK: ConvolutionalNetwork}
SLOW, WIDE = (MASKS, WINDOWS), 100  # methods that are not asked about sets with more channels
FIGURES = (
    *("valid", "channels", "cells", "stretches", "l2"),
    *("noise", "refits", "unusual", "seams", "rows", "cpu"),
)
COMPARED = (  # what is claimed, of which method against which, and by how much it may be behind
    ("as few channels as CoMTE, or fewer", DEFAULT, COMTE, "channels", 0.0),
    ("as many answers hold under noise as CoMTE's, or more", DEFAULT, COMTE, "noise", 0.0),
    ("as many answers hold with refits as CoMTE's, or more", DEFAULT, COMTE, "refits", 0.0),
    ("on the edge, at most 5 % more cells than NSGA-II", EDGE, MASKS, "cells", 0.05),
)
PUBLISHED = {  # Refoyo and Luengo's notebook, NATOPS: sparsity, L2, subsequences, seconds, valid
    "CoMTE": (0.14, 9.0, 3.4, 83.0, 1.0),
    "TSEvo": (0.12, 13.2, 27.0, 110.0, 1.0),
    "M-CELS": (0.04, 8.1, 8.3, 17.0, 0.97),
    "Multi-SpaCE": (0.07, 7.8, 5.2, 4.7, 1.0),
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Every method on every set that can be read, with every model that is fitted to it."""
    return [
        BenchTask(KIND, name, model, method, stop=_count(plan, _sets(plan)[name]))
        for name, model in _cells(plan)
        for method in (*METHODS, *((LEARNT,) if model == NETWORK else ()))
        if _sets(plan)[name] <= WIDE or method not in SLOW
    ]


def _count(plan: BenchPlan, channels: int) -> int:
    """How many cases of a set are asked about."""
    most = plan.queries or QUERIES
    return min(most, FEW) if channels > WIDE else most


def _cells(plan: BenchPlan) -> list[tuple[str, str]]:
    """Sets and models."""
    torch = find_spec("torch") is not None
    networks = [(name, NETWORK) for name in _sets(plan) if torch and name in NETWORKED]
    return [*((name, FOREST) for name in _sets(plan)), *networks]


def _sets(plan: BenchPlan) -> dict[str, int]:
    return {**plan.shipped, **plan.series}


class Setting(NamedTuple):
    """A fitted model, its refits, and cases that it decides rightly."""

    data: SeriesDataset
    model: Model
    refits: list[Model]
    cases: Array  # (q, channels, time)
    judge: SeriesExplainer  # which knows what is plausible, and how steep steps are

    @property
    def train(self) -> tuple[Array, Array]:
        """The training cases and their labels."""
        rows = self.data.split()[0]
        return self.data.X[rows], self.data.y[rows]


def setting(data: SeriesDataset, count: int, kind: str = FOREST) -> Setting:
    """Fit the models and choose the cases, spread over the test part."""
    train, test = data.split()
    X, y = data.X[train], data.y[train]
    fit = MODELS[kind]
    model, refits = fit(X, y), []
    for seed in range(REFITS):
        rows = np.random.default_rng(seed).choice(len(X), len(X))
        rows = np.concatenate([rows, [np.flatnonzero(y == label)[0] for label in np.unique(y)]])
        refits.append(fit(X[rows], y[rows]))
    right = test[_decided(model, data.X[test]) == data.y[test]]
    chosen = right[np.unique(np.linspace(0, len(right) - 1, count).astype(int))]
    return Setting(data, model, refits, data.X[chosen], SeriesExplainer(model, X))


@lru_cache(maxsize=1)
def _known(name: str, folder: Path | None, count: int, kind: str) -> Setting:
    """The setting of a cell, for one method after the other."""
    return setting(series_set(name, folder), count, kind)


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """A record for each query."""
    given = _known(task.dataset, workshop.cells.folder, task.stop, task.model)
    explain, records = method(task.method, given), []
    for case in given.cases:
        began = time.process_time()
        found = explain(case[None])[0]
        record = {"rows": found.cost.rows, "cpu": time.process_time() - began}
        answer = found.counterfactuals[0] if found.counterfactuals else None
        looked = {} if answer is None else judged(given, case, np.asarray(answer.sample))
        records.append({"valid": answer is not None, **looked, **record})
    return TaskOutcome(task, records)


def method(name: str, given: Setting) -> Callable[..., Any]:
    """What explains cases."""
    model, (X, y) = given.model, given.train
    if name in (DEFAULT, EDGE, WHOLE):
        tune = {DEFAULT: "segments", EDGE: Segments(stable=0.0), WHOLE: None}[name]
        return SeriesExplainer(model, X, finetune=tune).explain
    if name == COMTE:
        return SeriesGreedy(model, X, y).explain
    if isinstance(model, ConvolutionalNetwork) and name == LEARNT:
        return SeriesMask(model, X, y, logits=model.logits).explain
    if name == NATIVE:
        return NativeGuide(model, X, y).explain
    return SeriesEvolution(model, X, y, style="masks" if name == MASKS else "windows").explain


def judged(given: Setting, case: Array, sample: Array) -> dict[str, Any]:
    """What a sample changes, whether it holds, and whether it looks real."""
    moved = differs(case, sample)  # (d, time)
    runs = (np.diff(moved.astype(int), axis=1, prepend=0) > 0).sum()
    decided = _decided(given.model, sample[None])[0]
    fitted, others = given.judge.fitted, given.refits
    spread = NOISE * fitted.sketch.spread[:, None]
    around = np.stack([sample + spread * noise(1 + k, sample.shape) for k in range(NOISY)])
    goals = compile_goals(resolve(None, 1), fitted.oracle(case[None], 1), fitted.outlook, 1e-6)
    plausible = fitted.plausibility(goals, 0, case, sample)
    return {
        "channels": int(moved.any(axis=1).sum()),
        "cells": float(moved.mean()),
        "stretches": int(runs),
        "l2": float(np.sqrt(((sample.astype(float) - case) ** 2).sum())),
        "noise": float((_decided(given.model, around) == decided).mean()),
        "refits": float(np.mean([_decided(one, sample[None])[0] == decided for one in others])),
        "unusual": float("nan") if plausible is None else float(plausible < 0.05),
        "seams": float(seam(case, sample, moved, fitted.texture.steep)),
    }


def seam(case: Array, sample: Array, moved: Array, steep: Array) -> bool:
    """Whether a step at the end of a stretch is steeper than steps in training, and than it was."""
    ends = moved[:, 1:] != moved[:, :-1]
    new, old = (np.abs(np.diff(one.astype(float), axis=1)) for one in (sample, case))
    return bool((ends & (new > steep[:, None] + 1e-9) & (new > old)).any())


def _decided(model: Model, cases: Array) -> Array:
    return np.asarray(model.classes_[model.predict_proba(cases).argmax(axis=1)])


def means(outcome: TaskOutcome) -> dict[str, float]:
    """The mean of every figure over the queries that have it."""
    found = {}
    for figure in FIGURES:
        known = np.array([record.get(figure, np.nan) for record in outcome.records], dtype=float)
        found[figure] = float(np.nanmean(known)) if np.isfinite(known).any() else float("nan")
    return found


def show(findings: Findings) -> ReportSection:
    """A table for every set, and what is published of one of them."""
    sets = _sets(findings.plan)
    if not sets:
        text = "No set of time series was run: their files are in no folder that was given."
        return ReportSection("Time series beside other methods", [text])
    printed = ReportTable(
        "NATOPS as published, with a network", ("method", "cells", "L2", "stretches", "s", "valid")
    )
    for name, figures in PUBLISHED.items():
        printed.add(name, *figures)
    tables = []
    for name, model in _cells(findings.plan):
        title = f"{name}, {sets[name]} channels, {model}"
        table = ReportTable(title, ("method", *FIGURES))
        for outcome in _done(findings, name, model):
            table.add(outcome.task.method, *means(outcome).values())
        tables.append(table)
    count, few = (_count(findings.plan, channels) for channels in (1, WIDE + 1))
    errors = {"error": SPREAD / np.sqrt(count), "wider": SPREAD / np.sqrt(few)}
    text = TEXT.format(count=count, few=few, wide=WIDE, **errors)
    return ReportSection("Time series beside other methods", [text, printed, *tables])


def claims(findings: Findings) -> list[Claim]:
    """Every query is answered, with as few channels and cells as others', and holds as well."""
    cells = {
        f"{name}, {model}": {o.task.method: means(o) for o in _done(findings, name, model)}
        for name, model in _cells(findings.plan)
    }
    return [
        everywhere(
            "time series: every query is answered",
            [(at, 1 - found[DEFAULT]["valid"]) for at, found in cells.items() if DEFAULT in found],
        ),
        *(
            everywhere(f"time series: {words}", _behind(cells, ours, theirs, figure, slack))
            for words, ours, theirs, figure, slack in COMPARED
        ),
        everywhere(
            "time series: no seam is steeper than steps in training",
            [(at, found[DEFAULT]["seams"]) for at, found in cells.items() if DEFAULT in found],
        ),
    ]


def _behind(
    cells: dict[str, dict[str, dict[str, float]]], ours: str, theirs: str, figure: str, slack: float
) -> list[tuple[str, float]]:
    """How far one method is behind another in every cell that has both."""
    sign = 1.0 if figure in ("channels", "cells") else -1.0
    return [
        (at, max(0.0, sign * (found[ours][figure] - (1 + slack) * found[theirs][figure])))
        for at, found in cells.items()
        if {ours, theirs} <= found.keys()
    ]


def _done(findings: Findings, name: str, model: str) -> list[TaskOutcome]:
    tasks = [o for o in findings.kind(KIND) if (o.task.dataset, o.task.model) == (name, model)]
    return [o for o in tasks if o.error is None]
