"""The network that dice-ml gets computes what the caller's pipeline computes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import macex as mx
from baselines.worlds import DATA, pay
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.units import unit_codes
from macex.baselines.dice_network import network_of
from macex.errors import OptionError

CATEGORIES, NUMBERS = ["job", "town"], ["hours", "rate"]


def pipeline(numbers, alpha=1e-4):
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), CATEGORIES),
        (numbers, NUMBERS),
    )
    network = MLPClassifier((8, 5), solver="lbfgs", alpha=alpha, random_state=0, max_iter=300)
    return make_pipeline(columns, network).fit(DATA, pay(DATA) > 200)


def dice_inputs(space, training):
    """Numbers scaled to 0..1, then categories one-hot in the order of their text."""
    parts = []
    for place, unit in enumerate(space.units):
        if not unit.discrete:
            column = training[:, place]
            parts.append(((column - column.min()) / (column.max() - column.min()))[:, None])
    for place, unit in enumerate(space.units):
        if unit.discrete:
            codes = sorted(set(training[:, place]), key=str)
            parts.append(training[:, place][:, None] == np.array(codes))
    return np.concatenate(parts, axis=1).astype(float)


def forward(inputs, layers):
    for weight, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        inputs = np.maximum(inputs @ weight + bias, 0)
    return expit(inputs @ layers[-2] + layers[-1])[:, 0]


@pytest.mark.parametrize("numbers", [StandardScaler(), "passthrough"], ids=["scaled", "as is"])
@pytest.mark.parametrize("last", [True, False])
def test_it_computes_the_chance_of_either_class(numbers, last):
    model = pipeline(numbers)
    fitted = mx.Explainer(model, DATA).engine.fitted
    rows = fitted.ground.schema.read(DATA)
    space = build_space(fitted.ground, rows, [Constraints()] * len(DATA))
    training = unit_codes(space.units, fitted.ground.codes)
    layers = network_of(model).on(space, training, last=last)
    found = forward(dice_inputs(space, training), layers)
    np.testing.assert_allclose(found, model.predict_proba(DATA)[:, int(last)], atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), MLPClassifier(), pay],
    ids=["logistic", "no pipeline", "function"],
)
def test_any_other_model_is_refused(model):
    with pytest.raises(OptionError, match="needs a fitted scikit-learn pipeline"):
        network_of(model)
