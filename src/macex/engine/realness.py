"""How real rows look, learnt from training rows and nothing else."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.units import Ground
from macex.models.oracle import Oracle
from macex.stages.plausibility.measure import Realness, learn_realness

if TYPE_CHECKING:
    from macex.engine.options import Options


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
