"""Scoring codes for a batch of queries: the one function that stages see.

A `Judge` joins the model, the goals and the constraints. It counts what every query has cost,
stops scoring a query whose rows are spent, never sends a row to the model that breaks a rule, and
remembers for every query the row that came nearest to its goal without reaching it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.answers import Answers, Goals, Verdict
from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from macex.ask.space import Chance, Space
    from macex.models.asker import Asker


FEW = 64  # rows that cost a model hardly more than one does: they are confirmed in one call


@dataclass
class Judge:
    """Verdicts on rows of codes by unit, each made from the query `at`."""

    asker: Asker
    goals: Goals
    space: Space
    limit: Array  # (Q,) the most rows a query may cost
    capped: bool = False  # the limit is the caller's, not a search's own
    spent: Array = field(init=False)  # (Q,) rows
    rounds: Array = field(init=False)  # (Q,) model calls it took part in
    ran_out: Array = field(init=False)  # (Q,) bool: rows or time were spent before the end
    miss_progress: Array = field(init=False)  # (Q,)
    miss_codes: Array = field(init=False)  # (Q, U) the nearest miss

    def __post_init__(self) -> None:
        count = len(self.limit)
        self.spent = np.zeros(count, int)
        self.rounds = np.zeros(count, int)
        self.ran_out = np.zeros(count, bool)
        self.miss_progress = np.full(count, -np.inf)
        self.miss_codes = self.space.queries.copy()

    @cached_property
    def bounded(self) -> Array:
        """Whether progress is the log odds of a probability, (Q,) bool."""
        return self.goals.by_class & self.goals.outlook.probable

    def __call__(
        self,
        codes: Array,
        at: Array,
        *,
        probe: bool = False,
        turn: Callable[[], Array] | None = None,
        told: bool = True,
    ) -> Verdict:
        """The verdict on each row; a row that was not scored has progress of minus infinity.

        A row that breaks a rule is not scored, unless `probe`; it never counts as reached. Where
        a query cannot pay for all its rows, those with the lowest `turn()` (n,) are scored. Rows
        that are not `told` are no misses.
        """
        full = self.space.columns(codes, at)
        lawful = self.space.holds(full, at) if self.space.bound_rows else np.ones(len(at), bool)
        wanted = self.space.tellable(full, at) if probe else lawful
        wanted = self._affordable(at, wanted, turn)
        if wanted.all() and len(at):
            verdict = self._verdict(*self.asker(full, at), at)
        else:
            verdict = self._of_some(full, at, np.flatnonzero(wanted))
        verdict = Verdict(verdict.reached & lawful, verdict.score, verdict.progress)
        if told:
            self._remember(codes, at, verdict, lawful)
        return verdict

    def confirm(
        self, codes: Array, at: Array, returned: int | None = None, loose: int = 0
    ) -> tuple[Verdict, Array]:
        """The final verdict on the first rows, `returned` many or all, and the model's decisions.

        The caller's own model is asked about these rows, even when rows or time are spent. The
        other rows are only compared with; the last `loose` of them may break constraints.
        """
        full = self.space.columns(codes, at)
        sound = np.flatnonzero(self.space.tellable(full, at))
        first = len(sound) if returned is None else int(np.searchsorted(sound, returned))
        hurry = self.asker.deadline is not None and not loose
        if not hurry and (len(sound) <= FEW or not self.asker.takes_codes):
            self.count(at[sound])
            answers, done = self.asker.own(full[sound], at[sound], always=True)
        else:
            answers, done = self._first_sure(full[sound], at[sound], first, always=bool(loose))
        verdict = self.goals.judge(answers, at[sound])
        reached, decision = np.zeros(len(at), bool), np.zeros(len(at), int)
        score, progress = np.zeros(len(at)), np.full(len(at), -np.inf)
        lawful = self.space.allows(codes[sound], at[sound], full[sound]) | (
            sound >= len(at) - loose
        )
        reached[sound] = verdict.reached & done & lawful
        score[sound], progress[sound] = verdict.score, verdict.progress
        decision[sound] = answers.decision
        return Verdict(reached, score, progress), decision

    def drawn(self, codes: Array, at: Array, chances: Sequence[Chance]) -> Array:
        """Whether each row reaches its goal under each draw of its consequences, (n, draws) bool.

        The caller's own model is asked.
        """
        full = np.concatenate([self.space.columns(codes, at, chance) for chance in chances])
        whose = np.tile(at, len(chances))
        self.count(whose)
        answers, done = self.asker.own(full, whose, always=True)
        reached: Array = self.goals.judge(answers, whose).reached & done
        return reached.reshape(len(chances), len(at)).T

    def _first_sure(
        self, full: Array, at: Array, first: int, *, always: bool
    ) -> tuple[Answers, Array]:
        """Answers for rows of which the model itself, as it is, is asked about the `first`.

        What was said of the others before counts, and they are asked about as far as time goes;
        unless `always`.
        """
        self.count(at[:first])
        self.count(at[first:])
        sure, sure_done = self.asker.own(full[:first], at[:first], always=True)
        other = self.asker if self.asker.takes_codes else self.asker.own
        rest, rest_done = other(full[first:], at[first:], always=always)
        both = [np.concatenate(pair) for pair in zip(sure, rest, strict=True)]
        return Answers(*both), np.concatenate([sure_done, rest_done])

    @property
    def late(self) -> bool:
        """Whether the time of the call is over."""
        return self.asker.deadline is not None and self.asker.late

    @property
    def finished(self) -> Array:
        """Queries (Q,) that are over: no time or rows are left, or the model failed."""
        over = np.full(len(self.spent), self.late)
        over[list(self.asker.failed)] = True
        return over | (self.spent >= self.limit) if self.capped else over

    def missed(self, wanted: Array) -> Array:
        """Those of the `wanted` (Q,) bool that have a nearest miss and can be asked about it."""
        there = wanted & np.isfinite(self.miss_progress) & (not self.late)
        there[list(self.asker.failed)] = False
        return np.flatnonzero(there)

    def renew(self, queries: Array, rows: int) -> None:
        """Let queries (Q,) bool cost `rows` more, unless the caller set the limit."""
        if not self.capped:
            self.limit = np.where(queries, self.spent + rows, self.limit)
            self.ran_out &= ~queries | self.finished

    def dear(self, rows: Array) -> Array:
        """The queries (Q,) that cannot pay for so many `rows` (Q,) with half of what they may."""
        return self.capped & (2 * rows > self.limit - self.spent)

    def allow(self, rows: Array | int) -> None:
        """Let each query cost so many `rows` more, or fewer, where the caller set the limit."""
        if self.capped:
            self.limit = self.limit + rows

    @contextmanager
    def rationed(self, least: int = 0) -> Iterator[None]:
        """Let each query spend half of the rows it has left, where the caller set the limit.

        It may spend `least` at any rate. What comes next has the rest.
        """
        if not self.capped:
            yield
            return
        left = np.maximum(0, self.limit - self.spent)
        kept = np.minimum(left // 2, np.maximum(0, left - least))
        self.allow(-kept)
        try:
            yield
        finally:
            self.allow(kept)

    def _verdict(self, answers: Answers, done: Array, at: Array) -> Verdict:
        """What answers mean for the queries `at`, which pay for them."""
        self.count(at)
        if not done.all():
            self.ran_out[at[~done]] = True
        found = self.goals.judge(answers, at)
        progress = np.where(done, found.progress, -np.inf)
        return Verdict(found.reached & done, found.score, progress)

    def _of_some(self, full: Array, at: Array, rows: Array) -> Verdict:
        """The verdict where only `rows` are asked about."""
        spread = (np.zeros(len(at), bool), np.zeros(len(at)), np.full(len(at), -np.inf))
        if len(rows):
            answers, done = self.asker(full.take(rows, axis=0), at[rows])
            for target, values in zip(spread, self._verdict(answers, done, at[rows]), strict=True):
                target[rows] = values
        return Verdict(*spread)

    def affordable(self, at: Array, turn: Callable[[], Array]) -> Array:
        """Which of these rows will be scored, as far as that is known before they are made.

        It is known unless rules test whole rows first.
        """
        every = np.ones(len(at), bool)
        return every if self.space.bound_rows else self._affordable(at, every, turn)

    def _affordable(self, at: Array, wanted: Array, turn: Callable[[], Array] | None) -> Array:
        """Which of the wanted rows their queries can still pay for: by turn, then as they come."""
        demand = np.bincount(at[wanted], minlength=len(self.spent))
        left = self.limit - self.spent
        if (demand <= left).all():
            return wanted
        self.ran_out |= demand > left
        rows = np.flatnonzero(wanted)
        order = rows[np.lexsort((np.zeros(len(rows)) if turn is None else turn()[rows], at[rows]))]
        place = np.arange(len(rows)) - np.concatenate([[0], np.cumsum(demand)[:-1]])[at[order]]
        affordable = np.zeros(len(at), bool)
        affordable[order[place < left[at[order]]]] = True
        return affordable

    def count(self, at: Array) -> None:
        """Charge rows to the queries `at` they belong to."""
        counts = np.bincount(at, minlength=len(self.spent))
        self.spent += counts
        self.rounds += (counts > 0) * self.asker.oracle.calls_per_ask

    def _remember(self, codes: Array, at: Array, verdict: Verdict, lawful: Array) -> None:
        """Keep the nearest miss of every query, among rows that keep its constraints."""
        missed = lawful & ~verdict.reached & (verdict.progress > self.miss_progress[at])
        place = np.flatnonzero(missed)
        if not self.space.free:
            changed = self.space.changed(codes.take(place, axis=0), at[place])
            kept = changed.sum(axis=1) <= self.space.bounds.max_changes[at[place]]
            place = place[kept & ~(changed & ~self.space.changeable[at[place]]).any(axis=1)]
        np.maximum.at(self.miss_progress, at[place], verdict.progress[place])
        best = place[verdict.progress[place] == self.miss_progress[at[place]]][::-1]
        self.miss_codes[at[best]] = codes[best]
