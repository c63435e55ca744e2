"""GLOBE-CE (Ley, Mishra, Magazzeni, 2023): directions that a population is moved in, each row as
far as it needs.

Directions are drawn at random over few columns: a number moves by a share of its range, a category
takes a value once the scale has passed a half. Every row is moved along each direction in steps and
flips at the first that suffices. The directions that flip the most rows are kept, greedily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from macex.baselines.covered import Covered, covered, greedy, population_of
from macex.cohort.population import Population, slabs
from macex.errors import require_count
from macex.schema import Array, special

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.explainer import Explainer

TURNED = 0.5  # the scale from which on a category is changed


def globe_ce(
    explainer: Explainer,
    rows: Any,
    *,
    want: Any = None,
    constraints: Any = None,
    actions: int = 5,
    max_changes: int = 2,
    directions: int = 200,
    scales: int = 20,
    random_state: int = 0,
) -> Covered:
    """At most `actions` directions, and the rows that flip along them."""
    for name, count in (("actions", actions), ("directions", directions), ("scales", scales)):
        require_count(name, count)
    require_count("max_changes", max_changes)
    population = population_of(explainer, rows, want, constraints)
    need = np.flatnonzero(~population.there)
    draw = np.random.default_rng(random_state)
    drawn = [_direction(population.space, max_changes, draw) for _ in range(directions)]
    drawn = [one for one in drawn if one]
    found = [_along(population, one, need, scales) for one in drawn]
    empty = [np.zeros((0, len(need)))]
    distance = np.concatenate([*empty, *(one[None] for one in found)])
    reached = np.isfinite(distance)
    texts = [_text(population.space, one) for one in drawn]
    return covered("GLOBE-CE", texts, reached, distance, greedy(reached, distance, actions))


def _direction(space: Space, most: int, draw: np.random.Generator) -> dict[int, float]:
    """Few units, each with the share of its range it moves at full scale, or the value it takes."""
    open_ = np.flatnonzero(space.changeable.any(axis=0))
    if not len(open_):
        return {}
    count = int(draw.integers(1, min(most, len(open_)) + 1))
    found = {}
    for place in np.sort(draw.choice(open_, count, replace=False)).tolist():
        unit = space.units[place]
        whole = unit.discrete or unit.high <= unit.low
        found[place] = float(draw.choice(unit.seen)) if whole else float(draw.uniform(-1, 1))
    return found


def _along(population: Population, direction: dict[int, float], need: Array, scales: int) -> Array:
    """The distance at which each row in need flips first, (n,); infinite where it never does."""
    space, steps = population.space, np.arange(1, scales + 1) / scales
    found = np.full(len(need) * scales, np.inf)
    for turn in slabs(len(found)):
        at, scale = need[turn // scales], steps[turn % scales]
        codes = _moved(space, direction, at, scale)
        sound = np.flatnonzero((codes != space.queries[at]).any(axis=1) & space.allows(codes, at))
        verdict = population.judge(codes[sound], at[sound])
        hit = sound[verdict.reached]
        found[turn[hit]] = population.distances(codes[hit], at[hit])
    table = found.reshape(len(need), scales)
    first = np.isfinite(table).argmax(axis=1)
    return table[np.arange(len(need)), first] if len(need) else np.zeros(0)


def _moved(space: Space, direction: dict[int, float], at: Array, scale: Array) -> Array:
    codes = space.queries[at].copy()
    for place, size in direction.items():
        unit, own = space.units[place], codes[:, place]
        if unit.discrete or unit.high <= unit.low:
            codes[:, place] = np.where(scale > TURNED, size, own)
            continue
        moved = space.snap(place, own + scale * size * (unit.high - unit.low))
        codes[:, place] = np.where(special(own), own, moved)
    return codes


def _text(space: Space, direction: dict[int, float]) -> str:
    parts = []
    for place, size in direction.items():
        unit = space.units[place]
        whole = unit.discrete or unit.high <= unit.low
        step = f"= {size:g}" if whole else f"{size * (unit.high - unit.low):+.3g}"
        parts.append(f"{unit.name} {step}")
    return ", ".join(parts)
