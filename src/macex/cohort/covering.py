"""Choosing few actions that together flip many rows: greedy cover, then swaps.

An action is one move or several of different columns. All single moves are scored. Of the others
only the promising ones are: what a combination gains is estimated as the sum of what its parts
gain, on the scale of log odds, and those that should flip the most rows still open are scored.
Then the action that flips the most open rows is taken, and so on; at the end an action is swapped
for another as long as that flips more rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.cohort.population import slabs
from macex.schema import Array

if TYPE_CHECKING:
    from macex.cohort.moves import Moves
    from macex.cohort.population import Population


PARENTS = 320  # actions that are extended by one more move
SCORED = 48  # extensions that are scored for each action that is taken
SWAPS = 20

Entries = tuple[int, ...]  # the moves of an action, in the order of their units


class Tally(NamedTuple):
    """What some actions do: rows by actions."""

    there: Array  # (Q,) bool: the goal is reached without an action
    reached: Array  # (Q, A) bool
    far: Array  # (Q, A)

    def taken(self) -> Array:
        """The nearest action that flips each row; -1 where none does, -2 where none is needed."""
        if not self.reached.shape[1]:
            return np.where(self.there, -2, -1)
        nearest = np.where(self.reached, self.far, np.inf).argmin(axis=1)
        return np.where(self.there, -2, np.where(self.reached.any(axis=1), nearest, -1))


@dataclass
class Trials:
    """What actions do to a population, as far as they were scored."""

    population: Population
    moves: Moves
    value: Array = field(init=False)  # (Q, A)
    lawful: Array = field(init=False)  # (Q, A) bool
    idle: Array = field(init=False)  # (Q, A) bool
    actions: list[Entries] = field(default_factory=list)
    progress: list[Array] = field(default_factory=list)  # each (Q,)
    reached: list[Array] = field(default_factory=list)  # each (Q,) bool
    distance: list[Array] = field(default_factory=list)  # each (Q,)
    cost: list[float] = field(default_factory=list)  # mean distance of the rows flipped

    def __post_init__(self) -> None:
        self.value, self.lawful, self.idle = self.moves.targets(self.population.space)

    def score(self, actions: list[Entries]) -> None:
        """Score actions on all rows, in as few model calls as there are full chunks."""
        open_ = ~self.population.there
        applies = [self.applies(entries) & open_ for entries in actions]
        turn = np.repeat(np.arange(len(actions)), [int(mask.sum()) for mask in applies])
        at = np.concatenate([*(np.flatnonzero(mask) for mask in applies), np.zeros(0, np.intp)])
        progress = np.full((len(actions), len(open_)), -np.inf)
        reached = np.zeros((len(actions), len(open_)), bool)
        distance = np.zeros((len(actions), len(open_)))
        for part in slabs(len(at)):
            who, which = at[part], turn[part]
            codes = self._codes(actions, who, which)
            verdict = self.population.judge(codes, who)
            progress[which, who] = verdict.progress
            reached[which, who] = verdict.reached
            distance[which, who] = self.population.distances(codes, who)
        self.actions += actions
        self.progress += list(progress)
        self.reached += list(reached)
        self.distance += list(distance)
        for hit, far in zip(reached, distance, strict=True):
            self.cost.append(float(far[hit].mean()) if hit.any() else float("inf"))

    def tally(self, chosen: list[Entries]) -> Tally:
        """What actions do that were scored."""
        places = [self.actions.index(entries) for entries in chosen]
        shape = (len(self.population), len(chosen))
        reached, far = np.zeros(shape, bool), np.zeros(shape)
        for turn, place in enumerate(places):
            reached[:, turn], far[:, turn] = self.reached[place], self.distance[place]
        return Tally(self.population.there, reached, far)

    def applies(self, entries: Entries) -> Array:
        """The rows an action changes and may change, (Q,) bool.

        A row that has one of the values already needs that part of the action no more.
        """
        part = list(entries)
        possible = (self.lawful[:, part] | self.idle[:, part]).all(axis=1)
        changes = self.lawful[:, part].sum(axis=1)
        most = self.population.space.bounds.max_changes
        result: Array = possible & (changes > 0) & (changes <= most)
        return result

    def _codes(self, actions: list[Entries], at: Array, which: Array) -> Array:
        codes = self.population.space.queries[at]
        for turn in np.unique(which):
            mine = np.flatnonzero(which == turn)
            for entry in actions[turn]:
                codes[mine, self.moves.unit[entry]] = self.value[at[mine], entry]
        return codes


def chosen_actions(trials: Trials, most: int, max_changes: int) -> list[Entries]:
    """At most so many actions, the one that flips the most rows first."""
    singles: list[Entries] = [(entry,) for entry in range(len(trials.moves))]
    trials.score(singles)
    if not singles:
        return []
    gain = np.stack(trials.progress, axis=1) - trials.population.base[:, None]  # (Q, A)
    gain = np.where(trials.idle, 0.0, np.where(trials.lawful, gain, -np.inf)).astype(np.float32)
    chosen: list[int] = []
    covered = trials.population.there.copy()
    for _ in range(most):
        for size in range(2, max_changes + 1):
            trials.score(_promising(trials, gain, ~covered, size))
        best = _best(trials, covered)
        if best is None:
            break
        chosen.append(best)
        covered |= trials.reached[best]
    return [trials.actions[place] for place in _ordered(trials, _swapped(trials, chosen))]


def _promising(trials: Trials, gain: Array, open_: Array, size: int) -> list[Entries]:
    """Actions of so many moves, not yet scored, that should flip the most open rows."""
    if not open_.any():
        return []
    parents = _parents(trials, open_, size - 1)
    known = set(trials.actions)
    gain, unit = gain[open_], trials.moves.unit
    base = trials.population.base[open_]
    found: dict[Entries, int] = {}
    for place in parents:
        entries = trials.actions[place]
        reach = trials.progress[place][open_].astype(np.float32)
        if size == 2:  # a row that has the value already can still make the other move
            reach = gain[:, entries[0]] + base.astype(np.float32)
        counts = (reach[:, None] + gain >= 0).sum(axis=0)
        counts[np.isin(unit, unit[list(entries)])] = 0
        for entry in np.argsort(-counts, kind="stable")[:SCORED].tolist():
            joined = tuple(sorted((*entries, entry)))
            if counts[entry] and joined not in known:
                found[joined] = int(counts[entry])
    return sorted(found, key=lambda joined: (-found[joined], joined))[:SCORED]


def _parents(trials: Trials, open_: Array, size: int) -> list[int]:
    """The actions of one size that bring open rows nearest to their goals."""
    mine = [place for place, entries in enumerate(trials.actions) if len(entries) == size]
    if len(mine) <= PARENTS:
        return mine
    promise = []
    for place in mine:
        gain = trials.progress[place][open_] - trials.population.base[open_]
        promise.append(float(np.where(np.isfinite(gain), np.maximum(gain, 0.0), 0.0).sum()))
    order = np.argsort(-np.array(promise), kind="stable")[:PARENTS]
    return [mine[place] for place in order]


def _best(trials: Trials, covered: Array) -> int | None:
    """The action that flips the most rows not covered; then fewest moves, then cheapest."""
    new = np.array([(reached & ~covered).sum() for reached in trials.reached])
    if not new.any():
        return None
    ties = np.flatnonzero(new == new.max()).tolist()
    return min(ties, key=lambda at: (len(trials.actions[at]), trials.cost[at], trials.actions[at]))


def _swapped(trials: Trials, chosen: list[int]) -> list[int]:
    """Swap one action for another as long as that flips more rows."""
    for _ in range(SWAPS):
        now = _union(trials, chosen).sum()
        better = None
        for turn in range(len(chosen)):
            rest = chosen[:turn] + chosen[turn + 1 :]
            covered = _union(trials, rest)
            best = _best(trials, covered)
            if best is not None and (covered | trials.reached[best]).sum() > now:
                better = [*rest, best]
                now = _union(trials, better).sum()
        if better is None:
            break
        chosen = better
    return chosen


def _ordered(trials: Trials, chosen: list[int]) -> list[int]:
    """The action that flips the most first, then what adds the most; none that adds nothing."""
    covered = trials.population.there.copy()
    ordered: list[int] = []
    left = list(chosen)
    while left:
        best = max(left, key=lambda at: ((trials.reached[at] & ~covered).sum(), -at))
        if not (trials.reached[best] & ~covered).any():
            break
        ordered.append(best)
        covered |= trials.reached[best]
        left.remove(best)
    return ordered


def _union(trials: Trials, chosen: list[int]) -> Array:
    covered = trials.population.there.copy()
    for place in chosen:
        covered |= trials.reached[place]
    return covered
