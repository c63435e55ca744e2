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

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import Goals, Verdict, compile_goals
from macex.ask.goals import Goal, resolve
from macex.engine.options import check_classes
from macex.errors import OptionError, require_counts
from macex.explanation import Cost
from macex.explanation.values import Asking
from macex.schema import Array
from macex.series.asking import rows_at_once
from macex.series.cases import Cases, channel_names, read_cases
from macex.series.fitted import Fitted, fit
from macex.series.mixing import differs
from macex.series.options import read_options
from macex.series.values import (
    CaseSource,
    SeriesChange,
    SeriesCounterfactual,
    SeriesExplanation,
    SeriesExplanations,
)


class SeriesGreedy:
    """Ates et al.: `distractors` nearest cases of the goal, greedy channel swaps, pruning.

    `y` are the labels of the training cases; without them every case that the model decides as
    wanted may be a distractor. The other parameters are those of `SeriesExplainer`.

    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1].max(axis=1) > 9.5).astype(float)
    >>> greedy = SeriesGreedy(model, level, classes=("low", "high"))
    >>> greedy.explain(level[5:6])[0].counterfactuals[0].channels
    ('channel 1',)
    """

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
        self.distractors, self.batched, self.patient = distractors, batched, patient
        require_counts(self, "distractors")
        check_classes(classes)
        train = read_cases(X, layout)
        if not train.even:
            raise OptionError("SeriesGreedy takes cases of one length, as an array")
        if y is not None and len(y) != len(train):
            raise OptionError(f"y has {len(y)} labels for {len(train)} cases")
        self._labels = None if y is None else [str(label) for label in y]
        names = channel_names(channels, train.width)
        self._fitted: Fitted = fit(model, train, names, classes, _options())

    def explain(self, X: Any, *, want: Any = None) -> SeriesExplanations:
        """A counterfactual for every case; `want` is a label, a goal, or one per case."""
        cases = read_cases(X, self._fitted.train.layout, self._fitted.train)
        goals = resolve(want, len(cases))
        found = [self._explained(cases, place, goals[place]) for place in range(len(cases))]
        return SeriesExplanations(found, rows=self._fitted.names)

    def _explained(self, cases: Cases, place: int, goal: Goal) -> SeriesExplanation:
        began, fitted = time.perf_counter(), self._fitted
        own = np.asarray(cases.values[place])
        answers = fitted.oracle(cases.given(own[None]), 1)
        goals = compile_goals([goal], answers, fitted.outlook, 1e-6)
        meter = _Meter(fitted, goals, self.batched, self.patient)
        verdict = meter(own, np.zeros((1, 0), int), own)
        best: _Swapped | None = None
        if not verdict.reached[0]:
            for case in self._distractors(own, goals):
                best = _better(best, _swapped(meter, own, int(case), best))
        there = bool(verdict.reached[0])
        source = CaseSource(cases, fitted.names, place, own)
        found = () if best is None and not there else (self._value(source, best, verdict),)
        return SeriesExplanation(
            label=fitted.label(int(answers.decision[0])),
            score=float(verdict.score[0]),
            goal=goal,
            status="found" if found else "not_found",
            reason=None if found else f"No channels of a distractor reach {goal.text}.",
            miss=None,
            counterfactuals=found,
            actions=(),
            minimal=there or (best is not None and len(best.channels) == 1),
            minimal_over=None,
            method="greedy",
            cost=Cost(meter.calls, meter.rows, time.perf_counter() - began),
            source=source,
            asked=Asking(1, "greedy", goals, 0),
        )

    def _distractors(self, own: Array, goals: Goals) -> Array:
        """The nearest training cases that the model decides as wanted, and rightly so."""
        fitted = self._fitted
        rows = fitted.meeting(goals, 0)
        if self._labels is not None and goals.by_class[0]:
            decided = [str(fitted.label(int(fitted.answers.decision[row]))) for row in rows]
            right = [self._labels[row] == label for row, label in zip(rows, decided, strict=True)]
            rows = rows[np.array(right, bool)]
        gaps = [np.nansum((fitted.train.values[row].astype(float) - own) ** 2) for row in rows]
        return rows[np.argsort(np.array(gaps), kind="stable")[: self.distractors]]

    def _value(
        self, source: CaseSource, best: _Swapped | None, verdict: Verdict
    ) -> SeriesCounterfactual:
        fitted, own = self._fitted, source.sample
        sample = own if best is None else best.sample
        answers = fitted.oracle(source.cases.given(sample[None]), 1)
        decision = int(answers.decision[0])
        changes = () if best is None else _changes(fitted, own, best)
        score = float(verdict.score[0]) if best is None else best.score
        moved = round(float(fitted.sketch.steps(own, sample).sum()), 9)
        return SeriesCounterfactual(
            changes=changes,
            label=fitted.label(decision),
            score=score,
            sparsity=len(changes),
            proximity=moved,
            distance=moved,
            plausibility=None,
            minimal=len(changes) <= 1,
            source=source._replace(sample=sample),
        )


class _Swapped(NamedTuple):
    """A sample that takes some channels from a distractor and reaches the goal."""

    case: int
    channels: list[int]
    sample: Array
    score: float


class _Meter:
    """Scores swaps of channels and counts what that costs."""

    def __init__(self, fitted: Fitted, goals: Goals, batched: bool, patient: bool) -> None:
        self.fitted, self.goals, self.patient = fitted, goals, patient
        self.at_once = rows_at_once(fitted.train) if batched else 1
        self.calls = self.rows = 0

    def __call__(self, sample: Array, swaps: Array, other: Array) -> Verdict:
        """The verdict on a sample with each line of `swaps` (n, c) taken over from another."""
        parts = [self._part(sample, part, other) for part in self._cut(swaps)]
        return Verdict(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def _cut(self, swaps: Array) -> Iterator[Array]:
        for start in range(0, len(swaps), self.at_once):
            yield swaps[start : start + self.at_once]

    def _part(self, sample: Array, swaps: Array, other: Array) -> Verdict:
        samples = np.repeat(sample[None], len(swaps), axis=0)
        samples[np.arange(len(swaps))[:, None], swaps] = other[swaps]
        answers = self.fitted.oracle(self.fitted.train.given(samples), len(samples))
        self.calls, self.rows = self.calls + 1, self.rows + len(samples)
        return self.goals.judge(answers, np.zeros(len(samples), int))

    def worth(self, verdict: Verdict) -> Array:
        """What is climbed: the probability of the goal, or the way to a score."""
        return verdict.score if self.goals.by_class[0] else verdict.progress


def _swapped(meter: _Meter, own: Array, case: int, best: _Swapped | None) -> _Swapped | None:
    """Take over the best channel, one a step; None where no channel helps or too many would."""
    train = meter.fitted.train
    other = np.asarray(train.values[case])
    sample = own.astype(np.result_type(own.dtype, other.dtype))
    channels: list[int] = []
    while True:
        verdict = meter(sample, np.zeros((1, 0), int), other)
        if verdict.reached[0]:
            return _pruned(meter, own, _Swapped(case, channels, sample, float(verdict.score[0])))
        if best is not None and len(channels) >= len(best.channels):
            return None
        left = np.flatnonzero(differs(sample, other).any(axis=1))
        if not len(left):
            return None
        worth = meter.worth(meter(sample, left[:, None], other))
        if worth.max() <= meter.worth(verdict)[0] and not meter.patient:
            return None
        channels.append(int(left[worth.argmax()]))
        sample[channels[-1]] = other[channels[-1]]


def _pruned(meter: _Meter, own: Array, found: _Swapped) -> _Swapped:
    """Give back, in the order they were taken, the channels that are not needed."""
    channels, sample, score = list(found.channels), found.sample.copy(), found.score
    for channel in found.channels:
        if len(channels) == 1:
            break
        verdict = meter(sample, np.array([[channel]]), own)
        if verdict.reached[0]:
            sample[channel] = own[channel]
            channels.remove(channel)
            score = float(verdict.score[0])
    return _Swapped(found.case, channels, sample, score)


def _better(one: _Swapped | None, other: _Swapped | None) -> _Swapped | None:
    if one is None or other is None:
        return other if one is None else one
    return other if len(other.channels) < len(one.channels) else one


def _changes(fitted: Fitted, own: Array, best: _Swapped) -> tuple[SeriesChange, ...]:
    label = fitted.label(int(fitted.answers.decision[best.case]))
    return tuple(
        SeriesChange(
            fitted.names[channel],
            0,
            own.shape[1],
            1.0,
            best.case,
            label,
            own[channel],
            best.sample[channel],
        )
        for channel in sorted(best.channels)
    )


def _options() -> Any:
    return read_options(
        candidates="neighbors",
        method="exhaustive",
        selection="diverse",
        finetune=None,
        prefer="fewest",
        fallback=False,
        random_state=0,
    )
