"""A fitted explainer of a small table, and its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.space import Space
from macex.engine.fitted import Fitted

DATA = pd.DataFrame(
    {
        "hours": np.arange(120) % 60,
        "rate": np.round(np.linspace(0.5, 6.4, 120), 1),
        "job": ["clerk", "baker", "smith"] * 40,
    }
)


def chance(rows: pd.DataFrame) -> np.ndarray:
    """More hours at a higher rate, in any job."""
    worth = rows["hours"].to_numpy(float) * rows["rate"].to_numpy(float)
    return 1 / (1 + np.exp((90 - worth) / 20))


def fitted_of(**options: Any) -> Fitted:
    return mx.Explainer(chance, DATA, classes=("no", "yes"), **options).engine.fitted


def space_of(fitted: Fitted, rows: pd.DataFrame, **wish: Any) -> Space:
    read = fitted.ground.schema.read(rows)
    return build_space(fitted.ground, read, [Constraints(**wish)] * len(rows))
