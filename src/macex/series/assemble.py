"""From arrays to values: one `SeriesExplanation` for every case of an answered batch.

Changed channels are seen beside where they come from, and what is usual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from macex.ask.answers import Answers, Goals, compile_goals
from macex.engine.assembly import MOST_ACTIONS
from macex.engine.claims import minimal_of, ran_out, reason_of, status_of
from macex.explanation import Cost
from macex.explanation.values import Asking, Over, Status
from macex.schema import Array
from macex.series.cases import Cases
from macex.series.constraints import SeriesConstraints
from macex.series.drafts import Draft, full_tables, laid_out, whole
from macex.series.fitted import FittedSeries
from macex.series.limits import ValueLimit
from macex.series.mixtures import differs, stretched
from macex.series.outcome import CaseBatch, SeriesOutcome
from macex.series.texture import NEAREST
from macex.series.values import (
    CaseSource,
    Fewer,
    SeriesAction,
    SeriesChange,
    SeriesCounterfactual,
    SeriesExplanation,
    Surroundings,
)
from macex.stages.shapes import Pool


def assemble(outcome: SeriesOutcome, seconds: float) -> list[SeriesExplanation]:
    """The explanations of a batch that took `seconds`."""
    checked = outcome.checked
    found: list[list[SeriesCounterfactual]] = [[] for _ in outcome.there]
    for query in np.flatnonzero(outcome.there):
        found[query].append(_unchanged(outcome, int(query)))
    made = _made(outcome, outcome.draft, checked.score, checked.decision)
    shares = checked.robustness.tolist()
    for query, counterfactual, share in zip(outcome.draft.at, made, shares, strict=True):
        robust = replace(counterfactual, robustness=share) if np.isfinite(share) else counterfactual
        found[query].append(robust)
    misses = _misses(outcome, np.array([not answers for answers in found], bool))
    per_row = seconds / max(1, int(outcome.judge.spent.sum()))
    return [
        _explanation(outcome, query, answers, misses.get(query), per_row)
        for query, answers in enumerate(found)
    ]


def unreached(fitted: FittedSeries, batch: CaseBatch) -> list[SeriesExplanation]:
    """The explanations of cases that the model could not be asked about in time."""
    cases = batch.rows
    own = Answers(np.zeros((len(cases), max(1, fitted.outlook.width))), np.zeros(len(cases), int))
    goals = compile_goals(batch.goals, own, fitted.outlook, batch.question.margin)
    return [
        SeriesExplanation(
            label=None,
            score=float("nan"),
            goal=goal,
            status="budget",
            reason=ran_out("time", goal, one.of_channels()) + _limits_in_force(one),
            miss=None,
            counterfactuals=(),
            actions=(),
            minimal=False,
            minimal_over=None,
            method=fitted.options.method.name,
            cost=Cost(0, 0, 0.0),
            source=_source(fitted, cases, query),
            names=fitted.called,
            asked=Asking(batch.question.n, fitted.options.method.name, goals),
            times=fitted.times,
        )
        for query, (goal, one) in enumerate(zip(batch.goals, batch.constraints, strict=True))
    ]


def _explanation(
    outcome: SeriesOutcome,
    query: int,
    answers: list[SeriesCounterfactual],
    miss: SeriesCounterfactual | None,
    per_row: float,
) -> SeriesExplanation:
    fitted, cases = outcome.fitted, outcome.cases.rows
    own = outcome.own.scores[query]
    status, over = status_of(outcome, query, answers)
    minimal = False
    if answers:
        minimal, over = minimal_of(outcome, query, answers[0].sparsity)
    known = bool(np.isfinite(outcome.verdict.progress[query]))
    spent = int(outcome.judge.spent[query])
    return SeriesExplanation(
        label=fitted.label(int(outcome.own.decision[query])) if known else None,
        score=float(outcome.verdict.score[query]) if known else float("nan"),
        goal=outcome.cases.goals[query],
        status=status,
        reason=None if answers else _reason(outcome, query, status, over, miss),
        miss=miss,
        counterfactuals=tuple(answers),
        actions=_actions(outcome, query),
        minimal=minimal,
        minimal_over=over,
        method=str(outcome.method[query]),
        cost=Cost(int(outcome.judge.rounds[query]), spent, per_row * spent),
        source=_source(fitted, cases, query),
        names=fitted.called,
        asked=Asking(outcome.cases.question.n, fitted.options.method.name, outcome.goals),
        times=fitted.times,
        fewer=_fewer(outcome, query, answers),
        probabilities=_probabilities(fitted, own) if known else {},
    )


def _fewer(outcome: SeriesOutcome, query: int, answers: list[SeriesCounterfactual]) -> Fewer | None:
    """Why a case with answers has not as many as were asked for."""
    if not answers or not answers[0].changes or len(answers) >= outcome.cases.question.n:
        return None
    judge, pool = outcome.judge, outcome.pool
    mine = np.flatnonzero(pool.at == query)
    sets = np.unique(outcome.task.space.changed(pool.codes[mine], pool.at[mine]), axis=0)
    if judge.late:
        return "time"
    if outcome.cases.requirements and len(sets) > len(answers):
        return "fragile"
    if judge.ran_out[query] or judge.finished[query]:
        return "rows"
    return "tried"


def _probabilities(fitted: FittedSeries, scores: Array) -> dict[Any, float]:
    """The probability of every class (K,), where the model gives any."""
    outlook = fitted.outlook
    if outlook.classes is None or outlook.scale != "probabilities" or np.isnan(scores).any():
        return {}
    return dict(zip(outlook.classes, outlook.rounded(scores).tolist(), strict=True))


def _reason(
    outcome: SeriesOutcome,
    query: int,
    status: Status,
    over: Over | None,
    miss: SeriesCounterfactual | None,
) -> str:
    """Why a case has no answer; limits of values do not constrain a column and are added here."""
    near = None if miss is None else miss.score
    said = reason_of(outcome, query, status, over, near)
    more = _limits_in_force(outcome.cases.constraints[query])
    return said + more


def _limits_in_force(given: SeriesConstraints) -> str:
    return "".join(f" Also in force: {text}." for text, _ in given.on_values().parts())


def _made(
    outcome: SeriesOutcome, draft: Draft, score: Array, decision: Array
) -> list[SeriesCounterfactual]:
    """Counterfactuals from what they take of which neighbour."""
    fitted, space, mixture = outcome.fitted, outcome.task.space, outcome.mixture
    full, made = full_tables(space, draft), []
    for row, query in enumerate(draft.at):
        own = np.asarray(mixture.cases.values[query])
        sample = mixture.samples(full[row : row + 1], draft.at[row : row + 1])[0]
        sparsity = int((draft.code[row] > 0).sum())
        weights, steps = space.bounds.weights[query], fitted.sketch.steps(own, sample)
        changes = _changes(outcome, draft, row, own, sample)
        made.append(
            SeriesCounterfactual(
                changes=changes,
                beside=surroundings(fitted, outcome.goals, int(query), changes, own.shape[1]),
                label=fitted.label(int(decision[row])),
                score=float(score[row]),
                sparsity=sparsity,
                proximity=round(float(steps.sum()), 9),
                distance=round(float((steps * weights).sum()), 9),
                plausibility=_plausibility(outcome, int(query), sample),
                minimal=minimal_of(outcome, int(query), sparsity)[0],
                label_score=_label_score(outcome, row, draft),
                probabilities=_probabilities(fitted, _all_scores(outcome, row, draft)),
                source=CaseSource(mixture.cases, fitted.names, int(query), sample),
            )
        )
    return made


def _all_scores(outcome: SeriesOutcome, row: int, draft: Draft) -> Array:
    """What the model says of an answer; NaN of a miss."""
    if draft is outcome.draft:
        return np.asarray(outcome.scores[row])
    return np.full(max(1, outcome.fitted.outlook.width), np.nan)


def _label_score(outcome: SeriesOutcome, row: int, draft: Draft) -> float | None:
    """The score of the decided class, where the goal is more than one class; None of a miss."""
    scores, decision = _all_scores(outcome, row, draft), outcome.checked.decision
    if not outcome.classes_open[draft.at[row]] or np.isnan(scores).any():
        return None
    return float(scores[decision[row]])


def _changes(
    outcome: SeriesOutcome, draft: Draft, row: int, own: Array, sample: Array
) -> tuple[SeriesChange, ...]:
    """The changed stretches, by channel and time."""
    query, found, fitted = int(draft.at[row]), {}, outcome.fitted
    moved = np.asarray(differs(own, sample))  # (d, time)
    for unit in np.flatnonzero(draft.code[row]):
        case = int(outcome.mixture.donors[query, draft.code[row, unit] - 1])
        runs = laid_out(draft.start[row, unit], draft.stop[row, unit])
        limits = outcome.mixture.limits[query]
        for channel, run in product(outcome.task.space.units[unit].members, runs):
            for start, stop in [run] if limits is None else limits.parts(channel, *run):
                if not moved[channel, start:stop].any():
                    continue
                stretch = slice(start, stop)
                found[channel, start] = SeriesChange(
                    channel=fitted.names[channel],
                    start=start,
                    stop=stop,
                    blend=float(draft.blend[row, unit]),
                    case=case,
                    label=fitted.label(int(fitted.answers.decision[case])),
                    before=own[channel, stretch],
                    after=sample[channel, stretch],
                    times=fitted.times.called(start, stop),
                    limit=_limit(outcome, row, draft, int(unit), channel, stretch),
                )
    return tuple(found[place] for place in sorted(found))


def _limit(
    outcome: SeriesOutcome, row: int, draft: Draft, unit: int, channel: int, stretch: slice
) -> ValueLimit | None:
    """What kept a stretch with the same limits throughout from being as in the other case."""
    mixture, query = outcome.mixture, int(draft.at[row])
    limits = mixture.limits[query]
    if limits is None:
        return None
    own = np.asarray(mixture.cases.values[query][channel, stretch], dtype=float)
    other = mixture.donor(query, int(draft.code[row, unit]), channel)[stretch].astype(float)
    aimed = own + draft.blend[row, unit] * (other - own)
    return limits.bound(channel, stretch.start, aimed, own)


def _unchanged(outcome: SeriesOutcome, query: int) -> SeriesCounterfactual:
    """A case that is where it is wanted, as its own counterfactual."""
    fitted, cases = outcome.fitted, outcome.cases.rows
    own = np.asarray(cases.values[query])
    return SeriesCounterfactual(
        changes=(),
        label=fitted.label(int(outcome.own.decision[query])),
        score=float(outcome.verdict.score[query]),
        sparsity=0,
        proximity=0.0,
        distance=0.0,
        plausibility=_plausibility(outcome, query, own),
        minimal=True,
        source=_source(fitted, cases, query),
        probabilities=_probabilities(fitted, outcome.own.scores[query]),
    )


def _source(fitted: FittedSeries, cases: Cases, query: int) -> CaseSource:
    """A case as it is."""
    return CaseSource(cases, fitted.names, query, np.asarray(cases.values[query]))


def _plausibility(outcome: SeriesOutcome, query: int, sample: Array) -> float | None:
    """How usual a sample is; None where too few cases meet the goal, or time is over."""
    if outcome.judge.late:
        return None
    own = np.asarray(outcome.mixture.cases.values[query])
    return outcome.fitted.plausibility(outcome.goals, query, own, sample)


def _misses(outcome: SeriesOutcome, wanted: Array) -> dict[int, SeriesCounterfactual | None]:
    """The sample that came nearest to each goal that was not reached."""
    judge = outcome.judge
    at = judge.missed(wanted)
    if not len(at):
        return {}
    verdict, decision = judge.confirm(judge.miss_codes[at], at)
    space = outcome.task.space
    draft = whole(outcome.mixture, space, Pool(at, judge.miss_codes[at], verdict.progress))
    made = _made(outcome, draft, verdict.score, decision)
    return dict(zip(at.tolist(), made, strict=True))


def _actions(outcome: SeriesOutcome, query: int) -> tuple[SeriesAction, ...]:
    """The best whole channel of a neighbour for every channel, strongest first."""
    found, space = outcome.found, outcome.task.space
    candidates = found.candidates
    weight = np.where(candidates.real[query], np.round(found.weight[query], 6), 0.0)
    actions: dict[int, SeriesAction] = {}
    for entry in np.argsort(-weight, kind="stable"):
        unit = int(candidates.unit[entry])
        if weight[entry] <= 0 or len(actions) == MOST_ACTIONS:
            break
        if unit not in actions:
            rank = int(candidates.value[query, entry])
            actions[unit] = SeriesAction(
                channel=space.units[unit].name,
                case=int(outcome.mixture.donors[query, rank - 1]),
                weight=float(weight[entry]),
                flips=bool(found.flips[query, entry]),
            )
    return tuple(actions.values())


BAND = (0.1, 0.9)  # between these shares of the cases that meet the goal
CASES, CELLS = 100, 400_000  # that a band is computed of, and their values
DRAWN = 12  # channels, at most


def surroundings(
    fitted: FittedSeries, goals: Goals, query: int, changes: Iterable[SeriesChange], length: int
) -> dict[str, Surroundings]:
    """Beside what each changed channel is drawn, by name; for as many as are drawn."""
    donors = {change.channel: change.case for change in changes}
    rows = fitted.meeting(goals, query) if donors else np.zeros(0, int)
    most = max(NEAREST + 1, min(CASES, CELLS // max(1, length)))
    if len(rows) > most:
        rows = rows[np.round(np.linspace(0, len(rows) - 1, most)).astype(int)]
    found = {}
    for name in list(donors)[:DRAWN]:
        channel = fitted.names.index(name)
        donor = _values(fitted, np.array([donors[name]]), channel, length)[0]
        if len(rows) <= NEAREST:
            found[name] = Surroundings(donor, None, None)
            continue
        values = _values(fitted, rows, channel, length)
        found[name] = Surroundings(donor, *_band(values))
    return found


def _band(values: Array) -> Array:
    """Between what most values (n, time) lie, gaps left out, (2, time)."""
    finite = np.isfinite(values)
    if finite.all():
        return np.asarray(np.quantile(values, BAND, axis=0))
    known = np.where(finite, values, np.nan)
    return np.asarray(np.nanquantile(np.where(finite.any(axis=0), known, 0.0), BAND, axis=0))


def _values(fitted: FittedSeries, rows: Array, channel: int, length: int) -> Array:
    """A channel of training cases on a time axis of the length, as numbers (n, length)."""
    train = fitted.train
    if train.even and train.longest == length:
        return np.asarray(train.values)[rows, channel].astype(float)
    lines = [np.asarray(train.values[row][channel], dtype=float) for row in rows]
    return np.stack([stretched(line, length) for line in lines])
