"""Small worlds for the tests of the device search: data, a model of frames, the same of codes."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from macex import Explainer, Network
from macex.datasets import load
from macex.device import DeviceExplainer, TorchScores

DEVICES = (None, "cpu")  # NumPy, and torch
# A device takes the nearest of the rows with as few changes, knows no structure and measures
# plausibility by distance: answers are compared with those of an explainer that does so, too.
LIKE_A_DEVICE: dict[str, Any] = {
    "prefer": "fewest",
    "structure": "ignore",
    "plausibility": "distance",
}


class World(NamedTuple):
    explainer: Explainer
    scores: Any  # of torch codes
    queries: pd.DataFrame
    prepare: Any = None

    @property
    def codes(self) -> np.ndarray:
        return self.explainer.schema.read(self.queries).codes

    def fast(self, device: str | None = "cpu", **options: Any) -> DeviceExplainer:
        return DeviceExplainer(self.explainer, self.scored(device), device=device, **options)

    def scored(self, device: str | None) -> Any:
        if device is not None:
            return self.scores
        return lambda codes: self.scores(torch.as_tensor(codes)).numpy()


def network(width: int, outputs: int, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(width, 24),
        torch.nn.ReLU(),
        torch.nn.Linear(24, 24),
        torch.nn.ReLU(),
        torch.nn.Linear(24, outputs),
    )


def fit(module: torch.nn.Module, inputs: np.ndarray, labels: np.ndarray, epochs: int) -> None:
    x, y = torch.as_tensor(inputs, dtype=torch.float32), torch.as_tensor(labels)
    steps = torch.optim.Adam(module.parameters(), lr=5e-3)
    for _ in range(epochs):
        for some in torch.randperm(len(x)).split(128):
            steps.zero_grad()
            torch.nn.functional.cross_entropy(module(x[some]), y[some]).backward()
            steps.step()
    module.eval()


@cache
def adult() -> World:
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    data = load("adult")
    frame, labels = data.frame.iloc[:4000], np.asarray(data.label)[:4000].astype(np.int64)
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), list(data.categorical)),
        (StandardScaler(), list(data.continuous)),
    )
    inputs = columns.fit_transform(frame)
    module = network(inputs.shape[1], 2)
    fit(module, inputs, labels, epochs=4)
    model = Network(module, lambda rows: columns.transform(rows).astype(np.float32), logits=True)
    explainer = Explainer(model, frame, classes=("low", "high"), **LIKE_A_DEVICE)
    scores = TorchScores(explainer, module, columns.transform, logits=True)
    return World(explainer, scores, data.frame.iloc[4000:4080], columns.transform)


@cache
def numbers() -> World:
    """Three classes by numbers, most of which have more values than are offered whole."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1500, 4)).round(3), columns=list("abcd"))
    frame["e"] = rng.integers(0, 6, 1500)
    frame["single"] = rng.normal(size=1500).astype(np.float32)
    x = frame.to_numpy(float)
    lead = np.stack([x[:, 0] * x[:, 1], x[:, 2] + 0.3 * x[:, 4], x[:, 3] - x[:, 0]], axis=1)
    module = network(6, 3)
    fit(module, x, lead.argmax(axis=1), epochs=12)
    model = Network(module, classes=("x", "y", "z"), logits=True)
    explainer = Explainer(model, frame.iloc[:1200], **LIKE_A_DEVICE)
    return World(explainer, TorchScores(explainer, module, logits=True), frame.iloc[1200:1260])


def own_answers(world: World, **call: Any) -> tuple[np.ndarray, np.ndarray]:
    """What the explainer itself answers: codes, and the number of changes (-1 for no answer)."""
    codes, changes = world.codes.copy(), np.full(len(world.queries), -1)
    for at, item in enumerate(world.explainer.explain(world.queries, **call)):
        if item.counterfactuals:
            best = item.counterfactuals[0]
            codes[at] = world.explainer.schema.read(best.row).codes[0]
            changes[at] = best.sparsity
    return codes, changes
