"""The order of the changes of a counterfactual, and what follows at each step.

Every part of the way is a row: some changes are done, others are not yet, and what has causes
follows. Of all orders in which each such row keeps the caller's rules, so that one change can be
the condition of another, the one is taken that comes near the goal soonest. With `dense` numbers go
in several steps, and the way leads through rows that look usual (as FACE does; Poyiadzi et al.,
2020), on a grid between the row and its counterfactual. What only goes together is done at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.rules import FrameRule, TextRule
from macex.errors import OptionError
from macex.explanation.steps import OrderedStep, StepCosts, StepMove, Steps
from macex.schema import Array

if TYPE_CHECKING:
    from macex.engine.batch import Outcome
    from macex.explanation import Counterfactual

MOST = 1500  # rows on the grid
MOST_CHANGES = 10
LEVELS = 5  # steps of a number, at most, through dense regions
TOGETHER = 100.0  # what it costs a way to do two changes at once
LEAST = 1e-3  # plausibility, as its logarithm is taken

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """The rows on the way: for every place how far each change has gone."""

    units: tuple[int, ...]
    places: tuple[Levels, ...]  # inputs first: in lexicographic order
    codes: Array  # (n, U)
    full: Array  # (n, d)
    kept: Array  # (n,) bool: the rules hold
    weight: Array  # (n,)
    score: Array  # (n,)
    decision: Array  # (n,)


def steps_of(
    outcome: Outcome, found: Counterfactual, codes: Array, costs: Any, *, dense: bool
) -> Steps:
    """The steps from the one query of a batch to `codes` (U,) of its counterfactual."""
    space = outcome.task.space
    prices = StepCosts.of({} if costs is None else costs, space.ground.schema.names)
    units = tuple(np.flatnonzero(space.changed(codes[None], np.zeros(1, int))[0]).tolist())
    start = float(outcome.verdict.score[0])
    if not units:
        return Steps(start, (), found.names)
    if len(units) > MOST_CHANGES:
        raise OptionError(f"{len(units)} changes have too many orders; at most {MOST_CHANGES} do")
    lattice = _lattice(outcome, codes, units, dense=dense)
    way = _way(lattice)
    if way is None:
        lattice = _lattice(outcome, codes, units, dense=False)
        way = _way(lattice) or _way(lattice, together=True) or [0, len(lattice.places) - 1]
    return Steps(start, _told(outcome, lattice, _merged(lattice, way), prices), found.names)


def _lattice(outcome: Outcome, goal: Array, units: tuple[int, ...], *, dense: bool) -> Lattice:
    space, own = outcome.task.space, outcome.task.queries[0]
    each = min(LEVELS, int(MOST ** (1 / len(units))) - 1) if dense else 1
    number = space.moved_numbers(goal[None], np.zeros(1, int))[0]
    values = [_values(outcome, unit, own, goal, each if number[unit] else 1) for unit in units]
    places = tuple(product(*(range(len(one)) for one in values)))
    codes = np.repeat(own[None], len(places), axis=0)
    for turn, (unit, offered) in enumerate(zip(units, values, strict=True)):
        codes[:, unit] = np.array([offered[place[turn]] for place in places])
    at = np.zeros(len(places), int)
    full = space.columns(codes, at)
    outcome.judge.count(at)
    answers, _ = outcome.judge.asker.own(full, at, always=True)
    score = outcome.goals.judge(answers, at).score
    if dense:
        usual = np.nan_to_num(_usual(outcome, full), nan=1.0)
        weight = -np.log(np.maximum(usual, LEAST))
    else:
        span = float(score.max() - score.min()) or 1.0
        weight = (score.max() - score) / span
    kept = _kept(outcome, full)
    kept[[0, -1]] = True
    return Lattice(units, places, codes, full, kept, weight, score, answers.decision)


def _values(outcome: Outcome, unit: int, own: Array, goal: Array, each: int) -> list[float]:
    """What a unit takes on the way: its own value first, the counterfactual's last."""
    space, start, end = outcome.task.space, float(own[unit]), float(goal[unit])
    if each == 1:
        return [start, end]
    between = space.snap(unit, np.linspace(start, end, each + 1)[1:-1]).tolist()
    return list(dict.fromkeys([start, *between, end]))


def _usual(outcome: Outcome, full: Array) -> Array:
    """The plausibility of rows among all training rows, whatever their decision, (n,)."""
    share: Array = outcome.fitted.plausible_among(None).share(full)
    return share


def _kept(outcome: Outcome, full: Array) -> Array:
    """Whether rows keep the rules of the caller, (n,) bool."""
    space, at = outcome.task.space, np.zeros(len(full), int)
    ok = space.tellable(full, at)
    for test, bound, _ in space.rules:
        if bound[0] and isinstance(test, TextRule | FrameRule):
            ok &= test(full, space.own[at], at)
    return np.asarray(ok)


def _way(lattice: Lattice, *, together: bool = False) -> list[int] | None:
    """The places of the least weight from the first to the last, if rules let any through."""
    index = {place: at for at, place in enumerate(lattice.places)}
    best = np.full(len(index), np.inf)
    before = np.full(len(index), -1)
    best[0] = 0.0
    for at, place in enumerate(lattice.places[1:], 1):
        if not lattice.kept[at]:
            continue
        for earlier, moved in _earlier(place, together=together):
            here = best[index[earlier]] + lattice.weight[at] + TOGETHER * (moved - 1)
            if here < best[at]:
                best[at], before[at] = here, index[earlier]
    if not np.isfinite(best[-1]):
        return None
    way = [len(index) - 1]
    while way[-1]:
        way.append(int(before[way[-1]]))
    return way[::-1]


def _earlier(place: Levels, *, together: bool) -> Iterator[tuple[Levels, int]]:
    """The places from which one step leads here, and how many changes that step makes."""
    if not together:
        for at, level in enumerate(place):
            if level:
                yield (*place[:at], level - 1, *place[at + 1 :]), 1
        return
    for earlier in product(*(range(level + 1) for level in place)):
        if earlier != place:
            yield earlier, sum(a != b for a, b in zip(earlier, place, strict=True))


def _merged(lattice: Lattice, way: list[int]) -> list[int]:
    """The way without places where the same change only goes on."""
    kept = way[:1]
    for here, after in pairwise(way[1:]):
        if _moved(lattice, kept[-1], here) != _moved(lattice, here, after):
            kept.append(here)
    return [*kept, way[-1]]


def _moved(lattice: Lattice, start: int, end: int) -> tuple[bool, ...]:
    pairs = zip(lattice.places[start], lattice.places[end], strict=True)
    return tuple(a != b for a, b in pairs)


def _told(
    outcome: Outcome, lattice: Lattice, way: list[int], costs: StepCosts
) -> tuple[OrderedStep, ...]:
    """The steps with what each does, what follows from it, and how the row stands then."""
    space, classes = outcome.task.space, outcome.fitted.outlook.classes
    usual = _usual(outcome, lattice.full[way])
    steps, paid = [], set[str]()
    for turn, (start, end) in enumerate(pairwise(way), 1):
        done = {
            column
            for at, moved in zip(lattice.units, _moved(lattice, start, end), strict=True)
            for column in space.units[at].members
            if moved
        }
        moves, follows = list[StepMove](), list[StepMove]()
        for column in np.flatnonzero(lattice.full[start] != lattice.full[end]).tolist():
            move = _move(outcome, lattice, column, (start, end))
            (moves if column in done else follows).append(move)
        label = None if classes is None else classes[int(lattice.decision[end])]
        score, look = float(lattice.score[end]), float(usual[turn])
        shown = round(look, 6) if np.isfinite(look) else None
        takes = costs(tuple(moves), paid)
        steps.append(OrderedStep(tuple(moves), tuple(follows), score, label, shown, takes))
    return tuple(steps)


def _move(outcome: Outcome, lattice: Lattice, column: int, ends: tuple[int, int]) -> StepMove:
    kind, rows = outcome.task.space.ground.schema.columns[column], outcome.batch.rows
    first, last = (float(lattice.full[end, column]) for end in ends)
    before = rows.cell(0, column) if first == rows.codes[0, column] else kind.value(first)
    return StepMove(kind.name, before, kind.value(last))
