"""Native Guide (Delaney, Greene, Keane, 2021): a stretch of the nearest unlike case.

The stretch is laid over all channels of the query at once. It grows until the goal is reached, and
of all stretches as long the one with the best score is kept. The paper reads the place of the
stretch from class activation maps; here places are tried, one model call a length, so that any
model will do.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from macex.baselines.series_peer import Meter, Sampled, SeriesPeer
from macex.schema import Array

LENGTHS = 20  # of which each is tried
PLACES = 32  # of a stretch of any length


class NativeGuide(SeriesPeer):
    """The shortest stretch of the nearest unlike case that reaches the goal.

    The parameters are those of `SeriesGreedy`, but for `distractors`, `batched` and `patient`.

    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1, 12:20].max(axis=1) > 9.5).astype(float)
    >>> guide = NativeGuide(model, level, classes=("low", "high"))
    >>> changes = guide.explain(level[5:6])[0].counterfactuals[0].changes
    >>> [(change.channel, change.start, change.stop) for change in changes]
    [('channel 0', 12, 13), ('channel 1', 12, 13)]
    """

    method: ClassVar[str] = "native guide"

    def find(self, meter: Meter, own: Array) -> Sampled | None:
        """The shortest stretch that suffices; the whole case at last."""
        near = self.distractors(own, meter.goals, 1)
        if not len(near):
            return None
        case, time = int(near[0]), own.shape[1]
        other = np.asarray(self.fitted.train.values[case])
        for length in np.unique(np.round(np.linspace(1, time, LENGTHS)).astype(int)):
            samples = _laid_over(own, other, int(length))
            verdict = meter.samples(samples)
            if verdict.reached.any():
                best = np.where(verdict.reached, meter.worth(verdict), -np.inf).argmax()
                return Sampled(case, samples[best])
        return None


def _laid_over(own: Array, other: Array, length: int) -> Array:
    """Samples that take a stretch of `length` from another case, at several places."""
    last = own.shape[1] - length
    starts = np.unique(np.round(np.linspace(0, last, min(PLACES, last + 1))).astype(int))
    kind = np.result_type(own.dtype, other.dtype)
    samples = np.repeat(own[None].astype(kind), len(starts), axis=0)
    for sample, start in zip(samples, starts, strict=True):
        sample[:, start : start + length] = other[:, start : start + length]
    return samples
