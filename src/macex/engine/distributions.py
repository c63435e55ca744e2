"""How values are distributed over the training rows, counted on first use and then kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.schema.distributions import Distributions, distributions
from macex.stages.plausibility.distance import evenly

if TYPE_CHECKING:
    from macex.engine.fitted import Fitted

COUNTED = 50_000  # training rows, evenly spaced, that are counted at most


def distributions_of(fitted: Fitted) -> Distributions | None:
    """The distributions of training; None where a private file does not know them."""
    if "distributions" not in fitted.learnt:
        fitted.learnt["distributions"] = None if fitted.ground.private else _counted(fitted)
    found: Distributions | None = fitted.learnt["distributions"]
    return found


def _counted(fitted: Fitted) -> Distributions:
    rows = evenly(np.arange(len(fitted.ground.codes)), COUNTED)
    codes = fitted.ground.codes[rows]
    decision = np.maximum(fitted.answers.decision[rows], 0)  # a bare score decides nothing
    return distributions(fitted.ground.schema, codes, decision, max(1, fitted.outlook.width))
