"""Answers about series that hold under noise, and with other models.

A neighbor of a sample is the sample with noise on every value: 2 % of the channel's spread in
training. The noise of the 32 neighbors is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from macex.engine.robustness import NEIGHBOURS, Requirements, other_model, reached_with
from macex.models.judge import Judge
from macex.schema import Array
from macex.series.drafts import Draft, full_tables, joined, laid_out, whole
from macex.series.fitted import FittedSeries
from macex.series.mixtures import SeriesAsker
from macex.series.outcome import SeriesOutcome, smooth
from macex.stages.shapes import Pool

WIDER = 0.1  # of its length a stretch grows at either end where it is to be stable
WAYS = ((0, 0), (0, 0.5), (0, 1), (0.1, 1), (0.25, 1), (0.5, 1), (1, 1))
"""How far what is needed goes back to whole channels, by turns: in length, and in blend."""
FIRM = 2  # of them are passed over where answers are to be stable
FEW = 20  # neighbors that answers are tried with where nothing is asked of them
FEWER = 12  # of them, with which examples are compared
LOOKED = 8  # examples, beside those that are wanted, of which it is seen whether they hold
ASKED = 64  # training cases that another model is asked about


@dataclass(frozen=True)
class SeriesRobustness(Requirements):
    """What is asked of answers about series."""

    @cached_property
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


def robustness(fitted: FittedSeries, robust: Any, also: Any) -> Requirements:
    """What the options `robust` and `also` of a call ask for."""
    some = fitted.train.take(np.arange(min(ASKED, len(fitted.train))))
    given = some.given(some.values)
    others = tuple(
        other_model(place, model, given, len(some), fitted.outlook.classes)
        for place, model in enumerate(also)
    )
    least = None if robust is None else float(robust)
    return SeriesRobustness(least, others)


def price_of(robust: Requirements) -> int:
    """How many rows it takes to check an answer, beyond its own."""
    if robust.least is None:
        return 0
    return len(WAYS) * (FEW + 1) + (len(WAYS) + 4) * (NEIGHBOURS + 1)


def held_share(judge: Judge, full: Array, at: Array, count: int = NEIGHBOURS) -> Array:
    """The share of the first neighbors of samples (n, tables) that reach the goal, (n,).

    Where more than one class is good enough, they must be decided as the sample itself is. A model
    may fail on values that it has never seen: then the neighbor does not hold.
    """
    several = judge.goals.by_class & (judge.goals.wanted.sum(axis=1) > 1)
    turn, row = _turns(several[at], count)
    lenient = replace(judge.asker, keep=True, failed={})
    answers, done = lenient(np.column_stack([full[row], turn]), at[row], always=True)
    judge.count(at[row])
    held, decision = judge.goals.judge(answers, at[row]).reached & done, answers.decision
    own = np.zeros(len(at), int)
    own[row[turn == 0]] = decision[turn == 0]
    held &= ~several[at[row]] | (decision == own[row])
    return np.asarray(held[turn > 0].reshape(len(at), count).mean(axis=1))


def _turns(itself: Array, count: int) -> tuple[Array, Array]:
    """Which neighbor of which sample is asked about: the first few, and some samples `itself`."""
    turn = np.tile(np.arange(count + 1), len(itself))
    row = np.repeat(np.arange(len(itself)), count + 1)
    asked = (turn > 0) | itself[row]
    return turn[asked], row[asked]


def _around(full: Array, at: Array) -> tuple[Array, Array]:
    """The neighbors of samples, and whose they are."""
    noise = np.tile(np.arange(1.0, NEIGHBOURS + 1), len(full))
    return np.column_stack([np.repeat(full, NEIGHBOURS, axis=0), noise]), np.repeat(at, NEIGHBOURS)


def settled(outcome: SeriesOutcome, draft: Draft, made: Draft, stable: float) -> Draft:
    """The shortest drafts on the way from `made` back to the whole channels of `draft` that hold.

    The share `stable` of a few neighbors reaches the goal, and they hold as the call asks. Where no
    draft has such a share, it is the one with the largest.
    """
    robust, judge, space = outcome.cases.requirements, outcome.judge, outcome.task.space
    asked = bool(robust.least or robust.others)
    if not len(made.at) or not (asked or stable):
        return made
    open_, found = np.ones(len(made.at), bool), [part.copy() for part in draft]
    best = np.full(len(made.at), -1.0)
    for longer, fuller in WAYS[FIRM if stable else 0 :]:
        open_ &= ~_broke(judge, made.at)
        if not open_.any() or judge.late:
            break
        trial = between(made, draft, longer, fuller, WIDER if stable else 0.0).take(
            np.flatnonzero(open_)
        )
        full = full_tables(space, trial)
        holds, share = smooth(outcome, trial), np.ones(len(trial.at))
        if stable > (robust.least or 0):
            share = held_share(judge, full, trial.at, FEW)
        if asked and isinstance(robust, SeriesRobustness):
            holds &= robust.holds(judge, full, trial.at)
        holds &= share > best[open_]
        place = np.flatnonzero(open_)[holds]
        for table, values in zip(found, trial, strict=True):
            table[place] = values[holds]
        best[place] = share[holds]
        open_[place] = best[place] < stable
    return Draft(*found)


def _broke(judge: Judge, at: Array) -> Array:
    """Which drafts belong to queries that cannot pay for a few neighbors more, (n,) bool."""
    demand = (FEW + 1) * np.bincount(at, minlength=len(judge.spent))
    return np.asarray(judge.capped & (judge.spent + demand > judge.limit))[at]


def steady(outcome: SeriesOutcome, order: Array) -> Array:
    """The share of neighbors with noise of examples that reach the goal, (E,); NaN for the rest.

    The first few of each query are looked at that have as few channels as its best one.
    """
    pool, judge, found = outcome.pool, outcome.judge, np.full(len(outcome.pool), np.nan)
    tune = outcome.fitted.options.finetune
    if tune is not None and not tune.stable:
        return found
    size = outcome.task.space.changed(pool.codes, pool.at).sum(axis=1)
    at = pool.at[order]
    first = np.concatenate([[True], at[1:] != at[:-1]])
    best = size[order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]]
    level = size[order] == best
    turn = np.cumsum(level) - 1
    turn -= np.maximum.accumulate(np.where(first, turn, 0))
    look = order[level & (turn < LOOKED + outcome.task.count)]
    alone = np.bincount(pool.at[look], minlength=len(judge.spent)) <= outcome.task.count
    look = look[~alone[pool.at[look]] & ~_broke(judge, pool.at[look])[:]]
    if len(look):
        draft = whole(outcome.mixture, outcome.task.space, pool.take(look))
        share = held_share(judge, full_tables(outcome.task.space, draft), draft.at, FEWER)
        found[look] = np.minimum(share, 1.0 if tune is None else tune.stable)
    return found


def between(made: Draft, draft: Draft, longer: float, fuller: float, wider: float = 0.0) -> Draft:
    """Drafts on the way from `made` to `draft`, so much `longer` and `fuller`.

    Every stretch grows at both ends by a share `wider` of its own length, or by a share `longer` of
    the way to the ends of what `draft` takes; those that meet become one.
    """
    used = made.stop > made.start
    first, last = draft.start[:, :, :1], draft.stop[:, :, :1]
    more = (wider * (made.stop - made.start)).astype(int)
    toward = np.floor(made.start + longer * (first - made.start)).astype(int)
    onward = np.ceil(made.stop + longer * (last - made.stop)).astype(int)
    start = np.maximum(np.minimum(toward, made.start - more), first) * used
    stop = np.minimum(np.maximum(onward, made.stop + more), last) * used
    if longer or wider:
        for row, unit in zip(*np.nonzero(used[:, :, 1:].any(axis=2)), strict=True):
            runs = joined(laid_out(start[row, unit], stop[row, unit]))
            start[row, unit], stop[row, unit] = 0, 0
            start[row, unit, : len(runs)], stop[row, unit, : len(runs)] = np.transpose(runs)
    blend = made.blend + fuller * (draft.blend - made.blend)
    return Draft(made.at, made.code, start, stop, np.round(blend, 9))


def _asker(judge: Judge) -> SeriesAsker:
    if not isinstance(judge.asker, SeriesAsker):
        raise TypeError("samples are asked about by a SeriesAsker")
    return judge.asker
