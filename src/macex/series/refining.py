"""Stage 4 and the final check for series: what answers take, and what the model says to it."""

from __future__ import annotations

import numpy as np

from macex.ask.space import Space
from macex.engine.outcome import Outcome
from macex.schema import Array
from macex.series.fitted import Fitted
from macex.series.mixing import Mixture, differs
from macex.series.segments import Ask, Draft
from macex.stages.shapes import Pool


def whole(mixture: Mixture, space: Space, pool: Pool) -> Draft:
    """Examples that take whole channels, from the first time point that differs to the last."""
    full = space.columns(pool.codes, pool.at)
    samples = mixture.samples(full, pool.at) if len(pool) else []
    start, stop = np.zeros(pool.codes.shape, int), np.zeros(pool.codes.shape, int)
    for row, query in enumerate(pool.at):
        moved = differs(np.asarray(mixture.cases.values[query]), samples[row])  # (d, time)
        for unit in np.flatnonzero(pool.codes[row]):
            times = np.flatnonzero(moved[list(space.units[unit].members)].any(axis=0))
            start[row, unit], stop[row, unit] = times[0], times[-1] + 1
    codes = pool.codes.astype(int)
    return Draft(pool.at, codes, start, stop, np.where(codes > 0, 1.0, 0.0))


def tuned(fitted: Fitted, outcome: Outcome, draft: Draft) -> tuple[Draft, Array, Array]:
    """Stage 4, and the final word of the model on what it made; what fails stays as it was."""
    score, decision = outcome.checked.score.copy(), outcome.checked.decision.copy()
    tune = fitted.options.finetune
    judge, space = outcome.judge, outcome.task.space
    if tune is None or fitted.options.prefer == "surest" or judge.late or not len(draft.at):
        return draft, score, decision
    made = tune(_asking(outcome), draft, lambda: judge.late)
    full = full_tables(space, made)
    answers, done = judge.asker(full, made.at, always=True)
    judge.count(made.at)
    verdict = outcome.goals.judge(answers, made.at)
    holds = verdict.reached & done
    score[holds], decision[holds] = verdict.score[holds], answers.decision[holds]
    kept = [
        np.where(holds.reshape(-1, *[1] * (new.ndim - 1)), new, old)
        for new, old in zip(made, draft, strict=True)
    ]
    return Draft(*kept), score, decision


def _asking(outcome: Outcome) -> Ask:
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


def full_tables(space: Space, draft: Draft) -> Array:
    """Drafts as the asker takes them: four tables by channel, side by side."""
    owner = np.zeros(len(space.own[0]), int)
    for place, unit in enumerate(space.units):
        owner[list(unit.members)] = place
    codes = space.columns(draft.code.astype(float), draft.at)
    rest = [table[:, owner] for table in (draft.start, draft.stop, draft.blend)]
    return np.concatenate([codes, *rest], axis=1, dtype=float)
