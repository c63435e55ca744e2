"""A small network of torch behind scikit-learn's face, trained the same way every time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from macex.schema import Array


def _of_classes(network: Any) -> bool:
    return not network.regression


class TorchNetwork(BaseEstimator):  # type: ignore[misc]
    """Two hidden layers of `width`, `epochs` passes of Adam. Needs `pip install macex[torch]`.

    With `regression` it predicts a number, else one of the classes it was fitted on.
    """

    def __init__(self, regression: bool = False, width: int = 50, epochs: int = 40) -> None:
        self.regression, self.width, self.epochs = regression, width, epochs

    def fit(self, rows: Array, label: Array) -> TorchNetwork:
        """Learn from rows (n, d) of numbers."""
        import torch

        x = torch.as_tensor(np.asarray(rows, np.float32))
        if self.regression:
            self._center, self._spread = float(np.mean(label)), float(np.std(label)) or 1.0
            scaled = (np.asarray(label, float) - self._center) / self._spread
            target, outputs = torch.as_tensor(scaled.astype(np.float32))[:, None], 1
        else:
            self.classes_, codes = np.unique(label, return_inverse=True)
            target, outputs = torch.as_tensor(codes), len(self.classes_)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.network_ = self._layers(x.shape[1], outputs)
            self._train(x, target)
        return self

    def _layers(self, inputs: int, outputs: int) -> Any:
        from torch import nn

        wide = self.width
        return nn.Sequential(
            nn.Linear(inputs, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(),
            nn.Linear(wide, outputs),
        )  # fmt: skip

    def _train(self, x: Any, target: Any) -> None:
        import torch

        loss = torch.nn.MSELoss() if self.regression else torch.nn.CrossEntropyLoss()
        optimiser = torch.optim.Adam(self.network_.parameters(), lr=3e-3, weight_decay=1e-4)
        for _ in range(self.epochs):
            for part in torch.split(torch.randperm(len(x)), 128):
                optimiser.zero_grad()
                loss(self.network_(x[part]), target[part]).backward()
                optimiser.step()

    def _out(self, rows: Array) -> Array:
        import torch

        with torch.no_grad():
            found: Array = self.network_(torch.as_tensor(np.asarray(rows, np.float32))).numpy()
        return found.astype(float)

    def predict(self, rows: Array) -> Array:
        """Labels, or numbers."""
        if self.regression:
            return self._out(rows)[:, 0] * self._spread + self._center
        found: Array = self.classes_[self._out(rows).argmax(axis=1)]
        return found

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Array) -> Array:
        """The probabilities of the classes; a network of numbers has none."""
        out = self._out(rows)
        odds = np.exp(out - out.max(axis=1, keepdims=True))
        found: Array = odds / odds.sum(axis=1, keepdims=True)
        return found
