"""What a query costs with models of every kind, with and without `accelerate`.

Milliseconds for a query of Adult, one row at a time and in a batch.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd

from macex.bench.cells import mlp, pipeline
from macex.bench.cells import xgboost as one_hot_xgboost
from macex.bench.experiments.engine.cost import cheap
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection, ReportTable
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.datasets import Dataset
from macex.explainer import Explainer
from macex.models.acceleration import accelerate
from macex.models.kinds.networks import Network
from macex.models.quick import Quick
from macex.schema import Array

DATASET = "adult"
TRAINED = 4000
BATCH = 1000
SINGLES = 20


class Adult:
    """Adult as models take it: raw, and with native categories."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        train, _ = self.dataset.split()
        self.train = self.dataset.frame.iloc[train[:TRAINED]]
        self.label = self.dataset.label[train[:TRAINED]]
        self.native = self._native(self.train)

    def _native(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows with categories that are the same for all."""
        every = {
            name: pd.CategoricalDtype(sorted(self.dataset.frame[name].unique()))
            for name in self.dataset.categorical
        }
        return rows.astype(every)

    def queries(self, count: int, *, native: bool) -> pd.DataFrame:
        """Rows to explain."""
        rows = self.dataset.frame.iloc[self.dataset.rows(count)]
        return self._native(rows) if native else rows

    def pipeline(self, numbers: Any, classifier: Any) -> Any:
        """A classifier behind one-hot categories."""
        return self.fitted(pipeline(self.dataset, numbers, classifier))

    def fitted(self, model: Any, *, native: bool = False) -> Any:
        """A model fitted on the rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # converged or not
            return model.fit(self.native if native else self.train, self.label)


def _logistic(adult: Adult) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    return adult.pipeline(StandardScaler(), LogisticRegression())


def _margins(adult: Adult) -> Any:
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return adult.pipeline(StandardScaler(), LinearSVC())


def _forest(adult: Adult) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return adult.pipeline("passthrough", RandomForestClassifier(100, max_depth=10, random_state=0))


def _histograms(adult: Adult) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return adult.fitted(HistGradientBoostingClassifier(random_state=0), native=True)


def _xgboost(adult: Adult) -> Any:
    from xgboost import XGBClassifier

    return adult.fitted(XGBClassifier(n_estimators=100, enable_categorical=True), native=True)


def _lightgbm(adult: Adult) -> Any:
    from lightgbm import LGBMClassifier

    return adult.fitted(LGBMClassifier(n_estimators=100, verbose=-1), native=True)


def _catboost(adult: Adult) -> Any:
    from catboost import CatBoostClassifier

    trees = CatBoostClassifier(
        iterations=100,
        verbose=0,
        cat_features=list(adult.dataset.categorical),
        allow_writing_files=False,
    )
    return adult.fitted(trees, native=True)


def _torch(adult: Adult) -> Any:
    """Two hidden layers of 50 on the one-hot matrix, their weights as they were drawn."""
    import torch
    from sklearn.preprocessing import StandardScaler

    first = adult.pipeline(StandardScaler(), "passthrough")
    torch.manual_seed(0)
    width = first.transform(adult.train.head(1)).shape[1]
    layers = [torch.nn.Linear(width, 50), torch.nn.ReLU(), torch.nn.Linear(50, 2)]

    def prepared(rows: Any) -> Array:
        return first.transform(rows).astype("float32")

    return Network(torch.nn.Sequential(*layers), prepared, classes=(0, 1), logits=True)


def _function(_: Adult) -> Any:
    return cheap


KINDS: dict[str, tuple[Callable[[Adult], Any], bool]] = {
    "function": (_function, False),
    "logistic, pipeline": (_logistic, False),
    "LinearSVC, pipeline": (_margins, False),
    "MLP, pipeline": (lambda adult: adult.fitted(mlp(adult.dataset)), False),
    "forest, pipeline": (_forest, False),
    "XGBoost, pipeline": (lambda adult: adult.fitted(one_hot_xgboost(adult.dataset)), False),
    "HistGradientBoosting": (_histograms, True),
    "XGBoost": (_xgboost, True),
    "LightGBM": (_lightgbm, True),
    "CatBoost": (_catboost, True),
    "torch": (_torch, False),
}


def tasks(plan: BenchPlan) -> list[BenchTask]:
    """One for every kind."""
    if DATASET not in plan.here:
        return []
    count = plan.count(DATASET, most=BATCH)
    return [BenchTask("kinds", DATASET, stop=count, point=name) for name in KINDS]


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """A kind without and with its twin; one whose library is missing is an error of the task."""
    build, native = KINDS[task.point]
    adult = Adult(workshop.cells.dataset(task.dataset))
    model = build(adult)
    data, rows = adult.native if native else adult.train, adult.queries(task.stop, native=native)
    quick = _quick(model, data)
    record = {"plain": measured(model, data, rows)}
    if quick:
        record["quick"] = measured(quick, data, rows)
    return TaskOutcome(task, [record])


def show(findings: Findings) -> ReportSection:
    """One line a kind."""
    headings = ("model", "one", "batch", "one, accelerated", "batch, accelerated")
    table = ReportTable("Milliseconds for an Adult query: one at a time, and all at once", headings)
    for outcome in findings.kind("kinds"):
        if outcome.error is None:
            record = outcome.records[0]
            table.add(outcome.task.point, *record["plain"], *record.get("quick", (None, None)))
    return ReportSection("Kinds of models", [table])


def _quick(model: Any, data: pd.DataFrame) -> Quick | None:
    """The model with its twin, None where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a dash in the table says it
        found = accelerate(model, data, classes=(0, 1) if model is cheap else None)
    return found if isinstance(found, Quick) else None


def measured(model: Any, data: pd.DataFrame, rows: pd.DataFrame) -> tuple[float, float]:
    """Milliseconds a query, one at a time (the median) and all at once."""
    explainer = Explainer(model, data, classes=(0, 1) if model is cheap else None)
    alone = []
    for place in range(min(SINGLES, len(rows))):
        began = time.perf_counter()
        explainer.explain(rows.iloc[[place]])
        alone.append(1000 * (time.perf_counter() - began))
    began = time.perf_counter()
    explainer.explain(rows)
    together = 1000 * (time.perf_counter() - began) / len(rows)
    return sorted(alone)[len(alone) // 2], together
