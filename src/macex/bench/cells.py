"""The ten cells: five datasets, and on each an XGBoost classifier and an MLP.

Both are pipelines on the raw frame. XGBoost sees one-hot categories and the numbers as they are,
the MLP one-hot categories and standardised numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from macex.datasets import NAMES, Dataset, load
from macex.errors import DataError

Factory = Callable[[Dataset], Any]


def xgboost(dataset: Dataset) -> Any:
    """100 trees of depth 6, not yet fitted."""
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise ImportError("xgboost is not installed: pip install macex[bench]") from error
    trees = XGBClassifier(n_estimators=100, max_depth=6, random_state=0)
    return pipeline(dataset, "passthrough", trees)


def mlp(dataset: Dataset) -> Any:
    """Two hidden layers of 50, not yet fitted."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier((50, 50), random_state=0, max_iter=300, alpha=1e-3)
    return pipeline(dataset, StandardScaler(), network)


def pipeline(dataset: Dataset, numbers: Any, classifier: Any) -> Any:
    """A classifier on one-hot categories and on numbers treated as told."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (one_hot, list(dataset.categorical)), (numbers, list(dataset.continuous))
    )
    return make_pipeline(columns, classifier)


MODELS: Mapping[str, Factory] = {"XGBoost": xgboost, "MLP": mlp}


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A dataset and a model fitted on its training rows."""

    dataset: Dataset
    kind: str
    model: Any

    @property
    def name(self) -> str:
        """How tables call the cell."""
        return f"{self.dataset.name} / {self.kind}"

    @property
    def train(self) -> pd.DataFrame:
        """The rows the model was fitted on."""
        return self.dataset.frame.iloc[self.dataset.split()[0]]

    def queries(self, count: int) -> pd.DataFrame:
        """The first `count` rows to explain, or all test rows where there are fewer."""
        most = len(self.dataset.split()[1])
        return self.dataset.frame.iloc[self.dataset.rows(min(count, most))]


@dataclass(eq=False)
class Cells:
    """The cells that can be made here; models are fitted when first asked for.

    `skipped` says of every other dataset or model why it is left out.
    """

    folder: str | Path | None = None
    names: Sequence[str] = NAMES
    models: Mapping[str, Factory] = field(default_factory=lambda: MODELS)
    skipped: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._fitted: dict[tuple[str, str], Cell] = {}
        self._datasets: dict[str, Dataset] = {}
        for name in self.names:
            try:
                self._datasets[name] = load(name, folder=self.folder)
            except DataError as error:
                self.skipped[name] = str(error)

    def __iter__(self) -> Iterator[Cell]:
        for kind in self.models:
            for name in self._datasets:
                cell = self.get(name, kind)
                if cell is not None:
                    yield cell

    def get(self, name: str, kind: str) -> Cell | None:
        """One cell, or None where it was skipped."""
        if name not in self._datasets or kind not in self.models or kind in self.skipped:
            return None
        if (name, kind) not in self._fitted:
            try:
                self._fitted[name, kind] = fitted(self._datasets[name], kind, self.models[kind])
            except ImportError as error:
                self.skipped[kind] = str(error)
        return self._fitted.get((name, kind))


def fitted(dataset: Dataset, kind: str, factory: Factory) -> Cell:
    """The cell of a dataset and a kind of model."""
    model = factory(dataset)
    train, _ = dataset.split()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 300 rounds are the set-up, converged or not
        model.fit(dataset.frame.iloc[train], dataset.label[train])
    return Cell(dataset, kind, model)
