"""What exact answers for trees cost, and what they prove: Adult with XGBoost.

Once as the pipeline on the raw frame of the other tables, once with XGBoost's own categories, and
once on a frame that is one-hot encoded already, where a call has the least to do before the trees.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import mean, median
from typing import Any, NamedTuple

import pandas as pd

from macex.bench.cells import Cells
from macex.bench.claims import Claim, at_most
from macex.bench.tables import Report
from macex.datasets import Dataset, load
from macex.explainer import Explainer

MOST_MILLISECONDS = 20
WAYS = ("both", "thresholds")


class Figures(NamedTuple):
    """What a batch of queries cost, and how often its answer is proved minimal."""

    alone: float  # ms per query, one at a time, median
    batch: float  # ms per query, all at once
    rows: float  # scored per query
    changes: float
    proved: float  # share of answers that are proved minimal over all values


def run(cells: Cells, report: Report, queries: int = 500, singles: int = 100) -> list[Claim]:
    """Print the table and return what it shows."""
    table = report.table(
        f"Exact answers for trees: Adult / XGBoost, {queries} queries",
        *("model", "candidates", "ms alone", "ms batch", "rows", "changes", "proved"),
    )
    claims = []
    for name, model, train, asked in _models(cells, queries):
        for way in WAYS:
            report.progress(f"thresholds: {name}, {way}")
            found = measure(Explainer(model, train, candidates=way), asked, singles)
            table.add(name, way, *found)
        claims += [
            at_most(f"exact answers, {name}: ms a query alone", found.alone, MOST_MILLISECONDS),
            at_most(
                f"exact answers, {name}: ms a query in a batch", found.batch, MOST_MILLISECONDS
            ),
        ]
    return claims


def measure(explainer: Explainer, asked: pd.DataFrame, singles: int) -> Figures:
    """Explain rows at once, and some of them one at a time."""
    explainer.explain(asked.head(1))
    batch, found = _timed(partial(explainer.explain, asked))
    alone = [
        _timed(partial(explainer.explain, asked.iloc[[place]]))[0]
        for place in range(min(singles, len(asked)))
    ]
    answered = [item for item in found if item.counterfactuals]
    return Figures(
        alone=1000 * median(alone),
        batch=1000 * batch / len(asked),
        rows=mean(item.cost.rows for item in found),
        changes=mean(item.counterfactuals[0].sparsity for item in answered),
        proved=mean(item.minimal and item.minimal_over == "all values" for item in answered),
    )


def _models(cells: Cells, queries: int) -> list[tuple[str, Any, pd.DataFrame, pd.DataFrame]]:
    """The models: their names, training rows and rows to explain."""
    cell = cells.get("adult", "XGBoost")
    if cell is None:
        return []
    dataset = load("adult")
    categories = dict.fromkeys(dataset.categorical, "category")
    frames = {
        "own categories": dataset.frame.astype(categories),
        "one-hot frame": pd.get_dummies(dataset.frame, dtype="float32").astype("float32"),
    }
    return [("pipeline", cell.model, cell.train, cell.queries(queries))] + [
        (name, *_fitted(dataset, frame), frame.iloc[dataset.rows(queries)])
        for name, frame in frames.items()
    ]


def _fitted(dataset: Dataset, frame: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    from xgboost import XGBClassifier

    at, _ = dataset.split()
    trees = XGBClassifier(n_estimators=100, max_depth=6, random_state=0, enable_categorical=True)
    return trees.fit(frame.iloc[at], dataset.label[at]), frame.iloc[at]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done
