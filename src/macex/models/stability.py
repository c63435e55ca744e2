"""Whether a model answers the same twice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from macex.ask.answers import Answers
from macex.errors import UnavailableError
from macex.models.oracle import Oracle

SAMPLE = 100
CLOSE = 1e-4


def warn_if_fickle(oracle: Oracle, frame: Any, answers: Answers) -> None:
    """Warn if the model answers differently when asked about some rows again."""
    count = len(answers.scores)
    try:
        again = oracle.own(frame, count).scores
    except UnavailableError:
        raise
    except Exception:  # noqa: BLE001 - it answered before: the rows it is asked about will show
        return
    difference = float(np.abs(again - answers.scores).max(initial=0.0))
    if difference > CLOSE * oracle.outlook.spread:
        warnings.warn(
            "the model is not deterministic: asked twice about the same training rows, its scores "
            f"differ by up to {difference:.2g}. Answers cannot be repeated, and a counterfactual "
            "that holds now may not hold the next time",
            stacklevel=5,
        )
