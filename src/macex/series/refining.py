"""Stage 4 and the final check for series: what answers take, and what the model says to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macex.engine.confirmation import confirmed
from macex.schema import Array
from macex.series.drafts import full_tables, whole
from macex.series.outcome import SeriesOutcome
from macex.series.robustness import held_share, settled
from macex.series.segments import Ask, Draft


def confirm(outcome: SeriesOutcome) -> SeriesOutcome:
    """Score what is selected once more, then keep only the stretches that are needed (stage 4)."""
    outcome = confirmed(outcome)
    draft = whole(outcome.mixture, outcome.task.space, outcome.checked.pool)
    tune, judge = outcome.fitted.options.finetune, outcome.judge
    if tune is None or outcome.task.prefer == "surest" or judge.late or not len(draft.at):
        return _measured(replace(outcome, draft=draft))
    made = tune(_asking(outcome), draft, lambda: judge.late)
    made = settled(outcome, draft, made)
    return _measured(_held(outcome, draft, made))


def _held(outcome: SeriesOutcome, draft: Draft, made: Draft) -> SeriesOutcome:
    """The model's last word on what fine-tuning made; what fails stays as it was."""
    judge, checked = outcome.judge, outcome.checked
    score, decision = checked.score.copy(), checked.decision.copy()
    answers, done = judge.asker(full_tables(outcome.task.space, made), made.at, always=True)
    judge.count(made.at)
    verdict = outcome.goals.judge(answers, made.at)
    holds = verdict.reached & done
    score[holds], decision[holds] = verdict.score[holds], answers.decision[holds]
    kept = [
        np.where(holds.reshape(-1, *[1] * (new.ndim - 1)), new, old)
        for new, old in zip(made, draft, strict=True)
    ]
    checked = checked._replace(score=score, decision=decision)
    return replace(outcome, draft=Draft(*kept), checked=checked)


def _measured(outcome: SeriesOutcome) -> SeriesOutcome:
    """The answers with their robustness, where it was asked for."""
    robust, draft = outcome.cases.sturdy, outcome.draft
    if robust.least is None or outcome.judge.late or not len(draft.at):
        return outcome
    share = held_share(outcome.judge, full_tables(outcome.task.space, draft), draft.at)
    return replace(outcome, checked=outcome.checked._replace(robustness=share))


def _asking(outcome: SeriesOutcome) -> Ask:
    """Whether drafts reach their goals; one that its query cannot pay for does not."""
    judge, space = outcome.judge, outcome.task.space

    def ask(trial: Draft) -> tuple[Array, Array]:
        reached, progress = np.zeros(len(trial.at), bool), np.full(len(trial.at), -np.inf)
        wished = np.bincount(trial.at, minlength=len(judge.spent))
        broke = judge.capped & (judge.spent + wished > judge.limit)
        todo = np.flatnonzero(~broke[trial.at])
        if len(todo):
            answers, done = judge.asker(full_tables(space, trial.take(todo)), trial.at[todo])
            judge.count(trial.at[todo])
            verdict = outcome.goals.judge(answers, trial.at[todo])
            reached[todo], progress[todo] = verdict.reached & done, verdict.progress
        return reached, progress

    return ask
