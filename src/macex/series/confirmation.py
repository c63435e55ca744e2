"""Stage 4 and the final check for series: what answers take, and what the model says to it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from macex.engine import ranking
from macex.schema import Array
from macex.series.drafts import Draft, full_tables, whole
from macex.series.exchanges import KEPT, Exchange, least_taken, rivals
from macex.series.outcome import SeriesOutcome, gentle, leads_of, of_donors, smooth
from macex.series.robustness import held_share, settled
from macex.series.search import by_unit
from macex.series.segments import Ask, Segments

SLACK = 1e-9  # of progress, which is a logarithm


def confirm(outcome: SeriesOutcome) -> SeriesOutcome:
    """Score what is selected once more, then keep only the stretches that are needed (stage 4)."""
    outcome = ranking.confirm(outcome)
    draft = whole(outcome.mixture, outcome.task.space, outcome.checked.pool)
    tune, judge = outcome.fitted.options.finetune, outcome.judge
    if tune is None or outcome.task.prefer == "surest" or judge.late or not len(draft.at):
        return _measured(replace(outcome, draft=draft))
    ask = _asking(outcome, draft)
    made = (
        _edged(outcome, tune, ask, draft)
        if not tune.stable
        else tune(ask, draft, lambda: judge.late)
    )
    made = settled(outcome, draft, made, tune.stable)
    return _measured(_held(outcome, draft, made))


def _edged(outcome: SeriesOutcome, tune: Segments, ask: Ask, draft: Draft) -> Draft:
    """What takes the least of examples, and of others that stand beside each, up to the edge."""
    task, every = outcome.task, draft.joined(rivals(outcome, draft))
    length = np.array([case.shape[1] for case in outcome.mixture.cases.values])
    exchange = Exchange(
        ask,
        partial(gentle, outcome),
        length,
        by_unit(task.space, outcome.offered),
        lambda: outcome.judge.late,
        max(KEPT, task.count),
    )
    made = tune(ask, every, exchange.late)
    if task.prefer == "fewest":
        made = exchange(made, every)
    return least_taken(tune.blended(ask, made, exchange.late), len(draft.at), length)


def _held(outcome: SeriesOutcome, draft: Draft, made: Draft) -> SeriesOutcome:
    """The model's last word on what fine-tuning made; what fails stays as it was."""
    judge, checked = outcome.judge, outcome.checked
    score, decision = checked.score.copy(), checked.decision.copy()
    answers, done = judge.asker(full_tables(outcome.task.space, made), made.at, always=True)
    judge.count(made.at)
    verdict = outcome.goals.judge(answers, made.at)
    holds = verdict.reached & done
    told = np.where(holds[:, None], outcome.fitted.outlook.rounded(answers.scores), np.nan)
    score[holds], decision[holds] = verdict.score[holds], answers.decision[holds]
    kept = [
        np.where(holds.reshape(-1, *[1] * (new.ndim - 1)), new, old)
        for new, old in zip(made, draft, strict=True)
    ]
    checked = checked._replace(score=score, decision=decision)
    return replace(outcome, draft=Draft(*kept), checked=checked, scores=told)


def _measured(outcome: SeriesOutcome) -> SeriesOutcome:
    """The answers with all their scores and, where it was asked for, robustness."""
    outcome = replace(outcome, scores=_scores(outcome))
    robust, draft = outcome.cases.requirements, outcome.draft
    if robust.least is None or outcome.judge.late or not len(draft.at):
        return outcome
    share = held_share(outcome.judge, full_tables(outcome.task.space, draft), draft.at)
    return replace(outcome, checked=outcome.checked._replace(robustness=share))


def _scores(outcome: SeriesOutcome) -> Array:
    """All that the model says of each answer (C, K), as far as there is time to ask."""
    draft, outlook, judge = outcome.draft, outcome.fitted.outlook, outcome.judge
    found = np.full((len(draft.at), max(1, outlook.width)), np.nan)
    found[: len(outcome.scores)] = outcome.scores
    open_ = np.flatnonzero(np.isnan(found).all(axis=1))
    if outlook.classes is None or judge.late or not len(open_):
        return found
    full = full_tables(outcome.task.space, draft.take(open_))
    answers, done = judge.asker(full, draft.at[open_], always=True)
    judge.count(draft.at[open_])
    found[open_] = np.where(done[:, None], outlook.rounded(answers.scores), np.nan)
    return found


def _asking(outcome: SeriesOutcome, draft: Draft) -> Ask:
    """Whether drafts reach their goals; one that its query cannot pay for does not.

    A seam must be no steeper than steps in training, and what is stable stays so. Where more than
    one class would do, and the whole channels of all answers lead to the class of a case they are
    from, so must their parts.
    """
    judge, space = outcome.judge, outcome.task.space
    least = _least(outcome, draft)
    true = of_donors(outcome, draft.code, draft.at, outcome.checked.decision)
    bound = outcome.classes_open & ~np.isin(np.arange(len(outcome.there)), draft.at[~true])

    def ask(trial: Draft) -> tuple[Array, Array]:
        reached, progress = np.zeros(len(trial.at), bool), np.full(len(trial.at), -np.inf)
        demand = np.bincount(trial.at, minlength=len(judge.spent))
        broke = judge.capped & (judge.spent + demand > judge.limit)
        todo = np.flatnonzero(~broke[trial.at] & smooth(outcome, trial))
        if len(todo):
            answers, done = judge.asker(full_tables(space, trial.take(todo)), trial.at[todo])
            judge.count(trial.at[todo])
            verdict = outcome.goals.judge(answers, trial.at[todo])
            part = trial.take(todo)
            agree = of_donors(outcome, part.code, part.at, answers.decision) | ~bound[part.at]
            lead = leads_of(outcome, part.at, answers, verdict.progress)
            fine = verdict.reached & (lead >= least[part.at])
            reached[todo], progress[todo] = fine & done & agree, verdict.progress
        return reached, progress

    return ask


def _least(outcome: SeriesOutcome, draft: Draft) -> Array:
    """The lead that fine-tuning keeps, (Q,): what is stable, or all there is."""
    least, band = np.full(len(outcome.there), np.inf), outcome.task.band
    if band is None:
        return np.full(len(least), -np.inf)
    now = outcome.checked.pool.progress
    if outcome.classes_open[draft.at].any():
        answers, _ = outcome.judge.asker(full_tables(outcome.task.space, draft), draft.at)
        outcome.judge.count(draft.at)
        now = leads_of(outcome, draft.at, answers, now)
    np.minimum.at(least, draft.at, np.minimum(now, band[draft.at]) - SLACK)
    return least
