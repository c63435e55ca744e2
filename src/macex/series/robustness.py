"""Answers about series that hold under noise, and with other models.

A neighbor of a sample is the sample with noise on every value: 2 % of the channel's spread in
training. The noise of the 32 neighbors is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.engine.sturdy import NEIGHBOURS, Sturdiness, other_model, reached_with
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.asking import SeriesAsker
from macex.series.drafts import full_tables, whole
from macex.series.fitted import Fitted
from macex.series.outcome import SeriesOutcome
from macex.series.segments import Draft
from macex.stages.shapes import Pool

STEPS = (0.0, 0.25, 0.5, 0.75)  # of the way from what is needed to whole channels
ASKED = 64  # training cases that another model is asked about


@dataclass(frozen=True)
class SeriesRobustness(Sturdiness):
    """What is asked of answers about series."""

    @property
    def rows(self) -> int:
        """No neighbor is a row of codes: all are asked about in `agreed`."""
        return 0

    def agreed(self, judge: Judge, codes: Array, at: Array) -> Array:
        """Whether samples of whole channels hold well enough, (n,) bool."""
        pool = Pool(at, codes, np.zeros(len(at)))
        draft = whole(_asker(judge).mixture, judge.space, pool)
        return self.holds(judge, full_tables(judge.space, draft), at)

    def holds(self, judge: Judge, full: Array, at: Array) -> Array:
        """Whether samples hold under noise and with every other model, (n,) bool."""
        held = np.ones(len(at), bool)
        if not len(at):
            return held
        if self.least is not None:
            held &= held_share(judge, full, at) >= self.least
        for other in self.others:
            held &= reached_with(other, judge, full, at)
            if self.least:
                noisy, whose = _around(full, at)
                shares = reached_with(other, judge, noisy, whose).reshape(len(at), -1).mean(axis=1)
                held &= shares >= self.least
        return held


def robustness(fitted: Fitted, robust: Any, also: Any) -> Sturdiness:
    """What the options `robust` and `also` of a call ask for."""
    some = fitted.train.take(np.arange(min(ASKED, len(fitted.train))))
    given = some.given(some.values)
    others = tuple(
        other_model(place, model, given, len(some), fitted.outlook.classes)
        for place, model in enumerate(also)
    )
    least = None if robust is None else float(robust)
    return SeriesRobustness(least, others)


def price_of(robust: Sturdiness) -> int:
    """How many rows it takes to check an answer, beyond its own."""
    return 0 if robust.least is None else (len(STEPS) + 4) * NEIGHBOURS


def held_share(judge: Judge, full: Array, at: Array) -> Array:
    """The share of the neighbors of samples (n, 4 d) that reach the goal, (n,)."""
    noisy, whose = _around(full, at)
    answers, done = judge.asker(noisy, whose, always=True)
    judge.count(whose)
    reached = judge.goals.judge(answers, whose).reached & done
    return np.asarray(reached.reshape(len(at), NEIGHBOURS).mean(axis=1))


def _around(full: Array, at: Array) -> tuple[Array, Array]:
    """The neighbors of samples, and whose they are."""
    noise = np.tile(np.arange(1.0, NEIGHBOURS + 1), len(full))
    noisy = np.column_stack([np.repeat(full, NEIGHBOURS, axis=0), noise])
    return noisy, np.repeat(at, NEIGHBOURS)


def settled(outcome: SeriesOutcome, draft: Draft, made: Draft) -> Draft:
    """The shortest drafts on the way from `made` back to the whole channels of `draft` that hold.

    Where nothing is asked of answers, they stay as they were made.
    """
    robust, judge = outcome.cases.sturdy, outcome.judge
    if not isinstance(robust, SeriesRobustness) or not robust or not len(made.at):
        return made
    open_, found = np.ones(len(made.at), bool), [part.copy() for part in draft]
    for step in STEPS:
        if not open_.any() or judge.late:
            break
        trial = between(made, draft, step).take(np.flatnonzero(open_))
        holds = robust.holds(judge, full_tables(outcome.task.space, trial), trial.at)
        place = np.flatnonzero(open_)[holds]
        for table, values in zip(found, trial, strict=True):
            table[place] = values[holds]
        open_[place] = False
    return Draft(*found)


def between(made: Draft, draft: Draft, step: float) -> Draft:
    """Drafts that are `step` of the way from `made` to `draft`; a stretch only grows."""
    start = np.floor(made.start + step * (draft.start - made.start)).astype(int)
    stop = np.ceil(made.stop + step * (draft.stop - made.stop)).astype(int)
    return Draft(made.at, made.code, start, stop, made.blend + step * (draft.blend - made.blend))


def _asker(judge: Judge) -> SeriesAsker:
    if not isinstance(judge.asker, SeriesAsker):
        raise TypeError("samples are asked about by a SeriesAsker")
    return judge.asker
