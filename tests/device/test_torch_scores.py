""""""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from device.worlds import adult, network, numbers
from macex import Explainer, ModelError, Network, Schema
from macex.device import DeviceExplainer, TorchScores
from macex.device.torch_scores import Embedding, learn_embedding, tables_of

pytest.importorskip("torch")


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


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 60),
            "edu": rng.choice(["BSc", "MSc", "PhD"], 60),
            "income": np.where(rng.random(60) < 0.2, np.nan, rng.normal(3e4, 1e4, 60)),
            "city": rng.choice(["Rome", "Oslo"], 60),
        }
    )


def prepare(rows: pd.DataFrame) -> np.ndarray:
    """One-hot, scaling, a flag for missing numbers."""
    return np.column_stack(
        [
            (rows["age"] - 40) / 12,
            *(rows["edu"] == level for level in ("BSc", "MSc", "PhD")),
            rows["income"].fillna(2e4) / 1e4 - 3,
            rows["income"].isna(),
            rows["city"] == "Oslo",
        ]
    ).astype(float)


def learnt() -> tuple[Schema, np.ndarray, Embedding]:
    schema = Schema.infer(frame())
    codes = schema.read(frame()).codes
    return schema, codes, learn_embedding(schema, codes, prepare)


def test_an_embedding_gives_what_was_prepared():
    _, codes, embedding = learnt()
    np.testing.assert_allclose(embedding(codes), prepare(frame()), atol=1e-9)


def test_a_linear_layer_can_be_taken_in():
    _, codes, embedding = learnt()
    weight, bias = np.random.default_rng(1).normal(size=(5, 7)), np.arange(5.0)
    np.testing.assert_allclose(
        embedding.through(weight, bias)(codes), prepare(frame()) @ weight.T + bias, atol=1e-9
    )


@pytest.mark.parametrize("most", [1, 5, 1000])
def test_joined_tables_add_what_the_columns_add(most):
    _, codes, embedding = learnt()
    tables = tables_of(embedding, most)
    assert len(tables.lines) == (2 if most < 12 else 1)
    line = (codes[:, embedding.categories] @ tables.stride + tables.first).astype(int)
    found = sum(lines[line[:, group]] for group, lines in enumerate(tables.lines))
    expected = embedding.constant + sum(
        lines[codes[:, column].astype(int) + 1]
        for column, lines in zip(embedding.categories, embedding.lines, strict=True)
    )
    np.testing.assert_allclose(found, expected)


def test_what_is_no_sum_over_columns_is_refused():
    schema, codes, _ = learnt()
    with pytest.raises(ModelError, match="no sum over columns"):
        learn_embedding(schema, codes, lambda rows: rows[["age"]] ** 2)
    with pytest.raises(ModelError, match="no sum over columns"):
        learn_embedding(schema, codes, lambda rows: rows["age"] * (rows["edu"] == "PhD"))
