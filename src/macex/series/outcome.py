"""A batch of cases on its way through the six steps: what series add to the outcome of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from macex.engine.batch import BatchOf, Outcome
from macex.schema import Array
from macex.series.cases import Cases
from macex.series.constraints import SeriesConstraints
from macex.series.fitted import FittedSeries
from macex.series.mixtures import Mixture
from macex.series.segments import Draft

CaseBatch: TypeAlias = BatchOf[Cases, SeriesConstraints]


@dataclass(frozen=True, kw_only=True)
class SeriesOutcome(Outcome):
    """What is known of a batch of cases so far."""

    example: ClassVar[str] = "sample"
    fitted: FittedSeries  # type: ignore[assignment]
    cases: CaseBatch
    mixture: Mixture  # offer: the neighbors of every case
    offered: Array  # offer: (Q, K, d) bool: which channels of which neighbor differ
    draft: Draft  # confirm: what each answer takes of which neighbor
    scores: Array  # confirm: (C, K) all that the model says of each answer; NaN if not known

    @property
    def classes_open(self) -> Array:
        """Queries that more than one class is good enough for, (Q,) bool."""
        return np.asarray(self.goals.by_class & (self.goals.wanted.sum(axis=1) > 1))
