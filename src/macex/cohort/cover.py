"""Choosing few actions that together flip many rows: greedy cover, then swaps.

An action is one move or several of different columns. All single moves are scored. Of the others
only the promising ones are: what a combination gains is estimated as the sum of what its parts
gain, on the scale of log odds, and those that should flip the most rows still open are scored.
Then the action that flips the most open rows is taken, and so on; at the end an action is swapped
for another as long as that flips more rows. A flip counts as much as the share of the action's
rows that are plausible afterwards. Last, an action is replaced by one of fewer moves as long as
that gives up no more rows than allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.cohort.moves import Moves
from macex.cohort.population import Population, slabs
from macex.schema import Array

PARENTS = 320  # actions that are extended by one more move
SCORED = 48  # extensions that are scored for each action that is taken
SWAPS = 20
PROMISING = 64  # actions whose plausibility is looked up to find the best
LOOKED_AT = 64  # rows of an action whose plausibility is looked up
PLAUSIBLE = 0.05
CLOSE = 1e-6

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
class ActionTrials:
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
    max_cost: float = float("inf")  # a row that is moved farther does not count as flipped
    worth: dict[int, float] = field(default_factory=dict)  # the plausible share, once known

    def __post_init__(self) -> None:
        self.value, self.lawful, self.idle = self.moves.targets(self.population.space)

    def score(self, actions: list[Entries], among: Sequence[Array] | None = None) -> None:
        """Score actions, in as few model calls as there are full chunks.

        `among` are the rows of each action, (Q,) bool; all that are not there already if not said.
        """
        open_ = ~self.population.there
        among = [open_] * len(actions) if among is None else among
        applies = [self.applies(e) & mine for e, mine in zip(actions, among, strict=True)]
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
            far = self.population.distances(codes, who)
            reached[which, who] = verdict.reached & (far <= self.max_cost)
            distance[which, who] = far
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

    def plausible(self, place: int) -> float:
        """The share of the rows an action flips that are plausible then, of some of them.

        A row that is not plausible counts if it was less so before.
        """
        if place not in self.worth:
            at = np.flatnonzero(self.reached[place])
            at = (
                at[np.unique(np.linspace(0, len(at) - 1, LOOKED_AT).astype(int))] if len(at) else at
            )
            codes = self._codes([self.actions[place]], at, np.zeros(len(at), int))
            after = self.population.usual(codes, at)
            fine = ~(after < PLAUSIBLE) | (after > self._before[at])
            self.worth[place] = float(fine.mean()) if len(at) else 1.0
        return self.worth[place]

    @cached_property
    def _before(self) -> Array:
        """How plausible the rows are as they are, (Q,)."""
        at = np.arange(len(self.population))
        return self.population.usual(self.population.space.queries, at)

    def _codes(self, actions: list[Entries], at: Array, which: Array) -> Array:
        codes = self.population.space.queries[at]
        for turn in np.unique(which):
            mine = np.flatnonzero(which == turn)
            for entry in actions[turn]:
                codes[mine, self.moves.unit[entry]] = self.value[at[mine], entry]
        return codes


def chosen_actions(
    trials: ActionTrials,
    most: int,
    max_changes: int,
    *,
    spare: int = 0,
    plausible: bool = True,
    least: int = 0,
) -> tuple[list[Entries], int]:
    """At most `most` actions, and how many of the `spare` rows are left.

    Spare rows may be given up for actions of fewer moves. Each action flips at least `least` rows.
    """
    singles: list[Entries] = [(entry,) for entry in range(len(trials.moves))]
    trials.score(singles)
    if not singles:
        return [], spare
    gain = np.stack(trials.progress, axis=1) - trials.population.base[:, None]  # (Q, A)
    gain = np.where(trials.idle, 0.0, np.where(trials.lawful, gain, -np.inf)).astype(np.float32)
    choice = _Choice(trials, plausible, least)
    chosen: list[int] = []
    for _ in range(most):
        covered = _union(trials, chosen)
        for size in range(2, max_changes + 1):
            trials.score(_promising(trials, gain, ~covered, size))
        best = choice.best(chosen)
        if best is None:
            break
        chosen.append(best)
    chosen = _swapped(choice, chosen)
    simple = _simplified(trials, chosen, spare, least)
    lost = int(_union(trials, chosen).sum() - _union(trials, simple).sum())
    return [trials.actions[place] for place in simple], spare - lost


@dataclass
class _Choice:
    """What actions are worth beside others: a row counts as its most plausible action does."""

    trials: ActionTrials
    plausible: bool
    least: int  # rows that an action flips

    def worth(self, place: int) -> float:
        return self.trials.plausible(place) if self.plausible else 1.0

    def held(self, chosen: list[int]) -> Array:
        """What each row counts with some actions, (Q,)."""
        held = np.zeros(len(self.trials.population))
        for place in chosen:
            np.maximum(held, self.worth(place) * self.trials.reached[place], out=held)
        return held

    def best(self, chosen: list[int]) -> int | None:
        """The action that adds the most; then fewest moves, then cheapest.

        Plausibility is looked up for those that could be the best, as far as `PROMISING` go.
        """
        held, trials = self.held(chosen), self.trials
        reached = np.stack(trials.reached)
        bound = np.where(reached.sum(axis=1) < self.least, 0.0, reached @ (1 - held))
        found: tuple[tuple[float, int, float, Entries], int] | None = None
        for place in np.argsort(-bound, kind="stable")[:PROMISING].tolist():
            if bound[place] <= 0 or (found is not None and bound[place] < -found[0][0]):
                break
            adds = round(float(np.maximum(self.worth(place) * reached[place] - held, 0).sum()), 6)
            entries = trials.actions[place]
            key = (-adds, len(entries), trials.cost[place], entries)
            if adds > 0 and (found is None or key < found[0]):
                found = key, place
        return None if found is None else found[1]


def _promising(trials: ActionTrials, gain: Array, open_: Array, size: int) -> list[Entries]:
    """Actions of `size` moves, not yet scored, that should flip the most open rows."""
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


def _parents(trials: ActionTrials, open_: Array, size: int) -> list[int]:
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


def _swapped(choice: _Choice, chosen: list[int]) -> list[int]:
    """Swap one action for another as long as more rows count."""
    for _ in range(SWAPS):
        now = choice.held(chosen).sum() + CLOSE
        better = None
        for turn in range(len(chosen)):
            rest = chosen[:turn] + chosen[turn + 1 :]
            best = choice.best(rest)
            if best is not None and choice.held([*rest, best]).sum() > now:
                better = [*rest, best]
                now = choice.held(better).sum() + CLOSE
        if better is None:
            break
        chosen = better
    return chosen


def _simplified(trials: ActionTrials, chosen: list[int], spare: int, least: int) -> list[int]:
    """Replace actions by others of fewer moves as long as at most `spare` rows are given up."""
    floor = _union(trials, chosen).sum() - spare
    sizes = np.array([len(entries) for entries in trials.actions])
    every = np.stack(trials.reached) if chosen else np.zeros((0, 0), bool)
    while True:
        found: tuple[int, int, list[int]] | None = None
        for turn, place in enumerate(chosen):
            rest = chosen[:turn] + chosen[turn + 1 :]
            covered = _union(trials, rest)
            fewer = np.flatnonzero((sizes < sizes[place]) & (every.sum(axis=1) >= least))
            if not len(fewer):
                continue
            total = covered.sum() + (every[fewer] & ~covered).sum(axis=1)
            best = min(fewer[total == total.max()].tolist(), key=lambda at: trials.cost[at])
            if total.max() >= floor and (found is None or total.max() > found[0]):
                found = int(total.max()), turn, [*chosen[:turn], best, *chosen[turn + 1 :]]
        if found is None:
            return chosen
        chosen = found[2]


def ordered(trials: ActionTrials) -> list[Entries]:
    """The actions that were scored, by what they add to those before; none that adds nothing."""
    covered = trials.population.there.copy()
    found: list[int] = []
    left = list(range(len(trials.actions)))
    while left:
        best = max(left, key=lambda at: ((trials.reached[at] & ~covered).sum(), -at))
        if not (trials.reached[best] & ~covered).any():
            break
        found.append(best)
        covered |= trials.reached[best]
        left.remove(best)
    return [trials.actions[place] for place in found]


def _union(trials: ActionTrials, chosen: list[int]) -> Array:
    covered = trials.population.there.copy()
    for place in chosen:
        covered |= trials.reached[place]
    return covered
