"""From arrays to values: one `Explanation` for every query of an answered batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.ask.answers import Answers, compile_goals
from macex.engine.box import Boxing
from macex.engine.claims import claims_kept, minimal_of, notes_of, ran_out, reason_of, status_of
from macex.engine.ranking import plausibility_of
from macex.engine.robustness import reach_of
from macex.engine.training import distributions_of
from macex.explanation import Action, Change, Cost, Counterfactual, Explanation, Interval, Source
from macex.explanation.values import Actions, Asking
from macex.schema import Array
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.ask.goals import Goal
    from macex.ask.space import Space
    from macex.engine.batch import Batch, Outcome, Spans
    from macex.engine.fitted import Fitted
    from macex.engine.intervals import TestedRun
    from macex.explanation.values import Status
    from macex.render.names import Names
    from macex.schema import Column


MOST_ACTIONS = 8


class _Pieces(NamedTuple):
    """What an explanation is made of, each entry a list over the queries."""

    answers: list[list[Counterfactual]]
    misses: list[Counterfactual | None]
    actions: list[Actions]
    reasons: list[Actions]
    asked: Asking
    notes: list[tuple[str, ...]]


def assemble(outcome: Outcome, seconds: float) -> list[Explanation]:
    """The explanations of a batch that took `seconds`."""
    fitted = outcome.fitted
    answers = _counterfactuals(fitted, outcome)
    candidates = outcome.found.candidates
    actions = _actions(outcome, candidates.allowed)
    bound = bool((candidates.real & ~candidates.allowed).any())
    parts = _Pieces(
        answers,
        _misses(fitted, outcome, [not found for found in answers]),
        actions,
        _actions(outcome, candidates.real) if bound else actions,
        Asking(
            outcome.batch.question.n,
            fitted.options.method.name,
            outcome.goals,
            distributions=distributions_of(fitted),
        ),
        notes_of(fitted, outcome),
    )
    per_row = seconds / max(1, int(outcome.judge.spent.sum()))
    return [_explanation(fitted, outcome, query, parts, per_row) for query in range(len(answers))]


def unreached(fitted: Fitted, batch: Batch) -> list[Explanation]:
    """The explanations of rows that the model could not be asked about in time."""
    count, outlook = len(batch.rows), fitted.outlook
    own = Answers(np.zeros((count, max(1, outlook.width))), np.zeros(count, int))
    goals = compile_goals(batch.goals, own, outlook, batch.question.margin)
    asking = Asking(batch.question.n, fitted.options.method.name, goals)
    return [
        unanswered(
            "budget",
            ran_out("time", goal, given),
            goal,
            method=fitted.options.method.name,
            source=Source(batch.rows, query, batch.rows.codes[query]),
            asked=asking,
            names=fitted.options.names,
        )
        for query, (goal, given) in enumerate(zip(batch.goals, batch.constraints, strict=True))
    ]


def _explanation(
    fitted: Fitted, outcome: Outcome, query: int, parts: _Pieces, per_row: float
) -> Explanation:
    judge, miss = outcome.judge, parts.misses[query]
    answers = claims_kept(parts.answers[query])
    status, over = status_of(outcome, query, answers)
    minimal = bool(answers) and answers[0].minimal
    if minimal:
        over = minimal_of(outcome, query, answers[0].sparsity)[1]
    spent = int(judge.spent[query])
    known = bool(np.isfinite(outcome.verdict.progress[query]))
    return Explanation(
        label=_label(fitted, int(outcome.own.decision[query])) if known else None,
        score=float(outcome.verdict.score[query]) if known else float("nan"),
        goal=outcome.batch.goals[query],
        status=status,
        reason=None
        if answers
        else reason_of(outcome, query, status, over, None if miss is None else miss.score),
        miss=miss,
        counterfactuals=tuple(answers),
        actions=parts.actions[query],
        reasons=parts.reasons[query],
        minimal=minimal,
        minimal_over=over,
        method=str(outcome.method[query]),
        cost=Cost(int(judge.rounds[query]), spent, per_row * spent),
        source=Source(outcome.batch.rows, query, outcome.task.space.own[query]),
        names=fitted.options.names,
        asked=parts.asked,
        notes=parts.notes[query],
    )


def _counterfactuals(fitted: Fitted, outcome: Outcome) -> list[list[Counterfactual]]:
    """The answers of every query, best first; already there counts as one without changes."""
    checked, there = outcome.checked, np.flatnonzero(outcome.there)
    own = Pool(there, outcome.task.queries[there], outcome.verdict.progress[there])
    pool = Pool.join([checked.pool, own], outcome.task.space.width)
    plausibility = _usual(outcome, pool, checked.plausibility)
    robust = np.concatenate([checked.robustness, np.full(len(there), np.nan)])
    score = np.concatenate([checked.score, outcome.verdict.score[there]])
    decision = np.concatenate([checked.decision, outcome.own.decision[there]])
    made = _made(fitted, outcome, pool, score, decision, plausibility, checked.spans)
    answers: list[list[Counterfactual]] = [[] for _ in outcome.there]
    batch = replace(outcome.batch, remembered=None)  # which is for this call alone
    shares = np.column_stack([robust, _reach(outcome, pool)]).tolist()
    for query, counterfactual, known in zip(pool.at.tolist(), made, shares, strict=True):
        share, reach = (one if np.isfinite(one) else None for one in known)
        boxing = Boxing(fitted, batch, query)
        answers[query] += [replace(counterfactual, robustness=share, reach=reach, boxing=boxing)]
    return answers


def _usual(outcome: Outcome, pool: Pool, known: Array) -> Array:
    """The plausibility of the answers: `known` of those that were ranked by it."""
    found = np.append(known, np.full(len(pool) - len(known), np.nan))
    blank = np.flatnonzero(np.isnan(found))
    if len(blank):
        full = outcome.task.space.columns(pool.codes[blank], pool.at[blank])
        found[blank] = plausibility_of(outcome, pool.at[blank], full)
    return found


def _reach(outcome: Outcome, pool: Pool) -> Array:
    """The reach of the answers, which is known already where it was asked for."""
    known = outcome.checked.reach
    if known is None and outcome.fitted.causal is None:
        return np.full(len(pool), np.nan)
    if known is None:
        return reach_of(outcome, pool)
    return np.concatenate([known, np.full(len(pool) - len(known), np.nan)])


def _misses(fitted: Fitted, outcome: Outcome, wanted: list[bool]) -> list[Counterfactual | None]:
    """The row that came nearest to each goal that was not reached, if the model could be asked."""
    judge, found = outcome.judge, list[Counterfactual | None]([None] * len(wanted))
    at = judge.missed(np.array(wanted, dtype=bool)) if any(wanted) else np.zeros(0, int)
    if not len(at):
        return found
    pool = Pool(at, judge.miss_codes[at], judge.miss_progress[at])
    verdict, decision = judge.confirm(pool.codes, at)
    made = _made(fitted, outcome, pool, verdict.score, decision, np.full(len(at), np.nan), {})
    for query, counterfactual in zip(at, made, strict=True):
        found[query] = replace(counterfactual, minimal=False)
    return found


def _made(
    fitted: Fitted,
    outcome: Outcome,
    pool: Pool,
    score: Array,
    decision: Array,
    usual: Array,
    spans: Spans,
) -> list[Counterfactual]:
    space = outcome.task.space
    full, own = space.columns(pool.codes, pool.at), space.own[pool.at]
    changed = space.changed(pool.codes, pool.at)
    moved = _by_column(space, changed)
    numbers = (
        pool.at,
        score,
        decision,
        usual,
        changed.sum(axis=1),
        np.round(fitted.scales.proximity(own, full), 9),
        np.round(outcome.task.measure(pool.codes, pool.at), 9),
        fitted.support(outcome.goals, pool.at, fitted.bins(full), moved),
        fitted.copies(full) & changed.any(axis=1),
    )
    changes, made = _changes(fitted, outcome, pool.at, full, moved, spans), []
    breaks, guessed = _breaks_of(fitted, full, own), _estimated_of(fitted, full, own, moved)
    for row, line in enumerate(zip(*(part.tolist() for part in numbers), strict=True)):
        query, toward, decided, share, sparsity, proximity, distance, support, copies = line
        made.append(
            Counterfactual(
                changes=tuple(changes[row]),
                label=_label(fitted, decided),
                score=toward,
                sparsity=sparsity,
                proximity=proximity,
                distance=distance,
                plausibility=None if share != share else round(share, 6),  # noqa: PLR0124 - NaN
                support=support,
                minimal=minimal_of(outcome, query, sparsity)[0],
                source=Source(outcome.batch.rows, query, full[row]),
                names=fitted.options.names,
                copies=copies,
                breaks=breaks[row],
                estimated=guessed[row],
                average=_averaged_of(fitted, guessed[row]),
            )
        )
    return made


def _breaks_of(fitted: Fitted, full: Array, own: Array) -> list[tuple[str, ...]]:
    """The relations that each row breaks although the row it starts from keeps them."""
    if fitted.keeping is None or not fitted.keeping.tests:
        return [()] * len(full)
    texts = [kept.text for kept in fitted.keeping.tests]
    broken = fitted.keeping.broken(full) & ~fitted.keeping.broken(own)
    return [tuple(texts[at] for at in np.flatnonzero(line)) for line in broken]


def _estimated_of(fitted: Fitted, full: Array, own: Array, moved: Array) -> list[tuple[str, ...]]:
    """The columns of each row that are estimates: they follow causes by what was fitted.

    `moved` (n, d) bool are the columns that were set.
    """
    causal = fitted.causal
    if causal is None or not causal.estimated:
        return [()] * len(full)
    names, places = causal.schema.names, np.array(sorted(causal.estimated))
    guessed = (full != own)[:, places] & ~moved[:, places]
    return [tuple(names[place] for place in places[line]) for line in guessed]


def _averaged_of(fitted: Fitted, estimated: tuple[str, ...]) -> bool:
    """Whether estimates are those of rows alike on average, not of the row itself."""
    return bool(estimated) and fitted.causal is not None and fitted.causal.average


def _by_column(space: Space, changed: Array) -> Array:
    """Which columns belong to changed units, (n, d) bool; derived ones to none."""
    columns = np.zeros((len(changed), space.own.shape[1]), bool)
    for place, unit in enumerate(space.units):
        columns[:, list(unit.members)] = changed[:, place, None]
    return columns


def _changes(
    fitted: Fitted, outcome: Outcome, at: Array, full: Array, moved: Array, spans: Spans
) -> list[list[Change]]:
    """The changed columns of each row, in order; a derived column is not a change of its own."""
    columns, rows = fitted.ground.schema.columns, outcome.batch.rows
    own = outcome.task.space.own[at]
    found: list[list[Change]] = [[] for _ in at]
    line, member = np.nonzero(moved & (full != own))
    query = at[line]
    cells = line, member, query, rows.odd[query, member], own[line, member], full[line, member]
    for row, place, whose, odd, old, new in zip(*(part.tolist() for part in cells), strict=True):
        column = columns[place]
        before = rows.cell(whose, place) if odd else column.value(old)
        interval = _interval(column, spans.get((row, place)))
        found[row].append(Change(column.name, before, column.value(new), interval))
    return found


def _interval(column: Column, span: TestedRun | None) -> Interval | None:
    if span is None:
        return None
    return Interval(column.value(span.low), column.value(span.high), span.tested, span.exact)


def _actions(outcome: Outcome, offered: Array) -> list[Actions]:
    """The best single change of every unit, strongest first (the paper's F*)."""
    found, space = outcome.found, outcome.task.space
    candidates = found.candidates
    weight = np.where(candidates.real & offered, found.weight, 0.0)
    lines = np.arange(len(weight))
    entry = np.zeros((len(weight), space.width), int)
    strength = np.zeros((len(weight), space.width))
    if len(candidates.unit):
        units, best = candidates.best(weight)
        entry[:, units], strength[:, units] = best, np.take_along_axis(weight, best, axis=1)
    order = np.argsort(-np.round(strength, 6), axis=1, kind="stable")[:, :MOST_ACTIONS]
    chosen = np.take_along_axis(entry, order, axis=1)
    table = _ActionTable(
        space,
        order,
        np.round(np.take_along_axis(strength, order, axis=1), 6),
        candidates.value[lines[:, None], chosen] if candidates.value.size else chosen * 0.0,
        found.flips[lines[:, None], chosen] if candidates.value.size else chosen < 0,
    )
    line = table.line  # one method for all
    return [Actions(line, query) for query in range(len(weight))]


class _ActionTable(NamedTuple):
    """The strongest single changes of a batch, as arrays."""

    space: Space
    unit: Array  # (Q, 8)
    strength: Array  # (Q, 8)
    code: Array  # (Q, 8)
    flips: Array  # (Q, 8) bool

    def line(self, query: int) -> tuple[Action, ...]:
        """The actions of one query."""
        parts = (self.unit, self.strength, self.code, self.flips)
        return tuple(
            Action(self.space.units[unit].name, _unit_value(self.space, unit, code), share, flips)
            for unit, share, code, flips in zip(*(p[query].tolist() for p in parts), strict=True)
            if share > 0
        )


def _unit_value(space: Space, place: int, code: float) -> Any:
    """The value behind the code of a unit; a group's is a tuple."""
    unit, columns = space.units[place], space.ground.schema.columns
    if unit.table is None:
        return columns[unit.members[0]].value(code)
    codes = zip(unit.members, unit.table[int(code)], strict=True)
    return tuple(columns[member].value(value) for member, value in codes)


def _label(fitted: Fitted, decision: int) -> Any:
    classes = fitted.outlook.classes
    return None if classes is None or decision < 0 else classes[decision]


def unanswered(
    status: Status,
    reason: str,
    goal: Goal,
    *,
    method: str,
    source: Source,
    asked: Asking,
    names: Names | None = None,
) -> Explanation:
    """The explanation of a row that has no score."""
    return Explanation(
        label=None,
        score=float("nan"),
        goal=goal,
        status=status,
        reason=reason,
        miss=None,
        counterfactuals=(),
        actions=(),
        reasons=(),
        minimal=False,
        minimal_over=None,
        method=method,
        cost=Cost(0, 0, 0.0),
        source=source,
        names=names or {},
        asked=asked,
    )
