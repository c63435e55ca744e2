"""Networks are asked on their own device, in evaluation mode, and left as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from models.people import GRANTED, NUMBERS

torch = pytest.importorskip("torch")


class Wide(torch.nn.Module):
    """Two inputs, three classes, and a habit of dropping out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two = torch.nn.Linear(1, 3), torch.nn.Linear(2, 3)
        self.dropout = torch.nn.Dropout(0.9)

    def forward(self, age, rest):
        return self.dropout(self.one(age) + self.two(rest))


def parts(rows: pd.DataFrame):
    numbers = (rows / 50).to_numpy(np.float32)
    return numbers[:, :1], torch.tensor(numbers[:, 1:])


def test_a_bare_module_takes_columns_of_numbers():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    data = (NUMBERS / 50).round(3)
    explainer = mx.Explainer(module, data)
    assert explainer.classes == (0, 1)
    label = module(torch.tensor(data.head(9).to_numpy(np.float32))).argmax(dim=1).tolist()
    assert [explanation.label for explanation in explainer.explain(data.head(9))] == label


def test_several_inputs_and_a_mode_that_is_given_back():
    module = Wide().train()
    network = mx.Network(module, parts, classes=("low", "mid", "high"), logits=True)
    scores = network(NUMBERS)
    assert module.training
    assert np.array_equal(scores, network(NUMBERS))
    assert np.allclose(scores.sum(axis=1), 1)
    assert all(parameter.grad is None for parameter in module.parameters())
    found = mx.Explainer(network, NUMBERS).explain(NUMBERS.head(3))
    for explanation in found:
        for answer in explanation.counterfactuals:
            assert network.classes_[network(answer.row)[0].argmax()] == answer.label


@pytest.mark.parametrize("shape", [(), (1,)])
def test_one_output_is_the_second_class(shape):
    class Single(torch.nn.Module):
        def forward(self, rows):
            return (rows[:, 1] / 10 - 5).reshape(-1, *shape)

    network = mx.Network(Single(), classes=("no", "yes"), logits=True)
    found = mx.Explainer(network, NUMBERS).explain(NUMBERS.head(4), want="yes")
    assert all(answer.row["income"].iloc[0] > 50 for e in found for answer in e.counterfactuals)
    assert found[0].score == pytest.approx(float(network(NUMBERS.head(1)).ravel()[0]), abs=1e-5)


def test_text_needs_a_function_that_prepares_it():
    module = torch.nn.Linear(1, 2)
    with pytest.raises(mx.ModelError, match="column 'job' holds"):
        mx.Explainer(module, pd.DataFrame({"job": ["a", "b"]}))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_module_on_a_gpu_is_asked_there():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    seen = []
    module[0].register_forward_hook(lambda _, given, __: seen.append(given[0].device.type))
    data = (NUMBERS / 50).round(3)
    on_cpu = mx.Network(module, classes=("no", "yes"), logits=True)(data)
    module.cuda()
    network = mx.Network(module, classes=("no", "yes"), logits=True)
    assert np.allclose(network(data), on_cpu, atol=1e-4)
    seen.clear()
    found = mx.Explainer(network, data).explain(data.head(50))
    assert set(seen) == {"cuda"}
    for explanation in found:
        for answer in explanation.counterfactuals:
            assert network(answer.row)[0].argmax() != network(explanation.query)[0].argmax()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_boosted_trees_on_a_gpu_are_asked_there():
    xgboost = pytest.importorskip("xgboost")
    if not xgboost.build_info().get("USE_CUDA"):
        pytest.skip("needs an XGBoost built for a GPU")
    model = xgboost.XGBClassifier(n_estimators=20, device="cuda").fit(NUMBERS, GRANTED)
    found = mx.Explainer(model, NUMBERS).explain(NUMBERS.head(50))
    for explanation in found:
        for answer in explanation.counterfactuals:
            assert model.predict(answer.row)[0] != model.predict(explanation.query)[0]
