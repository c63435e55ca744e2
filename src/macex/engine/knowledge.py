"""What is learnt from the training rows when it is first needed, and then kept.

That is how real rows look, and how values are distributed.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.units import Ground
from macex.models.oracle import Oracle
from macex.schema.distributions import Distributions, distributions
from macex.stages.plausibility.distance import evenly
from macex.stages.plausibility.measure import Realness, learn_realness

if TYPE_CHECKING:
    from macex.engine.fitted import Fitted
    from macex.engine.options import Options

COUNTED = 50_000  # training rows, evenly spaced, whose values are counted at most


def realness_of(ground: Ground, oracle: Oracle | None = None) -> Realness:
    """Learnt from the columns that the model reads, or from all."""
    columns, unread = ground.schema.columns, oracle.unread(ground.schema) if oracle else []
    by_name = sorted(range(len(columns)), key=lambda place: columns[place].name)
    order = [place for place in by_name if columns[place].name not in unread]
    discrete = np.array([column.discrete for column in columns], dtype=bool)
    return learn_realness(ground.codes, discrete, np.array(order))


class Learning:
    """Learns from all columns while a model in another process is waited for."""

    def __init__(self, model: Any, ground: Ground, options: Options) -> None:
        self._ground = ground
        self._begun: Future[Realness] | None = None
        whole = options.plausibility == "learned" and options.sample is None
        if whole and hasattr(model, "prepared_for"):
            beside = ThreadPoolExecutor(1)
            self._begun = beside.submit(realness_of, ground)
            beside.shutdown(wait=False)

    def learnt(self, oracle: Oracle) -> dict[str, Any]:
        """What is known now; nothing where the model leaves columns out."""
        if self._begun is None or oracle.unread(self._ground.schema):
            return {}
        return {"realness": self._begun.result()}


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
