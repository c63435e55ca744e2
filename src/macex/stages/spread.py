"""The values that training rows show at large, for stage 1: all of them, or a spread of them.

What is offered is already within the constraints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.units import Unit
from macex.schema import MISSING, Array, special
from macex.stages.shapes import Candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.ask.space import Space
    from macex.stages.candidates import Domain


AT_ONCE = 50_000  # values compared with each other: more are compared unit by unit


def spread(choice: Domain, space: Space, wanted: Array) -> Candidates:
    """The values of the domain for the queries `wanted`, and numbers beside their own."""
    units = space.changeable.sum(axis=1)
    if space.plain and wanted.all() and len(counts := np.unique(units[units > 0])) == 1:
        found = _same_for_all(choice, space, int(counts[0]))
    else:
        found = _for_each(choice, space, wanted, units)
    if not choice.beside:
        return found
    return without_repeats(found, _beside(choice.beside, space, wanted))


def _for_each(choice: Domain, space: Space, wanted: Array, units: Array) -> Candidates:
    """The spread within what bounds each query; `units` (Q,) says how many it may change."""
    parts = []
    for place, unit in enumerate(space.units):
        open_ = space.changeable[:, place] & wanted
        if not open_.any():
            continue
        for values, whose in domains(space, unit):
            column = unit.members[0]
            low, high = space.bounds.floor[:, column], space.bounds.ceiling[:, column]
            ladder, new = _ladder(unit, values, choice.per_unit(unit, units), low, high)
            fits = new & admitted(space, place, ladder) & (open_ & whose)[:, None]
            parts.append(entries(place, ladder, fits, fits))
        ends = _ends(space, place, unit)
        if ends is not None:
            inside = open_[:, None] & admitted(space, place, ends) & ~np.isin(ends, unit.seen)
            parts.append(entries(place, ends, inside, inside))
    return concatenate(parts, len(space), exact=choice.whole)


def _beside(count: int, space: Space, wanted: Array) -> Candidates:
    """Seen numbers near the query's own, on either side of it: a small step may be enough."""
    units = space.units
    places = [at for at, unit in enumerate(units) if not unit.discrete and len(unit.seen)]
    if not places:
        return concatenate([], len(space), exact=False)
    steps, own = 2 ** np.arange(count), space.queries[:, places]
    below = [np.searchsorted(units[at].seen, own[:, k], "left") for k, at in enumerate(places)]
    above = [np.searchsorted(units[at].seen, own[:, k], "right") for k, at in enumerate(places)]
    index = np.concatenate(  # (Q, k, 2 steps)
        [np.stack(below, 1)[:, :, None] - steps, np.stack(above, 1)[:, :, None] + steps - 1], axis=2
    )
    sizes = np.array([len(units[at].seen) for at in places])
    inside = (index >= 0) & (index < sizes[:, None])
    where = np.clip(index, 0, sizes[:, None] - 1) + (np.cumsum(sizes) - sizes)[:, None]
    values = np.concatenate([units[at].seen for at in places]).take(where)
    inside &= (space.changeable[:, places] & wanted[:, None] & ~special(own))[:, :, None]
    if space.plain:
        inside &= (values != own[:, :, None]) & (values != MISSING)
    else:
        fits = [admitted(space, at, values[:, k]) for k, at in enumerate(places)]
        inside &= np.stack(fits, axis=1)
    real = inside.reshape(len(space), -1)
    unit = np.repeat(places, 2 * count)
    return Candidates(unit, values.reshape(real.shape), real, real)


def _same_for_all(choice: Domain, space: Space, count: int) -> Candidates:
    """The spread where nothing bounds it, of queries with `count` units to change: kept."""
    key = (choice, count)
    if key not in space.ground.spreads:
        space.ground.spreads[key] = _unbounded(choice, space.units, count)
    unit, value = space.ground.spreads[key]
    real = (value != space.queries[:, unit]) & space.changeable[:, unit]
    wide = np.broadcast_to(value, real.shape)
    return Candidates(unit, wide, real, real, choice.whole)


def _unbounded(choice: Domain, units: Sequence[Unit], count: int) -> tuple[Array, Array]:
    """Of every entry of an unbounded spread its unit and its value, (A,) each."""
    places, found = [], []
    free, one = np.array([np.inf]), np.array([count])
    for place, unit in enumerate(units):
        values, new = _ladder(unit, unit.seen, choice.per_unit(unit, one), -free, free)
        kept = values[new & (values != MISSING)]
        found.append(kept)
        places.append(np.full(len(kept), place))
    return np.concatenate(places), np.concatenate(found)


def domains(space: Space, unit: Unit) -> list[tuple[Array, Array]]:
    """The values of a unit, and whose they are: those seen, or those that `allowed` leaves."""
    every = np.ones(len(space), bool)
    if unit.joint:
        return [(unit.seen, every)]
    column, found = unit.members[0], [(unit.seen, every)]
    if column in space.bounds.menus:
        menu = space.bounds.menus[column]
        found = [(unit.seen, ~menu.bound), (menu.values, menu.bound)]
    blank = space.bounds.blank[:, column]
    return [*found, (np.array([MISSING]), blank)] if blank.any() else found


def _ladder(
    unit: Unit, values: Array, most: Array | None, floor: Array, ceiling: Array
) -> tuple[Array, Array]:
    """Values of a unit spread over what each query may set, (Q, v), and which are new."""
    if most is None or values is not unit.seen:
        wide = np.broadcast_to(values, (len(floor), len(values)))
        return wide, np.ones(wide.shape, bool)
    if unit.discrete and not unit.ordered:
        frequent = np.lexsort((unit.seen, -unit.counts))[: int(most.max(initial=0))]
        wide = np.broadcast_to(unit.seen[frequent], (len(floor), len(frequent)))
        return wide, np.arange(len(frequent)) < most[:, None]
    return _quantiles(unit, most, floor, ceiling)


def _quantiles(unit: Unit, most: Array, floor: Array, ceiling: Array) -> tuple[Array, Array]:
    """Evenly spread seen values between each query's floor and ceiling, (Q, width)."""
    first = np.searchsorted(unit.seen, floor, side="left")
    last = np.searchsorted(unit.seen, ceiling, side="right")
    below = np.concatenate([[0], np.cumsum(unit.counts)])
    low, high = below[first][:, None], below[last][:, None]
    step = np.arange(int(most.max(initial=0)))[None, :]
    share = np.minimum(step / np.maximum(most - 1, 1)[:, None], 1.0)
    index = np.searchsorted(below, low + share * (high - low - 1), side="right") - 1
    few = (last - first <= most)[:, None]
    index = np.where(few, first[:, None] + step, index)
    index = np.minimum(index, np.maximum(last - 1, first)[:, None])
    values = unit.seen[np.clip(index, 0, len(unit.seen) - 1)]
    new = np.ones(values.shape, bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    return values, new


def _ends(space: Space, place: int, unit: Unit) -> Array | None:
    """The ends of each query's own range, (Q, 2), on the grid: worth trying though never seen."""
    if unit.discrete:
        return None
    column = unit.members[0]
    low, high = space.bounds.floor[:, column], space.bounds.ceiling[:, column]
    inside = np.stack([low, high], axis=1)
    inside = (inside >= unit.low) & (inside <= unit.high)
    if not inside.any():
        return None
    floor = space.snap(place, np.where(inside[:, 0], low, unit.low))
    floor = np.where(floor < low, space.snap(place, floor + unit.step), floor)
    ceiling = space.snap(place, np.where(inside[:, 1], high, unit.high))
    ceiling = np.where(ceiling > high, space.snap(place, ceiling - unit.step), ceiling)
    ends = np.stack([floor, ceiling], axis=1)
    return np.where(inside, ends, space.queries[:, place, None])


def admitted(space: Space, place: int, values: Array) -> Array:
    """Whether each query may set values (Q, v) of its own in a unit."""
    at = np.broadcast_to(np.arange(len(space))[:, None], values.shape)
    return space.admits_one(at, place, values)


def entries(place: int, values: Array, real: Array, allowed: Array) -> Candidates:
    """The values (Q, v) of one unit as candidates."""
    return Candidates(np.full(values.shape[1], place), values, real, allowed)


def concatenate(parts: list[Candidates], queries: int, *, exact: bool) -> Candidates:
    """The entries of all parts."""
    if not parts:
        nothing = np.zeros((queries, 0), bool)
        return Candidates(np.zeros(0, int), np.zeros((queries, 0)), nothing, nothing, exact)
    return Candidates(
        np.concatenate([p.unit for p in parts]),
        np.concatenate([p.value for p in parts], axis=1),
        np.concatenate([p.real for p in parts], axis=1),
        np.concatenate([p.allowed for p in parts], axis=1),
        exact,
    )


def without_repeats(first: Candidates, then: Candidates) -> Candidates:
    """Both lists, a value of the second that is in the first left out."""
    if then.real.size * len(first.unit) <= AT_ONCE:
        same = (then.value[:, :, None] == first.value[:, None]) & first.real[:, None]
        repeated = (same & (then.unit[:, None] == first.unit)).any(axis=2)
        return first.join(replace(then, real=then.real & ~repeated))
    repeated = np.zeros(then.real.shape, bool)
    for place in np.unique(then.unit):
        mine = np.flatnonzero(then.unit == place)
        theirs = np.flatnonzero(first.unit == place)
        same = then.value[:, mine, None] == first.value[:, None, theirs]
        repeated[:, mine] = (same & first.real[:, None, theirs]).any(axis=2)
    return first.join(replace(then, real=then.real & ~repeated))
