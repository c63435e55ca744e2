"""A small fully convolutional network for time series, fitted the same way every time."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.schema import Array

EPOCHS, BATCH, RATE = 150, 16, 1e-3
LAYERS = ((32, 7), (64, 5), (32, 3))  # channels and width of each


class ConvolutionalNetwork:
    """Wang, Yan and Oates (2017), with fewer channels. Needs `pip install macex[torch]`."""

    def __init__(self, X: Array, y: Array) -> None:
        import torch

        self.classes_, codes = np.unique(y, return_inverse=True)
        cases = torch.as_tensor(np.asarray(X, np.float32))
        self._center = cases.mean(dim=(0, 2), keepdim=True)
        self._spread = cases.std(dim=(0, 2), keepdim=True) + 1e-9
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self._network = _layers(X.shape[1], len(self.classes_))
            self._train(cases, torch.as_tensor(codes))
        self._network.eval().requires_grad_(requires_grad=False)

    def _train(self, cases: Any, target: Any) -> None:
        import torch

        loss = torch.nn.CrossEntropyLoss()
        optimiser = torch.optim.Adam(self._network.parameters(), RATE)
        for _ in range(EPOCHS):
            for part in torch.split(torch.randperm(len(cases)), BATCH):
                if len(part) > 1:
                    optimiser.zero_grad()
                    loss(self.logits(cases[part]), target[part]).backward()
                    optimiser.step()

    def logits(self, cases: Any) -> Any:
        """A tensor (n, channels, time) as one (n, classes)."""
        return self._network((cases - self._center) / self._spread)

    def predict_proba(self, X: Array) -> Array:
        """The probabilities of the classes."""
        import torch

        with torch.no_grad():
            out = self.logits(torch.as_tensor(np.asarray(X, np.float32)))
            found: Array = torch.softmax(out, dim=1).numpy()
        return found.astype(float)


def _layers(channels: int, classes: int) -> Any:
    from torch import nn

    parts: list[Any] = []
    for made, width in LAYERS:
        parts += [nn.Conv1d(channels, made, width, padding="same"), nn.BatchNorm1d(made), nn.ReLU()]
        channels = made
    return nn.Sequential(
        *parts, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(channels, classes)
    )
