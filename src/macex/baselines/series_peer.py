"""What the baselines for time series share: the model, the training cases, and how answers look."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from macex.ask.answers import Goals, Verdict, compile_goals
from macex.ask.goals import Goal, resolve
from macex.engine.options import check_classes
from macex.errors import OptionError
from macex.explanation import Cost
from macex.explanation.values import Asking
from macex.schema import Array
from macex.series.cases import Cases, channel_names, read_cases
from macex.series.fitted import FittedSeries, fit
from macex.series.mixtures import differs, rows_at_once
from macex.series.options import read_options
from macex.series.values import (
    CaseSource,
    SeriesChange,
    SeriesCounterfactual,
    SeriesExplanation,
    SeriesExplanations,
)
from macex.stages.search.protocol import EXHAUSTIVE


class Sampled(NamedTuple):
    """A sample that reaches the goal, and the training case that it takes values from."""

    case: int
    sample: Array  # (d, time)


class Meter:
    """Scores samples for one case and counts what that costs."""

    def __init__(self, fitted: FittedSeries, goals: Goals, at_once: int | None = None) -> None:
        self.fitted, self.goals = fitted, goals
        self.at_once = rows_at_once(fitted.train) if at_once is None else at_once
        self.calls = self.rows = 0

    def samples(self, samples: Array) -> Verdict:
        """The verdict on samples (n, d, time)."""
        starts = range(0, len(samples), self.at_once)
        parts = [self._asked(samples[start : start + self.at_once]) for start in starts]
        return Verdict(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def worth(self, verdict: Verdict) -> Array:
        """What is climbed: the probability of the goal, or the way to a score."""
        return verdict.score if self.goals.by_class[0] else verdict.progress

    def _asked(self, samples: Array) -> Verdict:
        answers = self.fitted.oracle(self.fitted.train.given(samples), len(samples))
        self.calls, self.rows = self.calls + 1, self.rows + len(samples)
        return self.goals.judge(answers, np.zeros(len(samples), int))


class SeriesPeer:
    """A method for comparison: it knows the model and training cases of one length."""

    method: ClassVar[str]
    minimal_at: ClassVar[int] = 0  # so many changed channels are claimed to be the fewest

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        channels: Sequence[str] | None = None,
        layout: str = "channels_first",
        classes: Sequence[object] | None = None,
    ) -> None:
        check_classes(classes)
        train = read_cases(X, layout)
        if not train.even:
            name = type(self).__name__
            raise OptionError(f"{name} takes cases of one length, as an array")
        if y is not None and len(y) != len(train):
            raise OptionError(f"y has {len(y)} labels for {len(train)} cases")
        self._labels = None if y is None else [str(label) for label in y]
        names = channel_names(channels, train.width)
        self.fitted: FittedSeries = fit(model, train, names, classes, _options())

    def explain(self, X: Any, *, want: Any = None) -> SeriesExplanations:
        """A counterfactual for every case; `want` is a label, a goal, or one per case."""
        cases = read_cases(X, self.fitted.train.layout, self.fitted.train)
        goals = resolve(want, len(cases))
        found = [self._explained(cases, place, goals[place]) for place in range(len(cases))]
        return SeriesExplanations(found, rows=self.fitted.names)

    def meter(self, goals: Goals) -> Meter:
        """What counts and scores the samples of one case."""
        return Meter(self.fitted, goals)

    def find(self, meter: Meter, own: Array) -> Sampled | None:
        """A sample that reaches the goal, for a case that does not."""
        raise NotImplementedError

    def distractors(self, own: Array, goals: Goals, count: int) -> Array:
        """The nearest training cases that the model decides as wanted, and rightly so."""
        fitted = self.fitted
        rows = fitted.meeting(goals, 0)
        if self._labels is not None and goals.by_class[0]:
            decided = [str(fitted.label(int(fitted.answers.decision[row]))) for row in rows]
            right = [self._labels[row] == label for row, label in zip(rows, decided, strict=True)]
            rows = rows[np.array(right, bool)]
        gaps = [np.nansum((fitted.train.values[row].astype(float) - own) ** 2) for row in rows]
        return rows[np.argsort(np.array(gaps), kind="stable")[:count]]

    def _explained(self, cases: Cases, place: int, goal: Goal) -> SeriesExplanation:
        began, fitted = time.perf_counter(), self.fitted
        own = np.asarray(cases.values[place])
        answers = fitted.oracle(cases.given(own[None]), 1)
        goals = compile_goals([goal], answers, fitted.outlook, 1e-6)
        meter = self.meter(goals)
        verdict = meter.samples(own[None])
        there = bool(verdict.reached[0])
        best = None if there else self.find(meter, own)
        source = CaseSource(cases, fitted.names, place, own)
        found: tuple[SeriesCounterfactual, ...] = ()
        if there or best is not None:
            found = (self._value(source, best, goals),)
        return SeriesExplanation(
            label=fitted.label(int(answers.decision[0])),
            score=float(verdict.score[0]),
            goal=goal,
            status="found" if found else "not_found",
            reason=None if found else f"No sample of the method reaches {goal.text}.",
            miss=None,
            counterfactuals=found,
            actions=(),
            minimal=bool(found) and found[0].sparsity <= self.minimal_at,
            minimal_over=None,
            method=self.method,
            cost=Cost(meter.calls, meter.rows, time.perf_counter() - began),
            source=source,
            asked=Asking(1, self.method, goals, 0),
        )

    def _value(
        self, source: CaseSource, best: Sampled | None, goals: Goals
    ) -> SeriesCounterfactual:
        fitted, own = self.fitted, source.sample
        sample = own if best is None else best.sample
        answers = fitted.oracle(source.cases.given(sample[None]), 1)
        changes = () if best is None else self.changes(own, best)
        moved = round(float(fitted.sketch.steps(own, sample).sum()), 9)
        channels = len({change.channel for change in changes})
        return SeriesCounterfactual(
            changes=changes,
            label=fitted.label(int(answers.decision[0])),
            score=float(goals.judge(answers, np.zeros(1, int)).score[0]),
            sparsity=channels,
            proximity=moved,
            distance=moved,
            plausibility=None,
            minimal=channels <= self.minimal_at,
            source=source._replace(sample=sample),
        )

    def changes(self, own: Array, best: Sampled) -> tuple[SeriesChange, ...]:
        """The runs of time points that differ, channel by channel."""
        moved = differs(own, best.sample).astype(int)
        edges = np.diff(moved, axis=1, prepend=0, append=0)
        channel, start = np.nonzero(edges > 0)
        stop = np.nonzero(edges < 0)[1]
        runs = zip(channel.tolist(), start.tolist(), stop.tolist(), strict=True)
        return tuple(self.change(own, best, *run) for run in runs)

    def change(
        self, own: Array, best: Sampled, channel: int, start: int, stop: int
    ) -> SeriesChange:
        """One stretch of a channel."""
        fitted = self.fitted
        return SeriesChange(
            fitted.names[channel],
            start,
            stop,
            1.0,
            best.case,
            fitted.label(int(fitted.answers.decision[best.case])),
            own[channel, start:stop],
            best.sample[channel, start:stop],
        )


def _options() -> Any:
    return read_options(
        candidates="neighbors",
        method=EXHAUSTIVE,
        selection="diverse",
        finetune=None,
        prefer="fewest",
        fallback=False,
        random_state=0,
    )
