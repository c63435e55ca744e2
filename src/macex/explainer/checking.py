"""The last step: what is to be returned is scored once more, together with its intervals.

Only rows that still reach their goals are returned. A row that fails the check (a model may answer
differently a second time) is dropped and the next best one takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.ask.ground import special

if TYPE_CHECKING:
    from macex.models.judge import Judge
    from macex.stages.selection import Selection
    from macex.stages.shapes import Pool, Task

Array = np.ndarray[Any, np.dtype[Any]]

POINTS = 12
ATTEMPTS = 3


class Ranked(NamedTuple):
    """Examples with their plausibility and their order: by query, best first."""

    pool: Pool
    plausibility: Array  # (E,)
    order: Array  # (E,)


class Span(NamedTuple):
    """The run of tested values of one unit around its new value."""

    low: float
    high: float
    tested: int
    exact: bool


class Checked(NamedTuple):
    """The answers: by query, best first."""

    pool: Pool
    plausibility: Array  # (C,)
    score: Array  # (C,)
    decision: Array  # (C,)
    spans: list[dict[int, Span]]  # per answer, by unit


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
        local = selection(np.arange(len(mine)), changed[mine], task.count)
        chosen.append(mine[local])
    return chosen


def check(selection: Selection, task: Task, judge: Judge, ranked: Ranked) -> Checked:
    """Choose, score again, and keep what holds."""
    pool = ranked.pool
    barred = np.zeros(len(pool), bool)
    score, decision = np.zeros(len(pool)), np.zeros(len(pool), int)
    spans: dict[int, dict[int, Span]] = {}
    for _ in range(ATTEMPTS):
        chosen = pick(selection, task, ranked, barred)
        fresh = np.array([i for mine in chosen for i in mine if int(i) not in spans], dtype=np.intp)
        if not len(fresh):
            break
        probes = _probes(task, judge, pool, fresh)
        codes = np.concatenate([pool.codes[fresh], probes.codes])
        at = np.concatenate([pool.at[fresh], pool.at[probes.example]])
        verdict, decided = judge.confirm(codes, at)
        score[fresh], decision[fresh] = verdict.score[: len(fresh)], decided[: len(fresh)]
        barred[fresh] = ~verdict.reached[: len(fresh)]
        spans.update({int(i): {} for i in fresh})
        _measure_spans(task, pool, probes, verdict.reached[len(fresh) :], spans)
        if not barred[fresh].any():
            break
    kept = [i for mine in pick(selection, task, ranked, barred) for i in mine if int(i) in spans]
    final = np.array(kept, dtype=np.intp)
    return Checked(
        pool.take(final),
        ranked.plausibility[final],
        score[final],
        decision[final],
        [spans[int(i)] for i in final],
    )


class _Probes(NamedTuple):
    """Rows that test how far a changed number can go: twelve outward points, one inward."""

    codes: Array  # (n, U)
    example: Array  # (n,)
    lines: list[
        tuple[int, Array, Array, Array, Array]
    ]  # unit, examples, points, fresh, row numbers


def _probes(task: Task, judge: Judge, pool: Pool, chosen: Array) -> _Probes:
    numbers = np.array([not unit.discrete for unit in task.space.units])
    own = task.queries[pool.at[chosen]]
    moved = numbers & (pool.codes[chosen] != own) & ~special(own) & ~special(pool.codes[chosen])
    moved &= ~_poor(judge, pool.at[chosen], moved)[:, None]
    codes, example, lines, total = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)], [], 0
    for place in np.flatnonzero(moved.any(axis=0)):
        who = chosen[moved[:, place]]
        points = _line(task, pool, int(place), who)
        fresh = _admitted(task, pool, int(place), who, points)
        line, column = np.nonzero(fresh)
        rows = pool.codes[who[line]]
        rows[:, place] = points[line, column]
        codes.append(rows)
        example.append(who[line])
        lines.append((int(place), who, points, fresh, np.arange(total, total + len(line))))
        total += len(line)
    return _Probes(np.concatenate(codes), np.concatenate(example), lines)


def _poor(judge: Judge, at: Array, moved: Array) -> Array:
    """Queries whose rows would not suffice for intervals."""
    if not judge.capped:
        return np.zeros(len(at), bool)
    needed = np.zeros(len(judge.limit), int)
    np.add.at(needed, at, moved.sum(axis=1) * (POINTS + 1))
    poor: Array = (judge.limit - judge.spent < needed)[at]
    return poor


def _line(task: Task, pool: Pool, place: int, who: Array) -> Array:
    """Points (E, 1 + POINTS): the first one step inward, the others outward to the range's end."""
    unit, bounds = task.space.units[place], task.space.bounds
    column, at = unit.members[0], pool.at[who]
    after, own = pool.codes[who, place], task.queries[at, place]
    up = after > own
    end = np.where(
        up,
        np.minimum(bounds.ceiling[at, column], unit.high),
        np.maximum(bounds.floor[at, column], unit.low),
    )
    step = unit.step or (unit.high - unit.low) / 1000
    inward = np.where(up, np.maximum(after - step, own), np.minimum(after + step, own))
    room = np.abs(end - after)
    stride = np.where(room <= 2 * POINTS * unit.step, unit.step, room / POINTS)
    outward = after[:, None] + np.where(up, 1, -1)[:, None] * stride[:, None] * np.arange(
        1, POINTS + 1
    )
    outward = np.where(
        up[:, None], np.minimum(outward, end[:, None]), np.maximum(outward, end[:, None])
    )
    return task.space.snap(place, np.concatenate([inward[:, None], outward], axis=1))


def _admitted(task: Task, pool: Pool, place: int, who: Array, points: Array) -> Array:
    """Which points are new, and may be set."""
    at = np.broadcast_to(pool.at[who][:, None], points.shape)
    fresh = task.space.admits_one(at, place, points) & (points != pool.codes[who, place][:, None])
    fresh[:, 2:] &= points[:, 2:] != points[:, 1:-1]
    return fresh


def _measure_spans(
    task: Task, pool: Pool, probes: _Probes, reached: Array, spans: dict[int, dict[int, Span]]
) -> None:
    for place, who, points, fresh, rows in probes.lines:
        ok = np.zeros(points.shape, bool)
        ok[fresh] = reached[rows]
        same = np.zeros(points.shape, bool)
        same[:, 1:] = points[:, 1:] == np.concatenate(
            [pool.codes[who, place][:, None], points[:, 1:-1]], axis=1
        )
        run = np.logical_and.accumulate(ok[:, 1:] | same[:, 1:], axis=1)
        step = task.space.units[place].step
        for line, example in enumerate(who):
            after = float(pool.codes[example, place])
            far = float(points[line, 1:][run[line]][-1]) if run[line].any() else after
            near = float(points[line, 0]) if ok[line, 0] else after
            stride = np.abs(np.diff(np.concatenate([[after], points[line, 1:][~same[line, 1:]]])))
            ended = bool((~run[line]).any()) or far == float(points[line, -1])
            exact = bool(step) and not ok[line, 0] and ended and bool(np.allclose(stride, step))
            low, high = min(near, after, far), max(near, after, far)
            spans[int(example)][place] = Span(low, high, int(fresh[line].sum()) + 1, exact)
