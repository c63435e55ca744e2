"""A batch of cases on its way through the six steps: what series add to the outcome of tables.

That is also whether its samples look real, and whether they become what the cases they are mixed
from are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from macex.ask.answers import Answers
from macex.engine.batch import BatchOf, Outcome
from macex.schema import Array
from macex.series.cases import Cases
from macex.series.constraints import SeriesConstraints
from macex.series.drafts import Draft
from macex.series.fitted import FittedSeries
from macex.series.mixtures import Mixture
from macex.series.segments import Trials
from macex.stages.shapes import Pool

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


def plausibilities(outcome: SeriesOutcome, pool: Pool) -> Array:
    """The plausibility of examples that take whole channels, (E,); NaN where it is not known."""
    mixture, found = outcome.mixture, np.full(len(pool), np.nan)
    full = outcome.task.space.columns(pool.codes, pool.at)
    for query in np.unique(pool.at).tolist():
        rows = np.flatnonzero(pool.at == query)
        own, samples = np.asarray(mixture.cases.values[query]), mixture.of_one(full[rows], query)
        found[rows] = outcome.fitted.plausibilities(outcome.goals, query, own, samples)
    return found


def reached_classes(outcome: SeriesOutcome, pool: Pool) -> tuple[Array, Array]:
    """1.0 for examples that are decided as a case they take channels from, else 0.0; their leads.

    Only queries that more than one class is good enough for are asked about; for others the first
    is NaN, and the lead is the progress.
    """
    found, open_ = np.full(len(pool), np.nan), outcome.classes_open[pool.at]
    leads = pool.progress.copy()
    judge = outcome.judge
    demand = np.bincount(pool.at, minlength=len(judge.spent))
    if judge.capped:
        open_ = open_ & (judge.spent + demand <= judge.limit)[pool.at]
    some = pool.take(np.flatnonzero(open_))
    if not len(some):
        return found, leads
    full = outcome.task.space.columns(some.codes, some.at)
    answers, done = judge.asker(full, some.at)
    judge.count(some.at)
    agree = of_donors(outcome, some.codes.astype(int), some.at, answers.decision)
    found[open_] = np.where(done, agree, np.nan)
    leads[open_] = np.where(done, leads_of(outcome, some.at, answers, some.progress), some.progress)
    return found, leads


def leads_of(outcome: SeriesOutcome, at: Array, answers: Answers, progress: Array) -> Array:
    """How far samples are from any other decision, (n,).

    That is their progress; where more than one class is good enough, one of those may be nearer
    than the others.
    """
    outlook = outcome.fitted.outlook
    if not outcome.classes_open[at].any() or answers.scores.shape[1] < 2:
        return progress
    mine = np.arange(len(at)), np.maximum(answers.decision, 0)
    others = answers.scores.astype(float)
    inside, others[mine] = others[mine], -np.inf
    lead = outlook.as_progress(inside, others.max(axis=1))
    return np.where(outcome.classes_open[at], np.minimum(progress, lead), progress)


def of_donors(outcome: SeriesOutcome, code: Array, at: Array, decision: Array) -> Array:
    """Whether decisions are those of a case that channels are taken from, (n,) bool."""
    donors = outcome.mixture.donors[at[:, None], np.maximum(code - 1, 0)]  # (n, U)
    same = outcome.fitted.answers.decision[donors] == decision[:, None]
    return np.asarray((same & (code > 0)).any(axis=1))


def smooth(outcome: SeriesOutcome, draft: Draft) -> Array:
    """Whether the seams of drafts are no steeper than steps in training, (n,) bool."""
    line, unit = np.nonzero(draft.code)
    tables = (table[line, unit] for table in draft[1:])
    fine = np.ones(len(draft.at), bool)
    fine[line[~gentle(outcome, draft.at, Trials(line, unit, *tables))]] = False
    return fine


def gentle(outcome: SeriesOutcome, at: Array, trials: Trials) -> Array:
    """The same of changes to single units of examples that are made from cases `at`, (m,) bool."""
    units, fine = outcome.task.space.units, np.ones(len(trials.unit), bool)
    place, run = np.nonzero(trials.stop > trials.start)
    if not len(place):
        return fine
    members = [units[one].members for one in trials.unit[place]]
    turn = np.repeat(np.arange(len(place)), list(map(len, members)))
    channel = np.concatenate(members).astype(int)
    place, run = place[turn], run[turn]
    whose, code, share = at[trials.example[place]], trials.code[place], trials.blend[place]
    first, last = trials.start[place, run], trials.stop[place, run] - 1
    steep = outcome.fitted.texture.steep[channel]
    for inside, outside in ((first, first - 1), (last, last + 1)):
        step = _step(outcome.mixture, whose, channel, code, share, inside, outside)
        fine[place[step > steep]] = False
    return fine


def _step(
    mixture: Mixture,
    at: Array,
    channel: Array,
    code: Array,
    share: Array,
    inside: Array,
    outside: Array,
) -> Array:
    """The steps (m,) at the ends of stretches; 0 where they do not exceed the case's own step."""
    own, other = mixture.own(at, channel, inside), mixture.others(at, channel, code, inside)
    beside = mixture.own(at, channel, outside)
    with np.errstate(invalid="ignore"):
        new = own + share * (other - own)
        for place in np.flatnonzero([mixture.limits[query] is not None for query in at]):
            limits = mixture.limits[at[place]]
            if limits is not None:
                new[place] = limits.at(channel[place], inside[place], own[place], new[place])
        before, after = np.abs(own - beside), np.abs(new - beside)
    return np.where(np.isfinite(after) & (after > before), after, 0.0)
