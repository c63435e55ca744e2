"""The last step: what is to be returned is scored once more, together with its intervals.

Only rows that still reach their goals are returned. A row that fails the check (a model may answer
differently a second time) is dropped and the next best one takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.engine.cell_intervals import Span
from macex.engine.intervals import probe
from macex.engine.sturdy import Sturdiness, neighbours
from macex.schema import Array
from macex.stages.selection import holding
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.models.judge import Judge
    from macex.stages.selection import Selection
    from macex.stages.shapes import Task


ATTEMPTS = 3
MORE_ATTEMPTS = 12  # where answers must be sturdy
Spans = dict[tuple[int, int], Span]  # (answer, column) -> how far the new number can go


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


class Checked(NamedTuple):
    """The answers: by query, best first."""

    pool: Pool
    plausibility: Array  # (C,)
    score: Array  # (C,)
    decision: Array  # (C,)
    spans: Spans
    robustness: Array  # (C,) NaN where it was not asked for
    fragile: Array  # (Q,) bool: reached, but by nothing that was sturdy enough


def pick(
    selection: Selection, task: Task, ranked: Ranked, barred: Array | None = None
) -> list[Array]:
    """For every query the positions of its chosen examples, best first (stage 3)."""
    order = ranked.order if barred is None else ranked.order[~barred[ranked.order]]
    pool, chosen = ranked.pool, []
    owner = pool.at[order]
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
        local = selection(
            np.arange(len(mine)), changed[mine], task.count, fewest=task.prefer == "fewest"
        )
        chosen.append(mine[local])
    return chosen


def check(
    selection: Selection,
    task: Task,
    judge: Judge,
    ranked: Ranked,
    sturdy: Sturdiness = Sturdiness(),  # noqa: B008 - it is frozen
) -> Checked:
    """Choose, score again, and keep what holds."""
    pool = ranked.pool
    barred = np.zeros(len(pool), bool)
    score, decision = np.zeros(len(pool)), np.zeros(len(pool), int)
    checked, spans = np.zeros(len(pool), bool), Spans()
    robustness, weak = np.full(len(pool), np.nan), np.zeros(len(pool), bool)
    for _ in range(MORE_ATTEMPTS if sturdy and not judge.capped else ATTEMPTS):
        chosen = pick(selection, task, ranked, barred)
        fresh = np.concatenate([*chosen, np.zeros(0, np.intp)])
        fresh = fresh[~checked[fresh]]
        fresh = fresh[_payable(task, judge, pool.at[fresh], 1 + sturdy.rows)]
        if not len(fresh):
            break
        probes = probe(task, judge, pool, fresh)
        around = neighbours(task.space, pool.codes[fresh]) if sturdy.rows else pool.codes[:0]
        codes = np.concatenate([pool.codes[fresh], probes.codes, around])
        whose = np.repeat(pool.at[fresh], sturdy.rows)
        at = np.concatenate([pool.at[fresh], pool.at[probes.example], whose])
        verdict, decided = judge.confirm(codes, at, len(fresh), loose=len(around))
        score[fresh], decision[fresh] = verdict.score[: len(fresh)], decided[: len(fresh)]
        barred[fresh] = ~verdict.reached[: len(fresh)]
        if sturdy:
            held = verdict.reached[len(codes) - len(around) :].reshape(len(fresh), sturdy.rows)
            robustness[fresh] = held.mean(axis=1) if sturdy.rows else np.nan
            weak[fresh] = robustness[fresh] < (sturdy.least or 0.0)
            weak[fresh] &= ~barred[fresh]
            sound = fresh[~weak[fresh] & ~barred[fresh]]
            weak[sound] = ~sturdy.agreed(judge, pool.codes[sound], pool.at[sound])
            barred[fresh] |= weak[fresh]
        checked[fresh] = True
        spans.update(probes.spans(task.space, verdict.reached[len(fresh) :]))
        if not barred[fresh].any() or judge.late:
            break
    chosen = pick(selection, task, ranked, barred)
    final = np.concatenate([*chosen, np.zeros(0, np.intp)])
    final = final[checked[final]]
    fragile = np.zeros(len(task.queries), bool)
    fragile[pool.at[weak]] = True
    fragile[pool.at[final]] = False
    turn = {example: place for place, example in enumerate(final.tolist())}
    return Checked(
        pool.take(final),
        ranked.plausibility[final],
        score[final],
        decision[final],
        {(turn[i], column): span for (i, column), span in spans.items() if i in turn},
        robustness[final],
        fragile,
    )


def _payable(task: Task, judge: Judge, at: Array, each: int) -> Array:
    """Which answers, of the queries `at`, can be checked with what the caller lets a query cost.

    The first check always can: its rows were set aside.
    """
    if not judge.capped:
        return np.ones(len(at), bool)
    price = each * np.bincount(at, minlength=len(judge.spent))
    return np.asarray(judge.spent + price <= judge.limit + each * task.count)[at]
