"""Table 7: time series, from one class to each of six others, by whole channels as in the paper.

The sets stand in for the paper's, whose series are not public; the model is a random forest on
statistics of every channel. Queries are put one at a time. Greedy as published asks the model about
one case at a time; ours asks about all channels of a step at once. On the widest set the published
one takes minutes for a query, so it is asked about one query and two goals there, and ratios are of
the same queries and goals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.baselines.series_greedy import SeriesGreedy
from macex.bench.claims import Claim, at_most, everywhere
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.record.paper import printed_tables
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset, load_series
from macex.schema import Array
from macex.series.explainer import SeriesExplainer

GOALS = 6
TREES = 100
QUERIES = 3
WIDE = 100  # channels; on wider sets Greedy as published is asked less
WIDE_QUERIES, WIDE_GOALS = 1, 2
GREEDY, PUBLISHED = "Greedy", "Greedy, row by row"
OURS = {"MACE-GLD": "gradientless", "MACE-RL": "reinforce", "default": "exhaustive"}
LIMITS = {
    "default": {"samples": 0.2, "cpu": 0.2, "channels": 1},
    "MACE-RL": {"cpu": 0.2, "channels": 1.2},
}
FIGURES = ("valid", "channels", "samples", "calls", "cpu")


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """Every method on every set that can be read, to all goals."""
    count = min(QUERIES, plan.queries or QUERIES)
    return [
        BenchTask("series", name, "forest", method, stop=WIDE_QUERIES if few else count)
        for name, channels in plan.series.items()
        for method in (GREEDY, PUBLISHED, *OURS)
        for few in [method == PUBLISHED and channels > WIDE]
    ]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """A record for each goal: means over the queries."""
    setting = _setting(load_series(task.dataset, folder=workshop.cells.folder), task.stop)
    explain = _explain(task.method, setting)
    wide = len(setting.data.channels) > WIDE
    goals = setting.goals[:WIDE_GOALS] if wide and task.method == PUBLISHED else setting.goals
    return TaskOutcome(task, [_measured(explain, goal, setting.cases) for goal in goals])


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
    found, each = [], []
    for case in cases:
        began = time.process_time()
        found.append(explain(case[None], want=goal)[0])
        each.append(time.process_time() - began)
    return {
        "goal": str(goal),
        "valid": _mean([bool(one.counterfactuals) for one in found]),
        "channels": _mean(
            [one.counterfactuals[0].sparsity for one in found if one.counterfactuals]
        ),
        "samples": _mean([one.cost.rows for one in found]),
        "calls": _mean([one.cost.calls for one in found]),
        "cpu": _mean(each),
        "each": each,
    }


def _mean(values: Sequence[float]) -> float:
    known = np.array(values, dtype=float)
    return float(np.nanmean(known)) if np.isfinite(known).any() else float("nan")


def show(findings: Findings) -> ReportSection:
    """What the paper prints, and for every set what was measured."""
    known = printed_tables()["7"]
    printed = ReportTable("Sparsity / seconds per query, as printed", ("method", *known["goals"]))
    for name, changes in known["sparsity"].items():
        pairs = zip(changes, known["seconds"][name], strict=True)
        printed.add(name, *(f"{few} / {seconds}" for few, seconds in pairs))
    tables = [_ratios(findings), *(_table(findings, name) for name in findings.plan.series)]
    tables = tables if findings.plan.series else []
    text = (
        "The sets stand in for the paper's, whose series are not public."
        if tables
        else "The series sets were not run: their files are in no folder that was given."
    )
    return ReportSection("Table 7: time series", [text, printed, *tables])


def _table(findings: Findings, name: str) -> ReportTable:
    headings = ("method", "to class", "valid", "channels", "samples", "calls", "cpu s")
    table = ReportTable(f"{name}, {findings.plan.series[name]} channels", headings)
    done = [o for o in findings.kind("series") if o.task.dataset == name and o.error is None]
    for outcome in done:
        for record in outcome.records:
            table.add(outcome.task.method, record["goal"], *(record[of] for of in FIGURES))
    for outcome in done:
        table.add(outcome.task.method, "all", *_means(outcome).values())
    return table


def _means(outcome: TaskOutcome) -> dict[str, float]:
    return {of: _mean([record[of] for record in outcome.records]) for of in FIGURES}


def faster(findings: Findings, dataset: str, method: str, than: str) -> tuple[float, int]:
    """How many times as long another method takes on the same queries and goals; how many."""
    ours, theirs = (_each(findings, dataset, name) for name in (method, than))
    both = ours.keys() & theirs.keys()
    if not both:
        return float("nan"), 0
    return sum(theirs[pair] for pair in both) / sum(ours[pair] for pair in both), len(both)


def _each(findings: Findings, dataset: str, method: str) -> dict[tuple[str, int], float]:
    """Seconds of CPU by goal and query."""
    return {
        (record["goal"], query): cpu
        for outcome in findings.of("series", dataset, "forest", method)
        for record in outcome.records
        for query, cpu in enumerate(record["each"])
    }


def _ratios(findings: Findings) -> ReportTable:
    title = "Times as long as MACE-RL and as the default, on the same queries and goals"
    table = ReportTable(
        title, ("set", "channels", "Greedy", "MACE-RL", "default", "queries x goals")
    )
    for name, channels in findings.plan.series.items():
        for greedy, words in ((PUBLISHED, "row by row, as published"), (GREEDY, "batched")):
            found = [faster(findings, name, method, greedy) for method in ("MACE-RL", "default")]
            table.add(name, channels, words, *(ratio for ratio, _ in found), found[0][1])
    return table


def claims(findings: Findings) -> list[Claim]:
    """Every answer valid, and on the widest set a fifth of Greedy's rows and time or less."""
    found = []
    for name, channels in findings.plan.series.items():
        means = {
            outcome.task.method: _means(outcome)
            for outcome in findings.kind("series")
            if outcome.task.dataset == name and outcome.error is None
        }
        missing = [(method, 1 - of["valid"]) for method, of in means.items()]
        found.append(everywhere(f"{name}: every query is answered, by every method", missing))
        if channels > WIDE and {GREEDY, *OURS} <= means.keys():
            found += _against_greedy(name, means)
    return found


def _against_greedy(name: str, means: dict[str, dict[str, float]]) -> list[Claim]:
    """The widest set, against Greedy with batched calls."""
    return [
        at_most(
            f"{name}: {method}'s {of} over batched Greedy's",
            means[method][of] / means[GREEDY][of],
            most,
        )
        for method, limits in LIMITS.items()
        for of, most in limits.items()
    ]
