"""A fitted scikit-learn MLP as weights on dice-ml's own inputs, for its gradient method.

dice-ml's network sees numbers scaled to 0..1 by the training range, then categories one-hot. The
scaling of the caller's pipeline is folded into the first layer, so that both compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.ask.space import Space
from macex.errors import OptionError
from macex.schema import Array


@dataclass(frozen=True)
class DiceNetwork:
    """The parts of a pipeline: for each column its share of the first layer, and the layers.

    The share of a number is a slope and an offset, that of a category a mapping from its values.
    """

    share: dict[str, Any]
    bias: Array
    later: tuple[Array, ...]  # weights and biases in turn

    def on(self, space: Space, training: Array, *, last: bool) -> list[Array]:
        """Weights and biases in turn, ending in the odds of the last class, or of the first."""
        rows, bias = [], self.bias.copy()
        for place, unit in enumerate(space.units):
            if not unit.discrete:
                slope, offset = self.share[unit.name]
                low, high = training[:, place].min(), training[:, place].max()
                rows.append(slope * (high - low))
                bias += offset + slope * low
        for place, unit in enumerate(space.units):
            if unit.discrete:
                value = space.ground.schema.columns[unit.members[0]].value
                codes = sorted(np.unique(training[:, place]).tolist(), key=str)
                nothing = np.zeros_like(bias)
                rows += [self.share[unit.name].get(value(code), nothing) for code in codes]
        sign = 1.0 if last else -1.0
        weight, offset = self.later[-2:]
        return [np.stack(rows), bias, *self.later[:-2], sign * weight, sign * offset]


def network_of(model: Any) -> DiceNetwork:
    """The network of a pipeline of a column transformer and an MLP."""
    steps = [step for _, step in getattr(model, "steps", [])]
    fits = len(steps) == 2 and hasattr(steps[0], "transformers_") and hasattr(steps[1], "coefs_")
    if not fits or steps[1].activation != "relu" or steps[1].n_outputs_ != 1:
        raise OptionError(
            'Dice(method="gradient") needs a fitted scikit-learn pipeline of a column transformer '
            "and an MLPClassifier of two classes with relu"
        )
    mlp = steps[1]
    later = [part for pair in zip(mlp.coefs_, mlp.intercepts_, strict=True) for part in pair][2:]
    return DiceNetwork(_by_column(steps[0], mlp.coefs_[0]), mlp.intercepts_[0], tuple(later))


def _by_column(columns: Any, first: Array) -> dict[str, Any]:
    """For each column its part of the first layer.

    For a number that is a slope and an offset, for a category a mapping from values to rows.
    """
    found: dict[str, Any] = {}
    start = 0
    for _, step, names in columns.transformers_:
        if hasattr(step, "categories_"):
            for name, values in zip(names, step.categories_, strict=True):
                rows = first[start : start + len(values)]
                found[str(name)] = dict(zip(values.tolist(), rows, strict=True))
                start += len(values)
            continue
        for place, name in enumerate(names):
            mean = step.mean_[place] if hasattr(step, "mean_") else 0.0
            scale = step.scale_[place] if hasattr(step, "scale_") else 1.0
            slope = first[start] / scale
            found[str(name)] = (slope, -slope * mean)
            start += 1
    return found
