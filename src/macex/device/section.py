"""Stage 4: numbers moved back toward the query as far as they go.

As `macex.stages.finetune.section`: every round tries points on the line from what is known to fail
to the present value, one number at a time and all together, and to take each change back; the best
point that still reaches the goal becomes the example. Some points that were passed are kept: they
are farther from the query, but may be more usual. An example is what it sets in S columns, its
*slots*; a slot that is taken back holds the query's own value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.device.arrays import Array, along, at_each, best_of, fused
from macex.device.layout import DeviceLayout
from macex.device.verdicts import DeviceJudge
from macex.schema import MISSING
from macex.stages.finetune.section import PASSED, Section


class Examples(NamedTuple):
    """Examples that reach their goals."""

    own: Array  # (e, d) the queries they are made from
    columns: Array  # (e, S)
    values: Array  # (e, S)
    progress: Array  # (e,)


class DeviceTried(NamedTuple):
    """Points on lines: of each example what was tried in one slot, the others being kept."""

    points: Array  # (e, S, n)
    real: Array  # (e, S, n) bool
    reached: Array  # (e, S, n) bool
    progress: Array  # (e, S, n)

    def take(self, examples: Array) -> DeviceTried:
        """Those of some examples."""
        return DeviceTried(*(part[examples] for part in self))


class _DeviceTrials(NamedTuple):
    """Values to be tried in the slots of every example, and which of them are worth it."""

    values: Array  # (e, n, S)
    real: Array  # (e, n) bool


class _Frame(NamedTuple):
    """What stays the same while examples are refined."""

    own: Array  # (e, S) the queries' values in the slots
    floor: Array  # (e, S)
    ceiling: Array  # (e, S)
    numbers: Array  # (e, S) bool: may move


def refined(
    judge: DeviceJudge, layout: DeviceLayout, section: Section, examples: Examples
) -> tuple[Examples, DeviceTried]:
    """The examples, each as near to its query as it goes, and what the first round tried."""
    xp, columns = layout.place.xp, examples.columns
    line = layout.place.arange(columns.shape[0])
    frame = _frame(layout, examples)
    values, progress = examples.values, examples.progress
    fence, moved = frame.own, xp.ones_like(progress, dtype=xp.bool)
    for turn in range(section.rounds + columns.shape[1] - 1):
        trials = _taken_back(layout, frame, values, moved)
        if turn < section.rounds:
            lines = _lines(layout, section, columns, frame, values, fence)
            together = _diagonal(layout, columns, frame, values, fence, moved)
            trials = _joined(layout, [lines, together, trials])
        wide = xp.broadcast_to(columns[:, None, :], trials.values.shape)
        reached, found = judge.changes(examples.own, wide, trials.values, trials.real)
        if turn < section.rounds:
            tried = _tried(layout, section, trials, reached, found)
            fence = _raised(layout, fence, tried)
            if not turn:
                first = tried
        best, moved = _best(layout, columns, frame, values, trials, reached)
        values = xp.where(moved[:, None], trials.values[line, best], values)
        progress = xp.where(moved, at_each(found, best), progress)
    return examples._replace(values=values, progress=progress), first


def on_the_way(
    layout: DeviceLayout, values: Array, tried: DeviceTried
) -> tuple[Array, Array, Array]:
    """Some points that were passed: values (e, n, S), their progress (e, n), and which are real.

    Of those on a line that reach the goal every fourth is kept, the nearest first.
    """
    xp, count = layout.place.xp, tried.points.shape[2]
    total = xp.cumulative_sum(xp.astype(tried.reached, xp.int64), axis=2)
    wanted = 1 + PASSED * layout.place.arange(-(-count // PASSED))
    before = total[:, :, None, :] < wanted[:, None]  # (e, S, m, n)
    order = xp.sum(xp.astype(before, xp.int64), axis=3)
    real, order = order < count, xp.clip(order, 0, count - 1)
    points, progress = (along(part, order, axis=2) for part in (tried.points, tried.progress))
    made = _one_by_one(layout, values, points, real)
    return made.values, xp.reshape(progress, made.real.shape), made.real


def _frame(layout: DeviceLayout, examples: Examples) -> _Frame:
    line = layout.place.arange(examples.columns.shape[0])[:, None]
    floor, ceiling = layout.bounds(examples.own)
    own = examples.own[line, examples.columns]
    plain = (own > MISSING) & (examples.values > MISSING)
    numbers = layout.number[examples.columns] & plain
    return _Frame(own, floor[line, examples.columns], ceiling[line, examples.columns], numbers)


@fused
def _lines(
    layout: DeviceLayout,
    section: Section,
    columns: Array,
    frame: _Frame,
    values: Array,
    fence: Array,
) -> _DeviceTrials:
    """Points of one slot between its fence and its present value, slot after slot."""
    xp, place = layout.place.xp, layout.place
    share = xp.astype(place.arange(section.points) + 1, xp.float64) / (section.points + 1)
    low, high = fence[:, :, None], values[:, :, None]
    usable = (frame.numbers & (values != frame.own))[:, :, None]
    points = layout.snapped(low + share * (high - low), columns[:, :, None])  # (e, S, points)
    ok = usable & (points > xp.minimum(low, high)) & (points < xp.maximum(low, high))
    ok = ok & (points >= frame.floor[:, :, None]) & (points <= frame.ceiling[:, :, None])
    ok[:, :, 1:] = ok[:, :, 1:] & (points[:, :, 1:] != points[:, :, :-1])
    return _one_by_one(layout, values, points, ok)


def _one_by_one(layout: DeviceLayout, values: Array, points: Array, real: Array) -> _DeviceTrials:
    """The values (e, S) with each of the points (e, S, n) in the slot it is for."""
    xp, place, (count, size, each) = layout.place.xp, layout.place, points.shape
    slot = place.arange(size)
    mine = slot[:, None, None] == slot  # (S, 1, S)
    made = xp.where(mine, points[:, :, :, None], values[:, None, None, :])
    return _DeviceTrials(
        xp.reshape(made, (count, size * each, size)), xp.reshape(real, (count, size * each))
    )


def _diagonal(
    layout: DeviceLayout, columns: Array, frame: _Frame, values: Array, fence: Array, moved: Array
) -> _DeviceTrials:
    """Points where all numbers of an example move together, for examples that just moved."""
    xp, place = layout.place.xp, layout.place
    moving = frame.numbers & (values != frame.own)
    several = moved & (xp.sum(xp.astype(moving, xp.int64), axis=1) > 1)
    share = place.array(np.array([[0.25], [0.5], [0.75]]))
    low, now = fence[:, None, :], values[:, None, :]
    point = layout.snapped(low + share * (now - low), columns[:, None, :])  # (e, 3, S)
    ok = moving[:, None, :] & (point != frame.own[:, None, :])
    ok = ok & (point >= frame.floor[:, None, :]) & (point <= frame.ceiling[:, None, :])
    found = xp.where(ok, point, now)
    return _DeviceTrials(found, several[:, None] & xp.any(found != now, axis=2))


def _taken_back(layout: DeviceLayout, frame: _Frame, values: Array, moved: Array) -> _DeviceTrials:
    """One change undone at a time, where more than one was made."""
    xp = layout.place.xp
    changed = values != frame.own
    several = moved & (xp.sum(xp.astype(changed, xp.int64), axis=1) > 1)
    return _one_by_one(
        layout, values, frame.own[:, :, None], (changed & several[:, None])[:, :, None]
    )


def _joined(layout: DeviceLayout, trials: list[_DeviceTrials]) -> _DeviceTrials:
    return _DeviceTrials(
        *(layout.place.xp.concat(part, axis=1) for part in zip(*trials, strict=True))
    )


def _tried(
    layout: DeviceLayout, section: Section, trials: _DeviceTrials, reached: Array, progress: Array
) -> DeviceTried:
    """The trials on lines, which are the first of all."""
    xp, (count, _, size) = layout.place.xp, trials.values.shape
    shape, slot = (count, size, section.points), layout.place.arange(size)
    lines = xp.reshape(trials.values[:, : size * section.points], (*shape, size))
    point = lines[:, slot, :, slot]  # the slot that moves on each line, first
    parts = trials.real, reached, progress
    return DeviceTried(
        xp.permute_dims(point, (1, 0, 2)),
        *(xp.reshape(part[:, : size * section.points], shape) for part in parts),
    )


@fused
def _raised(layout: DeviceLayout, fence: Array, tried: DeviceTried) -> Array:
    """The fences moved to the last point before the first one that reaches the goal."""
    xp = layout.place.xp
    away = xp.abs(tried.points - fence[:, :, None])
    first = xp.min(xp.where(tried.reached, away, xp.inf), axis=2, keepdims=True)
    fails = tried.real & ~tried.reached & (away < first)
    last = xp.argmax(xp.where(fails, away, -1.0), axis=2)
    final = along(tried.points, last[:, :, None], axis=2)[:, :, 0]
    return xp.where(xp.any(fails, axis=2), final, fence)


def _best(
    layout: DeviceLayout,
    columns: Array,
    frame: _Frame,
    values: Array,
    trials: _DeviceTrials,
    reached: Array,
) -> tuple[Array, Array]:
    """The trial to move to: fewer changes, or as many and nearer; and whether it is better."""
    better, changes, distance = _better(layout, columns, frame.own, values, trials.values, reached)
    return best_of(better, changes, distance), layout.place.xp.any(better, axis=1)


@fused
def _better(
    layout: DeviceLayout, columns: Array, own: Array, values: Array, tried: Array, reached: Array
) -> tuple[Array, Array, Array]:
    """Which trials are better than what there is, how much they change and how far they are."""
    changes, distance = measured(layout, own[:, None, :], tried, columns[:, None, :])
    now_changes, now = measured(layout, own, values, columns)
    better = reached & (
        (changes < now_changes[:, None])
        | ((changes == now_changes[:, None]) & (distance < now[:, None] - 1e-12))
    )
    return better, changes, distance


def measured(
    layout: DeviceLayout, own: Array, values: Array, columns: Array
) -> tuple[Array, Array]:
    """How many slots differ from the query, and how far in all: sums over the last axis."""
    xp = layout.place.xp
    changes = xp.sum(xp.astype(values != own, xp.int64), axis=-1)
    distance = xp.sum(layout.distances(own, values, columns), axis=-1)
    return changes, xp.round(distance * 1e9) / 1e9
