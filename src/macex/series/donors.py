"""Whether samples look real, and whether they become what the cases they are mixed from are."""

from __future__ import annotations

import numpy as np

from macex.ask.answers import Answers
from macex.schema import Array
from macex.series.mixtures import Mixture
from macex.series.outcome import SeriesOutcome
from macex.series.segments import Draft
from macex.series.stretches import Run, laid_out
from macex.stages.shapes import Pool

Known = dict[tuple[int, int, int, tuple[Run, ...], float], bool]


def plausibilities(outcome: SeriesOutcome, pool: Pool) -> Array:
    """The plausibility of examples that take whole channels, (E,); NaN where it is not known."""
    mixture, found = outcome.mixture, np.full(len(pool), np.nan)
    full = outcome.task.space.columns(pool.codes, pool.at)
    for row, query in enumerate(pool.at.tolist()):
        sample = mixture.samples(full[row : row + 1], pool.at[row : row + 1])[0]
        own = np.asarray(mixture.cases.values[query])
        share = outcome.fitted.plausibility(outcome.goals, query, own, sample)
        found[row] = np.nan if share is None else share
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


def smooth(outcome: SeriesOutcome, draft: Draft, known: Known | None = None) -> Array:
    """Whether the seams of drafts are no steeper than steps in training, (n,) bool.

    What is `known` of stretches is not looked at again.
    """
    known = {} if known is None else known
    fine = np.ones(len(draft.at), bool)
    mixture, steep = outcome.mixture, outcome.fitted.texture.steep
    units = outcome.task.space.units
    for line, unit in zip(*np.nonzero(draft.code), strict=True):
        runs = tuple(laid_out(draft.start[line, unit], draft.stop[line, unit]))
        for channel in units[unit].members:
            taken = int(draft.code[line, unit]), runs, float(draft.blend[line, unit])
            key = int(draft.at[line]), channel, *taken
            if key not in known:
                known[key] = bool(_seams(mixture, *key) <= steep[channel])
            fine[line] &= known[key]
    return fine


def _seams(
    mixture: Mixture, query: int, channel: int, code: int, runs: tuple[Run, ...], share: float
) -> float:
    """The largest step at the ends of stretches that exceeds the case's own step there."""
    own = np.asarray(mixture.cases.values[query][channel], dtype=float)
    other, limits = mixture.donor(query, code, channel), mixture.limits[query]
    found = 0.0
    for inside, outside in (ends for a, b in runs for ends in ((a, a - 1), (b - 1, b))):
        if 0 <= outside < len(own):
            new = own[inside] + share * (float(other[inside]) - own[inside])
            new = new if limits is None else limits.at(channel, inside, own[inside], new)
            before, after = abs(own[inside] - own[outside]), abs(new - own[outside])
            if np.isfinite(after) and after > before:
                found = max(found, after)
    return found
