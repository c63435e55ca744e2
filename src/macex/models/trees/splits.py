"""What every reader gives: the splits of the trees, and how their tests are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from macex.errors import OptionError
from macex.schema import Array

Test: TypeAlias = Callable[[Array, Array], Array]  # (values, thresholds) -> goes to the left

SUPPORTED = (
    "XGBoost, LightGBM, CatBoost and scikit-learn's trees, forests and boosting, alone or after "
    "scalers, imputers and encoders of categories in a Pipeline"
)


@dataclass(frozen=True)
class Splits:
    """Splits of numbers: small values pass the test and go to the left.

    `feature` (s,) is the position in the matrix that the trees see. `categorical` are features
    that are split by category, which only columns without numbers may be.
    """

    feature: Array
    threshold: Array
    left: Test
    categorical: frozenset[int] = frozenset()
    names: tuple[str, ...] | None = None  # what the trees call their features, if they know


@dataclass(frozen=True)
class Reading:
    """Splits, and the steps that rows go through before them; `subset` are the features seen."""

    splits: Splits
    steps: tuple[Any, ...] = ()
    subset: Array | None = field(default=None)


def unreadable(what: str) -> OptionError:
    """The error for a model whose splits cannot be read."""
    return OptionError(f'candidates="thresholds": {what}; it reads {SUPPORTED}')


def below_as_float32(values: Array, thresholds: Array) -> Array:
    """`float32(value) < threshold`, both rounded as XGBoost has them."""
    return _narrow(values) < _narrow(thresholds)


def up_to_as_float32(values: Array, thresholds: Array) -> Array:
    """`float32(value) <= threshold`, the threshold as it is."""
    return _narrow(values) <= thresholds


def up_to(values: Array, thresholds: Array) -> Array:
    """`value <= threshold`."""
    return values <= thresholds


def _narrow(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
