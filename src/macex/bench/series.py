"""The paper's Table 7: time series, from one class to each of six others.

`python -m macex.bench.series --data FOLDER` prints, for every set found in the folder (or in the
one named by MACEX_DATA), validity, changed channels, samples scored and CPU seconds a query of
Greedy, MACE-GLD, MACE-RL and the default, all taking whole channels as the paper does. The model is
a random forest on statistics of every channel.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from macex.baselines.series_greedy import SeriesGreedy
from macex.bench.tables import Report
from macex.errors import DataError
from macex.schema import Array
from macex.series.explainer import SeriesExplainer

SETS = ("spoken_digits_563", "tennessee_eastman", "natops")
GOALS = 6
TREES = 100
HEADINGS = ("method", "to class", "valid", "channels", "samples", "calls", "cpu s")


class Row(NamedTuple):
    """What a method needed from the one class to another: means over the queries."""

    method: str
    goal: str
    valid: float
    channels: float
    samples: float
    calls: float
    cpu: float


class Series(NamedTuple):
    """A set of cases in two parts."""

    name: str
    X_train: Array  # (cases, channels, time)
    y_train: Array
    X_test: Array
    y_test: Array
    channels: Array


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


def read(name: str, folder: Path) -> Series:
    """A set from its file."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise DataError(f"{path} is not there: give the folder with --data or MACEX_DATA")
    with np.load(path, allow_pickle=False) as stored:
        parts = ("X_train", "y_train", "X_test", "y_test", "channels")
        return Series(name, *(stored[part] for part in parts))


def table(data: Series, queries: int = 3, published: bool = False) -> Iterator[Row]:
    """Table 7 for one set: every method to every goal, with as many cases of the first class."""
    model = StatisticsForest(data.X_train, data.y_train)
    decided = model.classes_[model.predict_proba(data.X_test).argmax(axis=1)]
    source, cases = _source(data, decided, queries)
    goals = [label for label in model.classes_ if label != source][:GOALS]
    methods = _methods(model, data, published)
    for goal in goals:
        for name, explain in methods.items():
            yield _measured(str(goal), name, explain, cases)


def _source(data: Series, decided: Array, queries: int) -> tuple[Any, Array]:
    """The class most test cases of which are decided rightly, and some of these."""
    right = decided == data.y_test
    labels, counts = np.unique(data.y_test[right], return_counts=True)
    source = labels[counts.argmax()]
    return source, data.X_test[np.flatnonzero(right & (data.y_test == source))[:queries]]


def _methods(model: Any, data: Series, published: bool) -> dict[str, Callable[..., Any]]:
    names = [str(name) for name in data.channels]

    def ours(method: str) -> Callable[..., Any]:
        explainer = SeriesExplainer(
            model, data.X_train, channels=names, method=method, finetune=None
        )
        return explainer.explain

    greedy = {"Greedy": True} | ({"Greedy, row by row": False} if published else {})
    found: dict[str, Callable[..., Any]] = {
        name: SeriesGreedy(model, data.X_train, data.y_train, batched=batched).explain
        for name, batched in greedy.items()
    }
    methods = {"MACE-GLD": "gradientless", "MACE-RL": "reinforce", "default": "exhaustive"}
    return found | {name: ours(method) for name, method in methods.items()}


def _measured(goal: str, name: str, explain: Any, cases: Array) -> Row:
    """One query at a time, as in the paper; CPU seconds of all threads."""
    began = time.process_time()
    found = [explain(case[None], want=goal)[0] for case in cases]
    cpu = (time.process_time() - began) / len(cases)
    return Row(
        name,
        goal,
        _mean([bool(one.counterfactuals) for one in found]),
        _mean([one.counterfactuals[0].sparsity for one in found if one.counterfactuals]),
        _mean([one.cost.rows for one in found]),
        _mean([one.cost.calls for one in found]),
        cpu,
    )


def _mean(values: Sequence[float]) -> float:
    known = np.array(values, dtype=float)
    return float(np.nanmean(known)) if np.isfinite(known).any() else float("nan")


def run(report: Report, folder: Path, names: Sequence[str], queries: int, published: bool) -> None:
    """Print the table of every set, with the means over all goals."""
    for name in names:
        data = read(name, folder)
        shape = " x ".join(map(str, data.X_train.shape[1:]))
        title = f"{name} ({shape}), {queries} queries to each of {GOALS} classes"
        lines, rows = report.table(title, *HEADINGS), []
        for row in table(data, queries, published):
            rows.append(row)
            lines.add(*row)
        for method in dict.fromkeys(row.method for row in rows):
            mine = [row[2:] for row in rows if row.method == method]
            lines.add(method, "all", *(_mean(column) for column in zip(*mine, strict=True)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m macex.bench.series", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("MACEX_DATA"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--queries", type=int, default=3, help="cases a goal")
    parser.add_argument("--published", action="store_true", help="Greedy row by row, too: slow")
    parser.add_argument("--markdown", type=Path, help="also write the tables there")
    asked = parser.parse_args(arguments)
    if asked.data is None:
        parser.error("give the folder of the sets with --data or MACEX_DATA")
    report = Report()
    run(report, Path(asked.data), asked.sets, asked.queries, asked.published)
    if asked.markdown:
        asked.markdown.write_text(report.markdown(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
