"""Cells: a dataset, and on it a classifier. The paper's are five datasets and two classifiers.

Both are pipelines on the raw frame. XGBoost sees one-hot categories and the numbers as they are,
the MLP one-hot categories and standardised numbers. All run on one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from macex.bench.metered import ModelMeter, attach
from macex.datasets import Dataset, load
from macex.errors import OptionError, closest

Factory = Callable[[Dataset], Any]

FAVOURABLE = {"breast": 0, "compas": 0}  # elsewhere the class 1 is the one that people want


def xgboost(dataset: Dataset) -> Any:
    """100 trees of depth 6, not yet fitted."""
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise ImportError("xgboost is not installed: pip install macex[bench]") from error
    trees = XGBClassifier(n_estimators=100, max_depth=6, random_state=0, n_jobs=1)
    return pipeline(dataset, "passthrough", trees)


def mlp(dataset: Dataset) -> Any:
    """Two hidden layers of 50, not yet fitted."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier((50, 50), random_state=0, max_iter=300, alpha=1e-3)
    return pipeline(dataset, StandardScaler(), network)


def pipeline(dataset: Dataset, numbers: Any, classifier: Any) -> Any:
    """A classifier on one-hot categories and on numbers treated as told."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(encoder(dataset, numbers), classifier)


def encoder(dataset: Dataset, numbers: Any) -> Any:
    """One-hot categories, and numbers treated as told."""
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (one_hot, list(dataset.categorical)), (numbers, list(dataset.continuous))
    )


MODELS: Mapping[str, Factory] = {"XGBoost": xgboost, "MLP": mlp}


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A dataset and a model fitted on its training rows; `seed` draws the split and the rows.

    `meter` counts what the model is asked.
    """

    dataset: Dataset
    kind: str
    model: Any
    meter: ModelMeter
    seed: int = 0

    @property
    def name(self) -> str:
        """How tables call the cell."""
        return f"{self.dataset.name} / {self.kind}"

    @property
    def train(self) -> pd.DataFrame:
        """The rows the model was fitted on."""
        return self.dataset.frame.iloc[self.dataset.split(self.seed)[0]]

    def queries(self, stop: int, start: int = 0) -> pd.DataFrame:
        """The rows to explain from `start` to `stop`, in an order that longer runs keep."""
        most = len(self.dataset.split(self.seed)[1])
        return self.dataset.frame.iloc[self.dataset.rows(min(stop, most), self.seed)[start:]]


@dataclass(eq=False)
class BenchCells:
    """Cells by name; data are read and models fitted when first asked for.

    `folder` holds the files of datasets that do not come with macex. `"titanic@paper"` is the
    dataset's variant `"paper"`.
    """

    folder: str | Path | None = None
    models: Mapping[str, Factory] = field(default_factory=lambda: MODELS)

    def __post_init__(self) -> None:
        self._datasets: dict[str, Dataset] = {}
        self._fitted: dict[tuple[str, str, int], Cell] = {}

    def dataset(self, name: str) -> Dataset:
        """A dataset; DataError where its file is missing or not what it should be."""
        if name not in self._datasets:
            plain, _, variant = name.partition("@")
            self._datasets[name] = load(plain, variant=variant or None, folder=self.folder)
        return self._datasets[name]

    def get(self, name: str, kind: str, seed: int = 0) -> Cell:
        """A fitted cell."""
        if kind not in self.models:
            raise OptionError(f"no model is called {kind!r}{closest(kind, self.models)}")
        if (name, kind, seed) not in self._fitted:
            made = fitted(self.dataset(name), kind, self.models[kind], seed)
            self._fitted[name, kind, seed] = made
        return self._fitted[name, kind, seed]


def fitted(dataset: Dataset, kind: str, factory: Factory, seed: int = 0) -> Cell:
    """The cell of a dataset and a kind of model."""
    model = factory(dataset)
    train, _ = dataset.split(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 300 rounds are the set-up, converged or not
        model.fit(dataset.frame.iloc[train], dataset.label[train])
    return Cell(dataset, kind, model, attach(model), seed)
