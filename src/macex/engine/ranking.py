"""Steps three to six: numbers moved back toward the query, the order of examples, the answers.

What is selected is scored once more, together with its intervals, and only rows that still reach
their goals are returned. A row that fails (a model may answer differently a second time) is
replaced by the next best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.engine.batch import Checked, Outcome, OutcomeT, Spans
from macex.engine.intervals import probe
from macex.engine.robustness import drawn_reach, neighbours, no_surer, surer
from macex.schema import Array
from macex.stages.arrays import alike_lines, distinct
from macex.stages.finetune.section import Section, held, held_further
from macex.stages.finetune.trades import traded
from macex.stages.search.protocol import MOST_ROWS
from macex.stages.search.reduction import without_idle
from macex.stages.selection import PLAUSIBLE, Ranking, Standing, holding
from macex.stages.shapes import Found, Pool, Task

if TYPE_CHECKING:
    from macex.engine.options import Finetune
    from macex.models.judge import Judge


AT_ONCE = 64  # examples that are sooner looked at together than one after the other
WAVES = (1, 4, 12)  # how many of the nearest examples are looked at first, and then


class Ranked(NamedTuple):
    """Examples with their plausibility and their order: by query, best first."""

    pool: Pool
    plausibility: Array  # (E,)
    order: Array  # (E,)

    def without(self, gone: Array) -> Ranked:
        """The other examples."""
        place = np.cumsum(~gone) - 1
        order = place[self.order[~gone[self.order]]]
        return Ranked(self.pool.take(~gone), self.plausibility[~gone], order)

    def join(self, other: Ranked) -> Ranked:
        """The examples of both; no query has examples in both."""
        pool = Pool.join([self.pool, other.pool], self.pool.codes.shape[1])
        order = np.concatenate([self.order, len(self.pool) + other.order])
        order = order[np.argsort(pool.at[order], kind="stable")]
        return Ranked(pool, np.concatenate([self.plausibility, other.plausibility]), order)


def fine_tune(outcome: Outcome) -> Outcome:
    """Stage 4: the nearest few examples of each set of changed units, or those selected already."""
    task, options = outcome.task, outcome.fitted.options
    if outcome.chosen is not None:
        return replace(outcome, pool=_chosen_tuned(outcome, outcome.pool.take(outcome.chosen)))
    tune = None if task.prefer == "surest" or task.judge.late else options.finetune
    cheapest = task.prefer == "nearest" and bool(task.space.caused) and tune is not None
    outcome = _with_held(outcome) if cheapest else outcome
    standing = Standing.of(task, outcome.pool)
    short = standing.best(sets=task.count + 11, each=5)
    pool, standing = outcome.pool.take(short), standing.take(short)
    if tune is None or not len(pool):
        return replace(outcome, pool=pool)
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    near = task.count + (9 if task.prefer == "nearest" else 5)
    nearest = pool.take(standing.best(near, each=2))
    if task.grid is not None:
        nearest = nearest.take(~task.grid.settled(task.space, nearest.codes, nearest.at))
    if isinstance(tune, Section) and task.prefer == "fewest":
        tuned = Pool.join([*tune.on_the_way(task, nearest)], task.space.width)
    else:
        tuned = tune(task, nearest)
    if cheapest:
        tuned = Pool.join([tuned, _cheaper(task, tuned, tune)], task.space.width)
        if outcome.batch.requirements.draws:
            few = tuned.take(Standing.of(task, tuned).best(task.count + 3, each=1))
            tuned, pool = surer(outcome, few, tuned, pool)
    both = Pool.join([tuned, pool], task.space.width)
    both = both.take(distinct(both.at, both.codes))
    if task.count > 1 and task.additive:
        both = without_idle(task, both)
    return replace(outcome, pool=both)


def _with_held(outcome: Outcome) -> Outcome:
    """Also with examples in which some of what would follow is held."""
    task = outcome.task
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    more = held(task, outcome.found.candidates)
    return replace(outcome, pool=Pool.join([outcome.pool, more], task.space.width))


def _cheaper(task: Task, tuned: Pool, tune: Finetune) -> Pool:
    """The nearest examples that come of fine-tuned ones by holding more and by trades."""
    few = tuned.take(Standing.of(task, tuned).best(task.count + 3, each=1))
    further = held_further(task, few)
    further = further.take(Standing.of(task, further).best(task.count + 3, each=1))
    made = traded(task, Pool.join([few, further], task.space.width))
    return tune(task, made.take(Standing.of(task, made).best(task.count + 3, each=1)))


def _chosen_tuned(outcome: Outcome, pool: Pool) -> Pool:
    tune, task = outcome.fitted.options.finetune, outcome.task
    if tune is None or not len(pool):
        return pool
    task.judge.renew(np.ones(len(task.queries), bool), MOST_ROWS)
    pool = tune(task, pool)
    return pool.take(distinct(pool.at, pool.codes))


def nearest_first(outcome: Outcome) -> Outcome:
    """The printed rule ranks by proximity, whatever is preferred."""
    return replace(outcome, task=replace(outcome.task, prefer="nearest", band=None))


def rank(outcome: Outcome) -> Outcome:
    """Order the examples, plausible ones first among equals.

    Where the best is a single implausible change, all other single changes are tried, too.
    """
    ranked = ranking(outcome, outcome.pool)
    further = _second_look(outcome.task, outcome.found, ranked) if _looks_twice(outcome) else None
    if further is not None and len(further):
        again = np.isin(ranked.pool.at, further.at)
        pool = Pool.join([ranked.pool.take(again), further], outcome.task.space.width)
        second = ranking(outcome, pool.take(distinct(pool.at, pool.codes)))
        ranked = ranked.without(again).join(second)
    pool, plausibility, order = ranked
    task = replace(outcome.task, count=outcome.batch.question.n)  # no more than was asked for
    return replace(outcome, task=task, pool=pool, plausibility=plausibility, order=order)


def _looks_twice(outcome: Outcome) -> bool:
    proves, task = outcome.fitted.options.method.proves, outcome.task
    return proves and task.prefer == "fewest" and task.count == 1 and not task.judge.late


def _second_look(task: Task, found: Found, ranked: Ranked) -> Pool:
    """More single changes for queries whose best one is implausible: all other seen values."""
    nothing = Pool.empty(task.space.width)
    if not len(ranked.pool):
        return nothing
    at = ranked.pool.at[ranked.order]
    lead = ranked.order[np.concatenate([[True], at[1:] != at[:-1]])]
    best = ranked.pool.take(lead[ranked.plausibility[lead] < PLAUSIBLE])
    single = task.space.changed(best.codes, best.at).sum(axis=1) == 1
    if not single.any():
        return nothing
    open_ = np.zeros(len(task.queries), bool)
    open_[best.at[single]] = True
    rest, _ = task.rest(open_, found.candidates)
    codes, at, _ = rest.rows(task.queries, rest.real)
    if not len(at):
        return nothing
    verdict = task.judge(codes, at)
    good = verdict.reached
    return Pool(at[good], codes[good], verdict.progress[good])


def ranking(outcome: Outcome, pool: Pool) -> Ranked:
    """The plausibility of examples among the training rows that meet their goals, and their order.

    Where one answer is wanted the nearest few are looked at first: one of them that nothing speaks
    against comes before all that are farther, and those need no look; nor does an unstable one
    after a plausible one.
    """
    task = outcome.task
    full = task.space.columns(pool.codes, pool.at)
    found = np.full(len(pool), np.nan)
    standing = Ranking.of(task, pool)
    order = standing.order
    if task.judge.late:
        return Ranked(pool, found, order)
    place, turn = np.empty((2, len(pool)), int)
    place[order] = np.arange(len(pool))
    turn[order] = place[order] - np.searchsorted(pool.at[order], pool.at[order])
    settled, usual = np.zeros((2, len(task.queries)), bool)
    few = task.count == 1 and (task.band is None or not outcome.batch.requirements.asked)
    few &= len(pool) > AT_ONCE
    for wave in (*(WAVES if few else ()), len(pool) + 1):
        look = np.flatnonzero((turn < wave) & np.isnan(found) & ~settled[pool.at])
        look = look[~(usual[pool.at[look]] & standing.on_edge(place[look]))] if few else look
        if not len(look):
            continue
        found[look] = plausibility_of(outcome, pool.at[look], full[look])
        usual[pool.at[look[~(found[look] < PLAUSIBLE)]]] = True
        settled[pool.at[look[standing.leads(place[look], found[look])]]] = True
    return Ranked(pool, found, standing.order_with(found))


def plausibility_of(outcome: Outcome, at: Array, full: Array) -> Array:
    """The plausibility of rows; NaN where too few rows meet the goal, or time is over."""
    found, goals = np.full(len(at), np.nan), outcome.goals
    asked = np.unique(at)
    for queries in alike_lines(asked, goals.alike[asked][:, None]):
        if outcome.judge.late:
            break
        mine = goals.alike[at] == goals.alike[queries[0]]
        found[mine] = outcome.fitted.plausible(goals, int(queries[0])).share(full[mine])
    return found


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
    for _ in range(more if robust.asked and not judge.capped else ATTEMPTS):
        fresh = _chosen(outcome)
        fresh = fresh[~word.given[fresh]]
        fresh = fresh[_payable(outcome.task, judge, outcome.pool.at[fresh], 1 + robust.price)]
        if not len(fresh):
            break
        word.ask(outcome, fresh)
        if not word.barred.any():
            break
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
        if robust.asked:
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
