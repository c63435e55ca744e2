"""Greedy replacement by channels of a distractor (Ates et al., CoMTE, 2021), for time series.

Distractors are the nearest training cases of the wanted class that the model gets right, by the raw
values. Channels of a distractor are taken over one by one, each time the one that raises the score
most among all that differ, until the goal is reached; then channels that turn out not to be needed
are given back. The distractor that needs fewest channels wins.

As published, every sample is a model call of its own (`batched=False`), and a distractor is given
up where no single channel raises the score (`patient=False`). Batched, every step is one call;
patient, the best channel is taken all the same, so that the whole distractor is reached at last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from macex.ask.answers import Goals, Verdict
from macex.baselines.series_peer import Meter, Sampled, SeriesPeer
from macex.errors import require_count
from macex.schema import Array
from macex.series.mixtures import differs
from macex.series.values import SeriesChange


class SeriesGreedy(SeriesPeer):
    """Ates et al.: `distractors` nearest cases of the goal, greedy channel swaps, pruning.

    `y` are the labels of the training cases; without them every case that the model decides as
    wanted may be a distractor. The other parameters are those of `SeriesExplainer`.

    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1].max(axis=1) > 9.5).astype(float)
    >>> greedy = SeriesGreedy(model, level, classes=("low", "high"))
    >>> greedy.explain(level[5:6])[0].counterfactuals[0].channels
    ('channel 1',)
    """

    method: ClassVar[str] = "greedy"
    minimal_at: ClassVar[int] = 1

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        distractors: int = 2,
        batched: bool = True,
        patient: bool = True,
        channels: Sequence[str] | None = None,
        layout: str = "channels_first",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.count = require_count("SeriesGreedy(distractors=)", distractors)
        self.batched, self.patient = batched, patient
        super().__init__(model, X, y, channels=channels, layout=layout, classes=classes)

    def meter(self, goals: Goals) -> Meter:
        """One call a step, or one a sample."""
        return Meter(self.fitted, goals, None if self.batched else 1)

    def find(self, meter: Meter, own: Array) -> Sampled | None:
        """The sample of the distractor that needs fewest channels."""
        best: _Swapped | None = None
        for case in self.distractors(own, meter.goals, self.count):
            found = self._swapped(meter, own, int(case), best)
            if best is None or (found and len(found.channels) < len(best.channels)):
                best = found
        return None if best is None else Sampled(best.case, best.sample)

    def changes(self, own: Array, best: Sampled) -> tuple[SeriesChange, ...]:
        """Whole channels."""
        moved = np.flatnonzero(differs(own, best.sample).any(axis=1))
        return tuple(self.change(own, best, int(at), 0, own.shape[1]) for at in moved)

    def _swapped(
        self, meter: Meter, own: Array, case: int, best: _Swapped | None
    ) -> _Swapped | None:
        """Take over the best channel, one a step; None where no channel helps or too many would."""
        other = np.asarray(meter.fitted.train.values[case])
        sample = own.astype(np.result_type(own.dtype, other.dtype))
        channels: list[int] = []
        while True:
            verdict = _scored(meter, sample, np.zeros((1, 0), int), other)
            if verdict.reached[0]:
                return _pruned(meter, own, _Swapped(case, channels, sample))
            if best is not None and len(channels) >= len(best.channels):
                return None
            left = np.flatnonzero(differs(sample, other).any(axis=1))
            if not len(left):
                return None
            worth = meter.worth(_scored(meter, sample, left[:, None], other))
            if worth.max() <= meter.worth(verdict)[0] and not self.patient:
                return None
            channels.append(int(left[worth.argmax()]))
            sample[channels[-1]] = other[channels[-1]]


class _Swapped(NamedTuple):
    """A sample that takes some channels from a distractor and reaches the goal."""

    case: int
    channels: list[int]
    sample: Array


def _scored(meter: Meter, sample: Array, swaps: Array, other: Array) -> Verdict:
    """The verdict on a sample with each line of `swaps` (n, c) taken over from another."""
    parts = []
    for start in range(0, len(swaps), meter.at_once):
        part = swaps[start : start + meter.at_once]
        samples = np.repeat(sample[None], len(part), axis=0)
        samples[np.arange(len(part))[:, None], part] = other[part]
        parts.append(meter.samples(samples))
    return Verdict(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _pruned(meter: Meter, own: Array, found: _Swapped) -> _Swapped:
    """Give back, in the order they were taken, the channels that are not needed."""
    channels, sample = list(found.channels), found.sample.copy()
    for channel in found.channels:
        if len(channels) == 1:
            break
        if _scored(meter, sample, np.array([[channel]]), own).reached[0]:
            sample[channel] = own[channel]
            channels.remove(channel)
    return _Swapped(found.case, channels, sample)
