"""Steps five and six: which examples to return, and the model's final check of them.

What is selected is scored once more, together with its intervals, and only rows that still reach
their goals are returned. A row that fails (a model may answer differently a second time) is
replaced by the next best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from macex.engine.batch import Checked, Outcome, OutcomeT, Spans
from macex.engine.intervals import probe
from macex.engine.reach import drawn_reach, no_surer
from macex.engine.robustness import neighbours
from macex.schema import Array
from macex.stages.selection import holding

if TYPE_CHECKING:
    from macex.models.judge import Judge
    from macex.stages.shapes import Task


ATTEMPTS = 3
MORE_ATTEMPTS = 12  # where answers must be robust
SPARED_ATTEMPTS = 6  # where the nearest have something to spare already


def select(outcome: OutcomeT, barred: Array | None = None) -> OutcomeT:
    """Stage 3: of every query's examples those to return, best first; none that is barred."""
    selection, task, pool = outcome.fitted.options.selection, outcome.task, outcome.pool
    order = outcome.order if barred is None else outcome.order[~barred[outcome.order]]
    chosen, owner = [np.zeros(0, np.intp)], pool.at[order]
    changed = task.space.changed(pool.codes, pool.at)
    starts = np.searchsorted(owner, np.arange(len(task.queries)))
    stops = np.searchsorted(owner, np.arange(len(task.queries)), side="right")
    for start, stop in zip(starts, stops, strict=True):
        mine = order[start:stop]
        if task.count == 1 or len(mine) <= 1:
            chosen.append(mine[: task.count])
            continue
        if task.prefer != "surest" and not selection.printed:
            mine = mine[~holding(pool.codes[mine], changed[mine])]
        fewest = task.prefer == "fewest" and not task.plausible
        local = selection(np.arange(len(mine)), changed[mine], task.count, fewest=fewest)
        chosen.append(mine[local])
    return replace(outcome, chosen=np.concatenate(chosen))


def confirm(outcome: OutcomeT) -> OutcomeT:
    """Score what is selected once more, and keep what holds."""
    word, judge = _LastWord.of(len(outcome.pool)), outcome.judge
    robust = outcome.batch.requirements
    spared = robust.draws and outcome.task.prefer == "nearest"
    more = SPARED_ATTEMPTS if spared else MORE_ATTEMPTS
    for _ in range(more if robust and not judge.capped else ATTEMPTS):
        fresh = _chosen(outcome)
        fresh = fresh[~word.given[fresh]]
        fresh = fresh[_payable(outcome.task, judge, outcome.pool.at[fresh], 1 + robust.price)]
        if not len(fresh):
            break
        word.ask(outcome, fresh)
        outcome = select(outcome, word.barred)
        if not word.barred[fresh].any() or judge.late:
            break
    return replace(outcome, checked=word.on(outcome))


def _chosen(outcome: Outcome) -> Array:
    return np.zeros(0, np.intp) if outcome.chosen is None else outcome.chosen


@dataclass
class _LastWord:
    """What the model says last to each example."""

    given: Array  # (E,) bool
    barred: Array  # (E,) bool: it does not hold
    weak: Array  # (E,) bool: it holds, but not well enough
    score: Array  # (E,)
    decision: Array  # (E,)
    robustness: Array  # (E,)
    reach: Array  # (E,)
    spans: Spans

    @classmethod
    def of(cls, count: int) -> _LastWord:
        given, barred, weak = np.zeros((3, count), bool)
        blank = np.full(count, np.nan)
        return cls(
            given, barred, weak, np.zeros(count), np.zeros(count, int), blank, blank.copy(), {}
        )

    def ask(self, outcome: Outcome, fresh: Array) -> None:
        """Ask about examples, their intervals and, if they must be robust, what is around them."""
        task, judge, pool = outcome.task, outcome.judge, outcome.pool
        robust, each = outcome.batch.requirements, outcome.batch.requirements.rows
        probes = probe(task, judge, pool, fresh)
        around = neighbours(task.space, pool.codes[fresh]) if each else pool.codes[:0]
        codes = np.concatenate([pool.codes[fresh], probes.codes, around])
        whose = np.repeat(pool.at[fresh], each)
        at = np.concatenate([pool.at[fresh], pool.at[probes.example], whose])
        verdict, decided = judge.confirm(codes, at, len(fresh), loose=len(around))
        self.score[fresh] = verdict.score[: len(fresh)]
        self.decision[fresh] = decided[: len(fresh)]
        self.barred[fresh] = ~verdict.reached[: len(fresh)]
        if robust:
            held = verdict.reached[len(codes) - len(around) :].reshape(len(fresh), each)
            self._weigh(outcome, fresh, held)
        self.given[fresh] = True
        self.spans.update(probes.spans(task.space, verdict.reached[len(fresh) :]))

    def _weigh(self, outcome: Outcome, fresh: Array, held: Array) -> None:
        """Bar what too few neighbours or draws hold with, or another model does not agree to."""
        robust, pool = outcome.batch.requirements, outcome.pool
        self.robustness[fresh] = held.mean(axis=1) if robust.rows else np.nan
        self.weak[fresh] = self.robustness[fresh] < (robust.least or 0.0)
        self.weak[fresh] &= ~self.barred[fresh]
        sound = fresh[~self.weak[fresh] & ~self.barred[fresh]]
        self.weak[sound] = ~robust.agreed(outcome.judge, pool.codes[sound], pool.at[sound])
        if robust.draws:
            sound = sound[~self.weak[sound]]
            self.reach[sound] = drawn_reach(outcome, pool.take(sound))
            self.weak[sound] = self.reach[sound] < (robust.reach or 0.0)
            self.barred |= no_surer(outcome, pool, pool.take(sound[self.weak[sound]]))
        self.barred[fresh] |= self.weak[fresh]

    def on(self, outcome: Outcome) -> Checked:
        """The answers: what is selected and holds."""
        final = _chosen(outcome)
        final = final[self.given[final]]
        fragile = np.zeros(len(outcome.task.queries), bool)
        fragile[outcome.pool.at[self.weak]] = True
        fragile[outcome.pool.at[final]] = False
        turn = {example: place for place, example in enumerate(final.tolist())}
        return Checked(
            outcome.pool.take(final),
            outcome.plausibility[final],
            self.score[final],
            self.decision[final],
            {(turn[i], column): span for (i, column), span in self.spans.items() if i in turn},
            self.robustness[final],
            fragile,
            self.reach[final] if outcome.batch.requirements.draws else None,
        )


def _payable(task: Task, judge: Judge, at: Array, each: int) -> Array:
    """Which answers, of the queries `at`, can be checked within the caller's limit of rows.

    The first check is always possible: its rows were set aside.
    """
    if not judge.capped:
        return np.ones(len(at), bool)
    price = each * np.bincount(at, minlength=len(judge.spent))
    return np.asarray(judge.spent + price <= judge.limit + each * task.count)[at]
