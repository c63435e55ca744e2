"""AReS (Rawal, Lakkaraju, 2020): rules "if these values, then those", frequent in the population.

Numbers are cut into bins. Values or pairs of values that are frequent among the rows in need are
conditions; a rule sets the same columns to other values. Of all rules the few are chosen that
flip the most rows, greedily. What is left out of the paper is its outer level of subgroups and the
weights between its objectives: coverage counts first, then distance.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.baselines.covered import Covered, covered, greedy, population_of
from macex.cohort.cover import ActionTrials, Entries
from macex.cohort.moves import Moves
from macex.errors import require_count
from macex.schema import Array

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.ask.units import Unit
    from macex.explainer import Explainer

MOST_RULES = 4000


class _Item(NamedTuple):
    """A value or bin of a unit, who has it, and the value that stands for it."""

    unit: int
    rows: Array  # (Q,) bool
    value: float
    text: str


def ares(
    explainer: Explainer,
    rows: Any,
    *,
    want: Any = None,
    constraints: Any = None,
    actions: int = 5,
    max_changes: int = 2,
    support: float = 0.05,
    bins: int = 10,
) -> Covered:
    """At most `actions` rules, and the rows they flip.

    A condition must hold for a share of `support` of the rows in need; numbers have `bins`.
    """
    require_count("actions", actions)
    require_count("max_changes", max_changes)
    require_count("bins", bins)
    population = population_of(explainer, rows, want, constraints)
    need = np.flatnonzero(~population.there)
    items = _items(population.space, bins)
    trials = ActionTrials(population, _moves(items))
    rules = _rules(items, ~population.there, support * len(need), max_changes)
    trials.score([then for _, then in rules], [_having(items, given) for given, _ in rules])
    texts = [f"if {_text(items, given)} then {_text(items, then)}" for given, then in rules]
    reached = np.array(trials.reached, bool).reshape(len(rules), len(population))[:, need]
    far = np.array(trials.distance).reshape(reached.shape[0], len(population))[:, need]
    return covered("AReS", texts, reached, far, greedy(reached, far, actions))


def _items(space: Space, bins: int) -> list[_Item]:
    found = []
    for place in np.flatnonzero(space.changeable.any(axis=0)).tolist():
        unit, own = space.units[place], space.queries[:, place]
        for low, high, middle in _parts(unit, bins):
            text = f"{unit.name} {low:g} to {high:g}" if high > low else f"{unit.name} = {low:g}"
            found.append(_Item(place, (own >= low) & (own <= high), middle, text))
    return found


def _parts(unit: Unit, bins: int) -> list[tuple[float, float, float]]:
    """The values of a unit, or bins of numbers: first, last, and the one in the middle."""
    if unit.discrete or len(unit.seen) <= bins:
        return [(value, value, value) for value in unit.seen.tolist()]
    share = np.cumsum(unit.counts) / unit.counts.sum()
    which = np.minimum((share * bins - 1e-9).astype(int), bins - 1)
    parts = [unit.seen[which == at] for at in np.unique(which)]
    return [(float(p[0]), float(p[-1]), float(p[len(p) // 2])) for p in parts]


def _moves(items: list[_Item]) -> Moves:
    unit, value = [item.unit for item in items], [item.value for item in items]
    count = len(items)
    return Moves(np.array(unit, int), np.array(value), np.full(count, np.nan), np.zeros(count, int))


def _rules(
    items: list[_Item], need: Array, least: float, max_changes: int
) -> list[tuple[Entries, Entries]]:
    """Conditions that enough rows meet, most frequent first, with what else might be set."""
    counts = [int((item.rows & need).sum()) for item in items]
    frequent = [at for at, count in enumerate(counts) if count >= max(1.0, least)]
    conditions: list[tuple[int, Entries]] = [(counts[at], (at,)) for at in frequent]
    if max_changes > 1:
        for pair in combinations(frequent, 2):
            both = int((_having(items, pair) & need).sum())
            if items[pair[0]].unit != items[pair[1]].unit and both >= max(1.0, least):
                conditions.append((both, pair))
    rules: list[tuple[Entries, Entries]] = []
    for _, given in sorted(conditions, key=lambda one: (-one[0], one[1])):
        others = [
            [at for at, item in enumerate(items) if item.unit == items[part].unit and at != part]
            for part in given
        ]
        rules += [(given, then) for then in product(*others)]
        if len(rules) >= MOST_RULES:
            break
    return rules[:MOST_RULES]


def _having(items: list[_Item], given: Entries) -> Array:
    has = items[given[0]].rows.copy()
    for at in given[1:]:
        has &= items[at].rows
    return has


def _text(items: list[_Item], entries: Entries) -> str:
    return " and ".join(items[at].text for at in entries)
