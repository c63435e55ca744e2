"""How far the numbers of a counterfactual can move together.

The model is asked about a grid of combinations around the counterfactual: every value where there
are few, one for each cell of a tree model, else evenly spaced ones. From the counterfactual's own
place the box grows as long as all of it reaches the goal. What was not tested whole is sampled, and
shrinks until a whole sample holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.ask.units import unit_codes
from macex.engine.intervals import known_cells
from macex.engine.itinerary import steps_of
from macex.engine.pipeline import open_batch
from macex.explanation.box import LOOKS, Box, Range
from macex.schema import Array

if TYPE_CHECKING:
    from macex.engine.batch import Batch, Outcome
    from macex.engine.fitted import Fitted
    from macex.explanation import Counterfactual
    from macex.explanation.steps import Steps

MOST = 4000  # combinations of the grid
SAMPLES = 510  # combinations of what was not tested whole: at most 1 % fail, with 95 % confidence


class BoxAxis(NamedTuple):
    """The values of one changed number that are tried, and what each stands for."""

    unit: int
    column: int
    first: Array  # (v,) sorted
    last: Array  # (v,) the end of what each stands for
    whole: bool  # together they stand for every value
    at: int  # where the counterfactual's own is


@dataclass(frozen=True)
class Boxing:
    """Makes the box around an answer to one query of a batch, when it is asked for.

    It holds the model and the training rows, so it does not travel: a copy in another process is
    None.
    """

    fitted: Fitted
    batch: Batch
    query: int

    def __call__(self, found: Counterfactual) -> Box:
        """The box around the counterfactual."""
        return box_of(self._opened(), found)

    def steps(self, found: Counterfactual, costs: Any, *, dense: bool) -> Steps:
        """The steps to the counterfactual."""
        outcome = self._opened()
        return steps_of(outcome, found, _codes(outcome, found), costs, dense=dense)

    def _opened(self) -> Outcome:
        """The query alone, asked once more."""
        alone = self.batch.take(np.array([self.query]))
        asked = replace(alone.question, max_rows=None, timeout_s=None)
        alone = replace(alone, question=asked, deadline=None, spent=0, remembered=None)
        return open_batch(self.fitted, alone)

    def __reduce__(self) -> tuple[Any, ...]:
        return nowhere, ()


def nowhere() -> None:
    """What is left of `Boxing` in another process."""


def box_of(outcome: Outcome, found: Counterfactual) -> Box:
    """The box around a counterfactual of the one query of a batch."""
    codes = _codes(outcome, found)
    axes = _axes(outcome, codes)
    holds = _tester(outcome, codes, axes)
    low, high, exact = _grown(axes, holds)
    sampled = 0
    if not exact and axes:
        low, high, sampled = _verified(outcome, axes, holds, low, high)
    tested = int(outcome.judge.spent[0]) - 1
    return _box(outcome, found, axes, (low, high), exact=exact, tested=tested, sampled=sampled)


def _codes(outcome: Outcome, found: Counterfactual) -> Array:
    """The counterfactual by unit, without what follows from its changes."""
    space = outcome.task.space
    full = space.own[0].copy()
    for change in found.changes:
        place = space.ground.schema.position(change.column)
        full[place] = found.source.codes[place]
    return unit_codes(space.units, full[None])[0]


def _axes(outcome: Outcome, codes: Array) -> list[BoxAxis]:
    """The changed numbers, with the values to be tried."""
    task = outcome.task
    moved = np.flatnonzero(task.space.moved_numbers(codes[None], np.zeros(1, int))[0])
    most = int(MOST ** (1 / max(1, len(moved))))
    return [_axis(outcome, int(place), float(codes[place]), most) for place in moved]


def _axis(outcome: Outcome, place: int, own: float, most: int) -> BoxAxis:
    space, grid = outcome.task.space, outcome.task.grid
    column = space.units[place].members[0]
    kind = space.ground.schema.columns[column]
    bounds = space.bounds
    low = max(kind.low, float(bounds.floor[0, column]))
    high = min(kind.high, float(bounds.ceiling[0, column]))
    low, high = min(low, own), max(high, own)
    steps = (high - low) / kind.step if kind.step else np.inf
    if (
        grid is not None
        and known_cells(outcome.task, place)[0]
        and len(grid.cells[column].first) <= most
    ):
        cells = grid.cells[column]
        inside = (cells.last >= low) & (cells.first <= high)
        first = np.clip(cells.first[inside], low, high)
        last = np.clip(cells.last[inside], low, high)
        whole = True
    else:
        whole = bool(steps < most)
        count = round(steps) + 1 if whole else max(3, min(most, 33))
        first = np.unique(np.append(space.snap(place, np.linspace(low, high, count)), own))
        last = first
    at = max(0, int(np.searchsorted(first, own, side="right")) - 1)
    return BoxAxis(place, column, first, last, whole, at)


Tester = Callable[[Array], Array]


def _tester(outcome: Outcome, codes: Array, axes: list[BoxAxis]) -> Tester:
    """A function of values of the changed numbers (n, axes): whether all else kept, they hold."""
    units = [axis.unit for axis in axes]

    def holds(values: Array) -> Array:
        rows = np.repeat(codes[None], len(values), axis=0)
        rows[:, units] = values
        return outcome.judge.confirm(rows, np.zeros(len(rows), int))[0].reached

    return holds


def _grown(axes: list[BoxAxis], holds: Tester) -> tuple[Array, Array, bool]:
    """The best of the boxes that grow from the counterfactual, as places on the axes."""
    if not axes:
        return np.zeros(0, int), np.zeros(0, int), True
    shape = tuple(len(axis.first) for axis in axes)
    places = np.indices(shape).reshape(len(axes), -1).T
    values = np.column_stack([axis.first[places[:, at]] for at, axis in enumerate(axes)])
    ok = holds(values).reshape(shape)
    start = np.array([axis.at for axis in axes])
    ok[tuple(start)] = True  # the counterfactual itself stands for its cell
    orders = list(permutations(range(len(axes))))[:24]
    grown = [_one(ok, start, order, whole) for order in orders for whole in (True, False)]
    sizes = np.array(shape, float)
    low, high = max(grown, key=lambda box: float(np.prod((box[1] - box[0] + 1) / sizes)))
    return low, high, all(axis.whole for axis in axes)


def _one(ok: Array, start: Array, order: tuple[int, ...], whole: bool) -> tuple[Array, Array]:
    """One box: each axis in turn as far as it goes, or all of them step by step."""
    low, high = start.copy(), start.copy()
    moving = True
    while moving:
        moving = False
        for axis in order:
            for ends, step in ((high, 1), (low, -1)):
                while _free(ok, low, high, axis, int(ends[axis]) + step):
                    ends[axis] += step
                    moving = True
                    if not whole:
                        break
    return low, high


def _free(ok: Array, low: Array, high: Array, axis: int, place: int) -> bool:
    """Whether the box may be extended by one place on one side."""
    if not 0 <= place < ok.shape[axis]:
        return False
    slab = [slice(low[at], high[at] + 1) for at in range(ok.ndim)]
    slab[axis] = slice(place, place + 1)
    return bool(ok[tuple(slab)].all())


def _verified(
    outcome: Outcome, axes: list[BoxAxis], holds: Tester, low: Array, high: Array
) -> tuple[Array, Array, int]:
    """The box shrunk until a whole sample of it holds."""
    schema = outcome.fitted.ground.schema
    draw = np.random.default_rng(outcome.fitted.options.random_state)
    for _ in range(LOOKS):
        lows = np.array([axis.first[at] for axis, at in zip(axes, low, strict=True)])
        highs = np.array([axis.last[at] for axis, at in zip(axes, high, strict=True)])
        columns = [schema.columns[axis.column] for axis in axes]
        values = lows + draw.random((SAMPLES, len(axes))) * (highs - lows)
        values = np.column_stack([c.snap(values[:, at]) for at, c in enumerate(columns)])
        ok = holds(np.clip(values, lows, highs))
        if ok.all():
            return low, high, SAMPLES
        for value in values[~ok]:
            _cut(axes, low, high, value)
    point = np.array([axis.at for axis in axes])
    return point, point, SAMPLES


def _cut(axes: list[BoxAxis], low: Array, high: Array, value: Array) -> None:
    """Leave a combination that fails outside, by the side that costs least."""
    best: tuple[float, Array, int, int] | None = None
    for at, axis in enumerate(axes):
        if value[at] < axis.first[low[at]] or value[at] > axis.last[high[at]]:
            return
        width = high[at] - low[at] + 1
        up = int(np.searchsorted(axis.first, value[at], side="right"))
        down = int(np.searchsorted(axis.last, value[at], side="left")) - 1
        for ends, place, lost in ((low, up, up - low[at]), (high, down, high[at] - down)):
            keeps = place <= axis.at if ends is low else place >= axis.at
            if keeps and (best is None or lost / width < best[0]):
                best = lost / width, ends, at, place
    if best is None:
        for at, axis in enumerate(axes):
            low[at] = high[at] = axis.at
    else:
        best[1][best[2]] = best[3]


def _box(
    outcome: Outcome,
    found: Counterfactual,
    axes: list[BoxAxis],
    ends: tuple[Array, Array],
    *,
    exact: bool,
    tested: int,
    sampled: int,
) -> Box:
    columns = outcome.task.space.ground.schema.columns
    ranges = []
    for axis, low, high in zip(axes, *ends, strict=True):
        kind = columns[axis.column]
        first, last = float(axis.first[low]), float(axis.last[high])
        opened = first <= kind.low, last >= kind.high
        ranges.append(Range(kind.name, kind.value(first), kind.value(last), *opened))
    named = {one.column for one in ranges}
    settings = tuple((c.column, c.after) for c in found.changes if c.column not in named)
    return Box(tuple(ranges), settings, exact, tested, sampled, found.names)
