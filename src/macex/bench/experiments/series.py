"""Table 7: time series, from one class to each of six others, by whole channels as in the paper.

The sets stand in for the paper's, whose series are not public; the model is a random forest on
statistics of every channel. Queries are put one at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.baselines.series_greedy import SeriesGreedy
from macex.bench.claims import Claim, at_most
from macex.bench.findings import Findings
from macex.bench.plan import Plan
from macex.bench.record.paper import printed_tables
from macex.bench.report.document import Section, Table
from macex.bench.tasks import Outcome, Task
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset, load_series
from macex.schema import Array
from macex.series.explainer import SeriesExplainer

GOALS = 6
TREES = 100
QUERIES = 3
ROW_BY_ROW_CHANNELS = 100  # Greedy as published is asked on sets no wider than this
GREEDY, PUBLISHED = "Greedy", "Greedy, row by row"
OURS = {"MACE-GLD": "gradientless", "MACE-RL": "reinforce", "default": "exhaustive"}
FIGURES = ("valid", "channels", "samples", "calls", "cpu")


def tasks(plan: Plan) -> list[Task]:
    """Every method on every set that can be read, to all goals."""
    count = min(QUERIES, plan.queries or QUERIES)
    return [
        Task("series", name, "forest", method, stop=count)
        for name, channels in plan.series.items()
        for method in (GREEDY, PUBLISHED, *OURS)
        if method != PUBLISHED or channels <= ROW_BY_ROW_CHANNELS
    ]


def measure(task: Task, workshop: Workshop) -> Outcome:
    """A record for each goal: means over the queries."""
    setting = _setting(load_series(task.dataset, folder=workshop.cells.folder), task.stop)
    explain = _explain(task.method, setting)
    return Outcome(task, [_measured(explain, goal, setting.cases) for goal in setting.goals])


class _Setting(NamedTuple):
    """A fitted model, and cases of one class to be moved to others."""

    data: SeriesDataset
    model: StatisticsForest
    cases: Array  # (q, channels, time)
    goals: list[str]


class StatisticsForest:
    """A random forest on the mean, spread, ends and quartiles of every channel."""

    def __init__(self, X: Array, y: Array) -> None:
        from sklearn.ensemble import RandomForestClassifier

        self.forest = RandomForestClassifier(TREES, random_state=0).fit(statistics(X), y)
        self.classes_ = self.forest.classes_

    def predict_proba(self, X: Array) -> Array:
        """The probabilities of the classes."""
        return np.asarray(self.forest.predict_proba(statistics(X)))


def statistics(X: Array) -> Array:
    """Seven numbers for each channel of every case."""
    values = np.sort(np.asarray(X, dtype=np.float32), axis=2)
    at = [0, *(np.array([0.25, 0.5, 0.75]) * (X.shape[2] - 1)).astype(int), X.shape[2] - 1]
    ordered = values[:, :, at].reshape(len(X), -1)
    return np.concatenate([values.mean(axis=2), values.std(axis=2), ordered], axis=1)


def _setting(data: SeriesDataset, count: int) -> _Setting:
    """Cases of the class that the model most often decides rightly."""
    train, test = data.split()
    model = StatisticsForest(data.X[train], data.y[train])
    decided = model.classes_[model.predict_proba(data.X[test]).argmax(axis=1)]
    right = test[decided == data.y[test]]
    labels, counts = np.unique(data.y[right], return_counts=True)
    source = labels[counts.argmax()]
    cases = data.X[right[data.y[right] == source][:count]]
    goals = [label for label in model.classes_.tolist() if label != source][:GOALS]
    return _Setting(data, model, cases, goals)


def _explain(method: str, setting: _Setting) -> Callable[..., Any]:
    data, model = setting.data, setting.model
    train = data.split()[0]
    if method in OURS:
        return SeriesExplainer(
            model,
            data.X[train],
            channels=list(data.channels),
            method=OURS[method],
            finetune=None,
        ).explain
    batched = method != PUBLISHED
    return SeriesGreedy(model, data.X[train], data.y[train], batched=batched).explain


def _measured(explain: Callable[..., Any], goal: object, cases: Array) -> dict[str, Any]:
    """One query at a time, as in the paper."""
    began = time.process_time()
    found = [explain(case[None], want=goal)[0] for case in cases]
    cpu = (time.process_time() - began) / len(cases)
    return {
        "goal": str(goal),
        "valid": _mean([bool(one.counterfactuals) for one in found]),
        "channels": _mean(
            [one.counterfactuals[0].sparsity for one in found if one.counterfactuals]
        ),
        "samples": _mean([one.cost.rows for one in found]),
        "calls": _mean([one.cost.calls for one in found]),
        "cpu": cpu,
    }


def _mean(values: Sequence[float]) -> float:
    known = np.array(values, dtype=float)
    return float(np.nanmean(known)) if np.isfinite(known).any() else float("nan")


def show(findings: Findings) -> Section:
    """What the paper prints, and for every set what was measured."""
    known = printed_tables()["7"]
    printed = Table("Sparsity / seconds per query, as printed", ("method", *known["goals"]))
    for name, changes in known["sparsity"].items():
        pairs = zip(changes, known["seconds"][name], strict=True)
        printed.add(name, *(f"{few} / {seconds}" for few, seconds in pairs))
    tables = [_table(findings, name) for name in findings.plan.series]
    text = (
        "The sets stand in for the paper's, whose series are not public."
        if tables
        else "The series sets were not run: their files are in no folder that was given."
    )
    return Section("Table 7: time series", [text, printed, *tables])


def _table(findings: Findings, name: str) -> Table:
    headings = ("method", "to class", "valid", "channels", "samples", "calls", "cpu s")
    table = Table(f"{name}, {findings.plan.series[name]} channels", headings)
    done = [o for o in findings.kind("series") if o.task.dataset == name and o.error is None]
    for outcome in done:
        for record in outcome.records:
            table.add(outcome.task.method, record["goal"], *(record[of] for of in FIGURES))
    for outcome in done:
        table.add(outcome.task.method, "all", *_means(outcome).values())
    return table


def _means(outcome: Outcome) -> dict[str, float]:
    return {of: _mean([record[of] for record in outcome.records]) for of in FIGURES}


def claims(findings: Findings) -> list[Claim]:
    """Every answer valid, and on the widest set a fifth of Greedy's rows and time or less."""
    found = []
    for name, channels in findings.plan.series.items():
        means = {
            outcome.task.method: _means(outcome)
            for outcome in findings.kind("series")
            if outcome.task.dataset == name and outcome.error is None
        }
        for method, of in means.items():
            found.append(at_most(f"{name}, {method}: rows without an answer", 1 - of["valid"], 0))
        if channels <= ROW_BY_ROW_CHANNELS or not {GREEDY, *OURS} <= means.keys():
            continue
        greedy, ours, policy = means[GREEDY], means["default"], means["MACE-RL"]
        found += [
            *(
                at_most(f"{name}: default's {of} over Greedy's", ours[of] / greedy[of], most)
                for of, most in (("samples", 0.2), ("cpu", 0.2), ("channels", 1))
            ),
            *(
                at_most(f"{name}: MACE-RL's {of} over Greedy's", policy[of] / greedy[of], most)
                for of, most in (("cpu", 0.2), ("channels", 1.2))
            ),
        ]
    return found
