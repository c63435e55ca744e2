from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from device.worlds import adult, network, numbers
from macex import Explainer, Network
from macex.device import DeviceExplainer, TorchScores


@pytest.mark.parametrize("world", [adult, numbers])
def test_codes_score_as_frames_do(world):
    explainer, codes = world().explainer, world().codes
    expected = explainer.engine.fitted.oracle.own(explainer.schema.frame(codes), len(codes)).scores
    found = world().scores(torch.as_tensor(codes)).numpy()
    if found.ndim == 1:
        found = np.stack([1 - found, found], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


class Wrapped(torch.nn.Module):
    """A module whose first layer cannot be seen."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, inputs):
        return self.inner(inputs)


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_a_module_is_asked_as_a_whole_where_its_first_layer_cannot_be_seen(outputs):
    frame = numbers().queries
    module = network(frame.shape[1], outputs, seed=3).eval()
    labels = ("no", "yes") if outputs < 3 else ("x", "y", "z")
    explainer = Explainer(Network(module, classes=labels, logits=True), frame)
    codes = torch.as_tensor(explainer.schema.read(frame).codes)
    whole = TorchScores(explainer, Wrapped(module), logits=True)(codes)
    np.testing.assert_allclose(whole, TorchScores(explainer, module, logits=True)(codes), atol=1e-6)
    fast = DeviceExplainer(explainer, TorchScores(explainer, module, logits=True), device="cpu")
    assert fast.explain(codes).found.any()


def test_outputs_that_are_no_logits_are_taken_as_they_are():
    frame = numbers().queries
    module = torch.nn.Sequential(*network(frame.shape[1], 1).eval(), torch.nn.Sigmoid())
    explainer = Explainer(Network(module, classes=("no", "yes")), frame)
    codes = torch.as_tensor(explainer.schema.read(frame).codes)
    found = TorchScores(explainer, module)(codes)
    assert found.shape == (len(frame), 1)
    np.testing.assert_allclose(found[:, 0], explainer.score(frame, want="yes"), atol=1e-5)


LAYERS = {"dropout": torch.nn.Dropout(0.5), "normal": torch.nn.BatchNorm1d(24)}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_a_module_that_is_still_learning_is_asked_as_it_predicts_and_left_as_it_was(layer):
    frame = numbers().queries
    first, *rest = network(frame.shape[1], 1)
    module = torch.nn.Sequential(first, layer, *rest).train()
    module[2].eval()
    explainer = Explainer(Network(module, classes=("no", "yes"), logits=True), frame)
    codes = torch.as_tensor(explainer.schema.read(frame).codes)
    before = {name: held.clone() for name, held in module.state_dict().items()}
    found = TorchScores(explainer, module, logits=True)(codes)
    np.testing.assert_allclose(found[:, 0], explainer.score(frame, want="yes"), atol=1e-5)
    assert [part.training for part in module] == [True, True, False, True, True, True]
    for name, held in module.state_dict().items():
        assert torch.equal(held, before[name])
